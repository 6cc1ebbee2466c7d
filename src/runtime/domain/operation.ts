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
import { isAbsent } from '../../platform/values/json/is-absent';
import { isObject } from '../../platform/values/json/is-object';
import { hasMoreCharacters } from '../../platform/values/text/character-count';
import { isStorable } from '../../platform/values/text/storable-text';
import { valueFaults } from '../../variables/domain/value-type';
import type { VariableValue } from '../../variables/domain/variable';
import { positiveZero } from './decimal';

/** Contract section 8. */
export const OPERATIONS_MAX = 100;
/** Twice what a declared variable's path can have, so that a typo is still told as one. */
export const PATH_CHARACTERS_MAX = 256;
export const OPERATION_KINDS = ['set', 'inc', 'dec'] as const;
export const OPERATION_FIELDS: ReadonlySet<string> = new Set(['path', 'op', 'value']);

/** One entry of `ops`; its shape is right, its path may still be any text. */
export type Operation = SetOperation | AdjustOperation;

export interface SetOperation {
  readonly path: string;
  readonly op: 'set';
  readonly value: VariableValue;
}

export interface AdjustOperation {
  readonly path: string;
  readonly op: 'inc' | 'dec';
  readonly value: number;
}

/**
 * Reads the `ops` of a mutation (contract section 8), any JSON value. Faults: every one found, up to 1,000, at paths such as
 * `ops[3].value`. Codes: `required`, `type`, `too_few_items`, `too_many_items`, `too_long`, `enum`, `range`, `too_large`,
 * `invalid_characters`, `unknown_field`, `too_many_faults`. `known`: the fields that an entry may be told to have.
 */
export function parseOperations(
  ops: unknown,
  known = OPERATION_FIELDS,
): { readonly operations: readonly Operation[] } | { readonly faults: readonly Fault[] } {
  if (isAbsent(ops)) return { faults: [requiredFault('ops')] };
  if (!Array.isArray(ops)) return { faults: [typeFault('ops', 'a list')] };
  const faults = new FaultList();
  if (ops.length === 0) faults.push(tooFewItemsFault('ops', 1));
  if (ops.length > OPERATIONS_MAX) faults.push(tooManyItemsFault('ops', OPERATIONS_MAX));
  const operations: Operation[] = [];
  ops.slice(0, OPERATIONS_MAX).forEach((entry: unknown, index) => {
    const operation = parseOperation(entry, itemPath('ops', index), known, faults);
    if (operation !== undefined) operations.push(operation);
  });
  return faults.isEmpty ? { operations } : { faults: faults.all() };
}

/** Undefined only where it has found a fault. */
function parseOperation(
  entry: unknown,
  at: string,
  known: ReadonlySet<string>,
  faults: FaultList,
): Operation | undefined {
  if (!isObject(entry)) {
    faults.push(typeFault(at, 'an object'));
    return undefined;
  }
  const path = checkPath(entry['path'], `${at}.path`, faults);
  const op = checkKind(entry['op'], `${at}.op`, faults);
  const value = checkValue(entry['value'], op, `${at}.value`, faults);
  addUnknownFields(entry, known, { path: at, whole: 'an operation' }, faults);
  if (path === undefined || op === undefined || value === undefined) return undefined;
  if (op === 'set') return { path, op, value };
  return typeof value === 'number' ? { path, op, value } : undefined;
}

function checkPath(value: unknown, at: string, faults: FaultList): string | undefined {
  if (isAbsent(value)) faults.push(requiredFault(at));
  else if (typeof value !== 'string') faults.push(typeFault(at, 'a string'));
  else {
    if (!isStorable(value)) faults.push(invalidCharactersFault(at));
    if (hasMoreCharacters(value, PATH_CHARACTERS_MAX)) faults.push(tooLongFault(at, PATH_CHARACTERS_MAX));
    return value;
  }
  return undefined;
}

function checkKind(value: unknown, at: string, faults: FaultList): Operation['op'] | undefined {
  const kind = OPERATION_KINDS.find((each) => each === value);
  if (kind !== undefined) return kind;
  if (isAbsent(value)) faults.push(requiredFault(at));
  else faults.push(typeof value === 'string' ? enumFault(at, OPERATION_KINDS) : typeFault(at, 'a string'));
  return undefined;
}

function checkValue(
  value: unknown,
  op: Operation['op'] | undefined,
  at: string,
  faults: FaultList,
): VariableValue | undefined {
  if (isAbsent(value)) faults.push(requiredFault(at));
  else if (op !== 'set' && op !== undefined && typeof value !== 'number') faults.push(typeFault(at, 'a number'));
  else if (typeof value === 'number') {
    // 1e999 has become Infinity on its way.
    faults.push(...valueFaults(value, 'number', at));
    return positiveZero(value);
  } else if (typeof value === 'string') {
    faults.push(...valueFaults(value, 'string', at));
    return value;
  } else if (typeof value === 'boolean') return value;
  else faults.push(typeFault(at, 'a number, a string, true or false'));
  return undefined;
}
