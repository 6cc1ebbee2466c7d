import type { Fault } from '../../platform/errors/fault';
import { invalidCharactersFault, rangeFault, typeFault } from '../../platform/errors/fault-words';
import { EXACT_INTEGER_MAX } from '../../platform/values/json/json-values';
import { isStorable } from '../../platform/values/text/text-rules';
import type { VariableType, VariableValue } from './variable';

/** Strings of variables (contract section 8), in bytes of UTF-8. */
export const VALUE_BYTES_MAX = 4 * 1024;

/** Beyond it not every integer is a double: a counter would stop without an error (contract section 8). */
export const NUMBER_MAX = EXACT_INTEGER_MAX;

const RANGE_WORDS = 'a number from -2^53 to 2^53 that a double keeps exactly';

/** The JSON types that values have on the wire and in the database. Not every variable type has one of its own. */
const JSON_TYPES = ['number', 'string', 'boolean'] as const;
type JsonType = (typeof JSON_TYPES)[number];

/** How messages name a value of any JSON type that a variable can have. */
export const ANY_VALUE_WORDS = 'a number, a string, true or false';

/** A value of any type, in the OpenAPI document. */
export const VARIABLE_VALUE = { oneOf: JSON_TYPES.map((type) => ({ type })) };

interface ValueType {
  /** How messages name a value of the type, with the article. */
  readonly words: string;
  readonly json: JsonType;
  /** Whether a value of the JSON type is one of this type. */
  readonly includes: (value: unknown) => boolean;
  /** Whether `inc` and `dec` can change it. */
  readonly isNumeric: boolean;
  /** Any value of the type. Reactions are checked with it where only an event has the value. */
  readonly sample: VariableValue;
}

/** Everything that differs between the types of variables. */
export const VALUE_TYPES: Readonly<Record<VariableType, ValueType>> = {
  number: { words: 'a number', json: 'number', includes: Number.isFinite, isNumeric: true, sample: 0 },
  string: { words: 'a string', json: 'string', includes: () => true, isNumeric: false, sample: '' },
  boolean: { words: 'true or false', json: 'boolean', includes: () => true, isNumeric: false, sample: false },
};

/** Whether a JSON value is one of this type; a number has to be finite. */
export function isOfType(value: unknown, type: VariableType): value is VariableValue {
  const { json, includes } = VALUE_TYPES[type];
  return typeof value === json && includes(value);
}

/** Whether a variable may hold the number. */
export function isInRange(value: number): boolean {
  return Math.abs(value) <= NUMBER_MAX;
}

/** Whether a JSON value has a type that some variable can have. */
export function isVariableValue(value: unknown): value is VariableValue {
  return JSON_TYPES.some((json) => typeof value === json);
}

/**
 * Everything that keeps a JSON value from being stored as a value of this type (contract section 8). Fault codes:
 * `type`, `range`, `too_large`, `invalid_characters`.
 */
export function valueFaults(value: unknown, type: VariableType, path: string): Fault[] {
  const { json, words } = VALUE_TYPES[type];
  if (typeof value !== json || !isVariableValue(value)) return [typeFault(path, words)];
  const faults = storageFaults(value, path);
  return faults.length > 0 || isOfType(value, type) ? faults : [typeFault(path, words)];
}

/** The same for a value whose variable is not known yet. Fault codes: `range`, `too_large`, `invalid_characters`. */
export function storageFaults(value: VariableValue, path: string): Fault[] {
  if (typeof value === 'string') return textFaults(value, path);
  return typeof value === 'boolean' || isInRange(value) ? [] : [rangeFault(path, RANGE_WORDS)];
}

function textFaults(text: string, path: string): Fault[] {
  const faults = isStorable(text) ? [] : [invalidCharactersFault(path)];
  if (Buffer.byteLength(text) <= VALUE_BYTES_MAX) return faults;
  const message = `${path} takes more than ${VALUE_BYTES_MAX} bytes in UTF-8; shorten it.`;
  return [...faults, { path, code: 'too_large', message }];
}
