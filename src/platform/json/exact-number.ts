/**
 * Whether a number is still the one that was sent (docs/adr/0011). 1e999 has become Infinity, which JSON would write as null; a
 * 20-digit id has lost its last digits already, and 2^53 may have been 2^53 + 1.
 */
export function isExactNumber(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}
