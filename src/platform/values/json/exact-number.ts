/** Beyond 2^53 not every integer is a double. */
export const EXACT_INTEGER_MAX = 2 ** 53;

/**
 * Whether a number that `parseExactly` has read is the one that was sent, and stays an integer that can be counted on
 * (docs/adr/0050). What no double keeps, and 1e999, is Infinity by now, which JSON would write as null.
 */
export function isExactNumber(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Math.abs(value) <= EXACT_INTEGER_MAX);
}
