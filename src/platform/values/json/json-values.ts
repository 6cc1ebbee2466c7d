/** Whether a field of a JSON body is absent: null means the same (contract section 1). */
export function isAbsent<T>(value: T): value is T & (null | undefined) {
  return value === null || value === undefined;
}

/** Whether a parsed JSON value is an object with fields: no list, no null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Beyond 2^53 not every integer is a double. */
export const EXACT_INTEGER_MAX = 2 ** 53;

/**
 * Whether a number that `parseExactly` has read is the one that was sent, and stays an integer that can be counted on
 * (docs/adr/0050). What no double keeps, and 1e999, is Infinity by now, which JSON would write as null.
 */
export function isExactNumber(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Math.abs(value) <= EXACT_INTEGER_MAX);
}
