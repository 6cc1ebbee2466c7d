import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import { parseTimestamp } from '../../../platform/values/timestamp';
import { timestampFault } from '../../../platform/errors/fault-words';
import { capFaults } from '../../../platform/errors/cap-faults';
import type { Fault } from '../../../platform/errors/fault';
import { fieldPath, formatFault, requiredFault, typeFault } from '../../../platform/errors/fault-words';
import { maskContacts } from '../../../platform/privacy/contact-data';
import { enforcedSchema, LISTED_VALUES } from './event-type-schema';
import {
  DEFINITION_FAULTS_MAX,
  PROPERTY_FORMATS,
  type EventTypeDefinition,
  type PropertyDefinition,
  type PropertyType,
} from './event-type-definition';

export { checkDefinition } from './event-type-definition';
export type { EventTypeDefinition } from './event-type-definition';

/**
 * Tells every fault of an event's `properties`, at paths such as `properties.amount`; none: they fit the contract. A property
 * that `isLeftOut` names is not judged at all, be it there or not.
 */
export type ContractCheck = (properties: unknown, isLeftOut?: (name: string) => boolean) => readonly Fault[];

/** What a message calls a value of each type. */
const TYPE_WORDS: Readonly<Record<PropertyType, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  timestamp: 'a string with an ISO 8601 date-time',
  object: 'an object',
  array: 'a list',
};

/**
 * Makes the check of one version of an event type (contract section 4); a check costs microseconds, making one
 * milliseconds: one for ten properties, 30 for 300 that list 60 values each. Absent `properties` are checked like empty ones.
 *
 * Fault codes: `type`, `required`, `enum`, `format`, `missing_offset`, `unknown_property`, `too_many_faults`.
 */
export function compileContract(definition: EventTypeDefinition): ContractCheck {
  // An instance for each contract: a shared one would keep every schema that it has ever compiled.
  const ajv = new Ajv({
    allErrors: true,
    // Or every object would have a `constructor` property.
    ownProperties: true,
    strict: true,
    allowUnionTypes: true,
    meta: false,
    validateSchema: false,
    messages: false,
    // Optimised code takes half as long again to make, and runs no faster.
    code: { optimize: false },
  });
  ajv.addKeyword({ keyword: LISTED_VALUES, schemaType: 'array', errors: false, compile: memberOf });
  addFormats(ajv, { formats: [...PROPERTY_FORMATS] });
  ajv.addFormat('date-time', (text: string) => 'at' in parseTimestamp(text));
  const validate = ajv.compile(enforcedSchema(definition));
  return (properties, isLeftOut) => {
    const value = properties ?? {};
    return validate(value) ? [] : faultsOf(validate.errors ?? [], value, definition, isLeftOut);
  };
}

function memberOf(values: readonly unknown[]): (value: unknown) => boolean {
  const members = new Set(values);
  return (value) => members.has(value);
}

function faultsOf(
  errors: readonly ErrorObject[],
  value: unknown,
  definition: EventTypeDefinition,
  isLeftOut?: (name: string) => boolean,
): readonly Fault[] {
  const faults = new Map<string, Fault>();
  const unlisted = new Set<string>();
  for (const error of errors) {
    const name = faultyProperty(error);
    if (name === undefined) return [typeFault('properties', 'an object')];
    if (isLeftOut?.(name) === true) continue;
    // Of one property the first fault tells all: a value of another type is none of its values and has no format.
    if (faults.has(name)) continue;
    // A hostile event has ten thousands, and the words of those that are listed are enough.
    if (faults.size < DEFINITION_FAULTS_MAX)
      faults.set(name, faultOf(error, name, ownProperty(value, name), definition));
    else unlisted.add(name);
  }
  return capFaults([...faults.values()], DEFINITION_FAULTS_MAX, unlisted.size);
}

function faultyProperty({ keyword, params, instancePath }: ErrorObject): string | undefined {
  if (keyword === 'required') return String(params['missingProperty']);
  if (keyword === 'additionalProperties') return String(params['additionalProperty']);
  if (instancePath === '') return undefined;
  // A JSON pointer of one step.
  return instancePath.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
}

function faultOf({ keyword }: ErrorObject, name: string, value: unknown, definition: EventTypeDefinition): Fault {
  if (keyword === 'additionalProperties') return unknownPropertyFault(name);
  const path = fieldPath('properties', name);
  const property = ownProperty(definition.properties, name) as PropertyDefinition | undefined;
  if (property === undefined || keyword === 'required' || value === null) return requiredFault(path);
  if (keyword === LISTED_VALUES) {
    const message = `${path} is none of the ${property.enum?.length ?? 0} values that the event type lists for it.`;
    return { path, code: 'enum', message };
  }
  if (keyword !== 'format') return typeFault(path, TYPE_WORDS[property.type]);
  const isTime = property.type === 'timestamp' || property.format === 'date-time';
  const time = isTime && typeof value === 'string' ? parseTimestamp(value) : undefined;
  if (time !== undefined && 'code' in time) return timestampFault(time.code, path);
  return formatFault(path, `does not have the format ${property.format ?? ''}`);
}

function unknownPropertyFault(name: string): Fault {
  // An undeclared name is the sender's own text, and some senders use addresses for keys.
  const path = fieldPath('properties', maskContacts(name));
  const message = `${path} is not declared by the event type; remove it, or register a version that declares it.`;
  return { path, code: 'unknown_property', message };
}

function ownProperty(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null
    ? Object.getOwnPropertyDescriptor(object, name)?.value
    : undefined;
}
