import type { Fault } from '../../platform/errors/fault';
import { invalidCharactersFault, rangeFault, typeFault } from '../../platform/errors/fault-words';
import { EXACT_INTEGER_MAX } from '../../platform/values/json/exact-number';
import { isStorable } from '../../platform/values/text/storable-text';
import type { VariableType, VariableValue } from './variable';

/** Strings of variables (contract section 8), in bytes of UTF-8. */
export const VALUE_BYTES_MAX = 4 * 1024;

/** Beyond it not every integer is a double, so that a counter would stop counting without a word (contract section 8). */
export const NUMBER_MAX = EXACT_INTEGER_MAX;

const TYPE_WORDS: Readonly<Record<VariableType, string>> = {
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
};
const RANGE_WORDS = 'a number from -2^53 to 2^53 that a double keeps exactly';

/** Whether a JSON value is one of this type; a number has to be finite. */
export function isOfType(value: unknown, type: VariableType): value is VariableValue {
  return type === 'number' ? Number.isFinite(value) : typeof value === type;
}

/** Whether a variable may hold the number. */
export function isKeepable(value: number): boolean {
  return Math.abs(value) <= NUMBER_MAX;
}

/**
 * Tells everything that keeps a sent JSON value from being stored as a value of this type (contract section 8). Fault codes:
 * `type`, `range`, `too_large`, `invalid_characters`.
 */
export function valueFaults(value: unknown, type: VariableType, path: string): Fault[] {
  if (typeof value === 'number' && type === 'number') return isKeepable(value) ? [] : [rangeFault(path, RANGE_WORDS)];
  if (!isOfType(value, type)) return [typeFault(path, TYPE_WORDS[type])];
  return typeof value === 'string' ? textFaults(value, path) : [];
}

function textFaults(text: string, path: string): Fault[] {
  const faults = isStorable(text) ? [] : [invalidCharactersFault(path)];
  if (Buffer.byteLength(text) <= VALUE_BYTES_MAX) return faults;
  const message = `${path} takes more than ${VALUE_BYTES_MAX} bytes in UTF-8; shorten it.`;
  return [...faults, { path, code: 'too_large', message }];
}
