import { type ArgumentMetadata, type Type, type ValidationError, ValidationPipe } from '@nestjs/common';

import type { Fault } from '../errors/fault';
import type { FaultCode } from '../errors/fault-codes';
import * as words from '../errors/fault-words';
import { validationFailed } from '../errors/validation-failed';
import { isStorable } from '../values/text/text-rules';

const CODE_OF_RULE: Readonly<Record<string, FaultCode>> = {
  isDefined: 'required',
  isNotEmpty: 'empty',
  isString: 'type',
  isInt: 'type',
  isNumber: 'type',
  isNumberString: 'type',
  isBoolean: 'type',
  isBooleanString: 'type',
  isObject: 'type',
  isArray: 'type',
  nestedValidation: 'type',
  isIn: 'enum',
  isEnum: 'enum',
  min: 'range',
  max: 'range',
  isPositive: 'range',
  minLength: 'too_short',
  maxLength: 'too_long',
  arrayMaxSize: 'too_many_items',
  arrayMinSize: 'too_few_items',
  arrayNotEmpty: 'too_few_items',
};
const GIVEN_ONCE = 'given once, as text';
const TYPE_WORDS: Readonly<Record<string, string>> = {
  isString: GIVEN_ONCE,
  isInt: 'a whole number',
  isNumber: 'a number',
  isNumberString: 'a number',
  isBoolean: 'true or false',
  isBooleanString: 'true or false',
};

/**
 * Checks a query against its class; see `CheckedQuery`, and `JsonBody` for bodies. Text stays text unless the class has
 * `@Type` or `@Transform`. An unknown parameter is refused, so that a misspelt filter does not answer with everything.
 */
export function queryValidation(): ValidationPipe {
  return new QueryPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    transformOptions: { enableImplicitConversion: false },
    // Values are needed to distinguish absent from wrong parameters. They do not leave this file.
    validationError: { target: false, value: true },
    exceptionFactory: (errors) => validationFailed(faultsOfValidation(errors, '')),
  });
}

/** Refuses names that class-transformer ignores, and text that PostgreSQL cannot store. */
class QueryPipe extends ValidationPipe {
  /** Classes without a required parameter. Most requests of participants have no query, and need no check. */
  private readonly mayBeEmpty = new Set<Type>();

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (typeof value === 'object' && value !== null) refuseOddParameters(value);
    const { metatype } = metadata;
    const isEmpty = metatype !== undefined && Object.keys(value ?? {}).length === 0;
    if (isEmpty && this.mayBeEmpty.has(metatype)) return new metatype();
    const query: unknown = await super.transform(value, metadata);
    if (isEmpty) this.mayBeEmpty.add(metatype);
    return query;
  }
}

function refuseOddParameters(query: object): void {
  const details = Object.entries(query).flatMap(([name, value]: [string, unknown]) => {
    const path = words.fieldPath('', name);
    if (name in Object.prototype) return [words.unknownFieldFault(path, 'this query')];
    return typeof value === 'string' && !isStorable(value) ? [words.invalidCharactersFault(path)] : [];
  });
  if (details.length > 0) throw validationFailed(details);
}

/** Converts errors of class-validator, also nested ones, to the faults that a body would have. */
export function faultsOfValidation(errors: readonly ValidationError[], parent: string): Fault[] {
  return errors.flatMap((error) => {
    const isIndex = /^\d+$/.test(error.property);
    const path = isIndex ? words.itemPath(parent, Number(error.property)) : words.fieldPath(parent, error.property);
    const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => faultOf(rule, message, path, error));
    return [...withoutConsequences(own), ...faultsOfValidation(error.children ?? [], path)];
  });
}

/** A missing or mistyped value breaks all other rules too; only the first fault is reported. */
function withoutConsequences(faults: readonly Fault[]): readonly Fault[] {
  const root = ['unknown_field', 'required', 'type'].flatMap(
    (code) => faults.find((fault) => fault.code === code) ?? [],
  );
  return root.length > 0 ? root.slice(0, 1) : faults;
}

function faultOf(rule: string, message: string, path: string, { value }: ValidationError): Fault {
  if (rule === 'whitelistValidation') return words.unknownFieldFault(path, 'this query');
  if (value === undefined) return words.requiredFault(path);
  // A parameter that is given twice is a list, whatever its rule says of each value.
  if (Array.isArray(value)) return words.typeFault(path, GIVEN_ONCE);
  const code = CODE_OF_RULE[rule] ?? 'format';
  if (code === 'empty') return words.emptyFault(path);
  const expected = TYPE_WORDS[rule];
  if (expected !== undefined) return words.typeFault(path, expected);
  // Messages of class-validator begin with the property's name and never quote its value.
  const said = message.endsWith('.') ? message : `${message}.`;
  return { path, code, message: said };
}
