import type { Fault } from '../../platform/errors/fault';
import { FaultList } from '../../platform/errors/fault-list';
import {
  enumFault,
  invalidCharactersFault,
  itemPath,
  requiredFault,
  tooFewItemsFault,
  tooLongFault,
  tooManyItemsFault,
  typeFault,
} from '../../platform/errors/fault-words';
import { addUnknownFields } from '../../platform/errors/unknown-fields';
import { isAbsent, isObject } from '../../platform/values/json/json-values';
import { hasMoreCharacters, isStorable } from '../../platform/values/text/text-rules';
import { ANY_VALUE_WORDS, isVariableValue, storageFaults, VARIABLE_VALUE } from '../../variables/domain/value-type';
import type { VariableValue } from '../../variables/domain/variable';
import { positiveZero } from './decimal';

export const OPERATION_KINDS = ['set', 'inc', 'dec'] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

const TAKES_NUMBER = { set: false, inc: true, dec: true } as const satisfies Record<OperationKind, boolean>;
const REPLACES_VALUE = { set: true, inc: false, dec: false } as const satisfies Record<OperationKind, boolean>;

/** Operations that take a number, and change number variables only. */
type AdjustKind = { [Kind in OperationKind]: (typeof TAKES_NUMBER)[Kind] extends true ? Kind : never }[OperationKind];

/** The list of operations: contract section 8. The parser and the OpenAPI document both use it. */
export const OPS_SCHEMA = { minItems: 1, maxItems: 100 } as const;

/**
 * The fields of one operation; the parser and the OpenAPI document both use them. A path may be twice as long as that
 * of any variable, so that a typo is reported as `undeclared_variable`.
 */
export const OPERATION_SCHEMA = {
  path: { type: 'string', maxLength: 256 },
  op: { enum: OPERATION_KINDS },
  value: VARIABLE_VALUE,
} as const;
const OPERATION_FIELDS: ReadonlySet<string> = new Set(Object.keys(OPERATION_SCHEMA));

/** One entry of `ops`; its shape is right, its path may still be any text. */
export type Operation = SetOperation | AdjustOperation;

/** What an operation of a reaction does instead of leaving the limits of its variable (contract section 13). */
export const LIMIT_POLICIES = ['clamp'] as const;
export type LimitPolicy = (typeof LIMIT_POLICIES)[number];

interface OperationTarget {
  readonly path: string;
  /** Undefined: all operations of the mutation are refused. Mutations of clients never have it. */
  readonly onLimit?: LimitPolicy;
}

export interface SetOperation extends OperationTarget {
  readonly op: 'set';
  readonly value: VariableValue;
}

export interface AdjustOperation extends OperationTarget {
  readonly op: AdjustKind;
  readonly value: number;
}

/** Whether the operation takes a number, and changes number variables only. */
export function takesNumber(op: OperationKind): op is AdjustKind {
  return TAKES_NUMBER[op];
}

/** Whether the operation replaces the value, whatever it was, so that the last of several decides it. */
export function replacesValue(op: OperationKind): boolean {
  return REPLACES_VALUE[op];
}

/**
 * Reads the `ops` of a mutation (contract section 8), any JSON value. Faults: every one found, up to 1,000, at paths
 * such as `ops[3].value`. Codes: `required`, `type`, `too_few_items`, `too_many_items`, `too_long`, `enum`, `range`,
 * `too_large`, `invalid_characters`, `unknown_field`, `too_many_faults`. `suggested`: the fields that an answer may
 * suggest for an unknown one.
 *
 * A parser of its own, and not the compiled schema: mutations are a hot path, and the type of a value depends on the
 * operation. `test/integration/campaign-bodies.spec.ts` proves that both refuse the same bodies.
 */
export function parseOperations(
  ops: unknown,
  suggested = OPERATION_FIELDS,
): { readonly operations: readonly Operation[] } | { readonly faults: readonly Fault[] } {
  if (isAbsent(ops)) return { faults: [requiredFault('ops')] };
  if (!Array.isArray(ops)) return { faults: [typeFault('ops', 'a list')] };
  const faults = new FaultList();
  const { minItems, maxItems } = OPS_SCHEMA;
  if (ops.length < minItems) faults.push(tooFewItemsFault('ops', minItems));
  if (ops.length > maxItems) faults.push(tooManyItemsFault('ops', maxItems));
  const operations: Operation[] = [];
  ops.slice(0, maxItems).forEach((entry: unknown, index) => {
    const operation = parseOperation(entry, itemPath('ops', index), suggested, faults);
    if (operation !== undefined) operations.push(operation);
  });
  return faults.isEmpty ? { operations } : { faults: faults.all() };
}

/** Undefined only with a fault. */
function parseOperation(
  entry: unknown,
  at: string,
  suggested: ReadonlySet<string>,
  faults: FaultList,
): Operation | undefined {
  if (!isObject(entry)) {
    faults.push(typeFault(at, 'an object'));
    return undefined;
  }
  const path = checkPath(entry['path'], `${at}.path`, faults);
  const op = checkKind(entry['op'], `${at}.op`, faults);
  const value = checkValue(entry['value'], op, `${at}.value`, faults);
  addUnknownFields(entry, suggested, { path: at, whole: 'an operation' }, faults);
  if (path === undefined || op === undefined || value === undefined) return undefined;
  if (!takesNumber(op)) return { path, op, value };
  return typeof value === 'number' ? { path, op, value } : undefined;
}

function checkPath(value: unknown, at: string, faults: FaultList): string | undefined {
  if (isAbsent(value)) faults.push(requiredFault(at));
  else if (typeof value !== 'string') faults.push(typeFault(at, 'a string'));
  else {
    if (!isStorable(value)) faults.push(invalidCharactersFault(at));
    const { maxLength } = OPERATION_SCHEMA.path;
    if (hasMoreCharacters(value, maxLength)) faults.push(tooLongFault(at, maxLength));
    return value;
  }
  return undefined;
}

function checkKind(value: unknown, at: string, faults: FaultList): OperationKind | undefined {
  const kind = OPERATION_KINDS.find((each) => each === value);
  if (kind !== undefined) return kind;
  if (isAbsent(value)) faults.push(requiredFault(at));
  else faults.push(typeof value === 'string' ? enumFault(at, OPERATION_KINDS) : typeFault(at, 'a string'));
  return undefined;
}

function checkValue(
  value: unknown,
  op: OperationKind | undefined,
  at: string,
  faults: FaultList,
): VariableValue | undefined {
  if (isAbsent(value)) faults.push(requiredFault(at));
  else if (op !== undefined && takesNumber(op) && typeof value !== 'number') faults.push(typeFault(at, 'a number'));
  else if (!isVariableValue(value)) faults.push(typeFault(at, ANY_VALUE_WORDS));
  else {
    // JSON.parse reads 1e999 as Infinity, which is out of range.
    faults.push(...storageFaults(value, at));
    return typeof value === 'number' ? positiveZero(value) : value;
  }
  return undefined;
}
