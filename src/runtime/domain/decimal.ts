import Big from 'big.js';
import { NUMBER_MAX } from '../../variables/domain/value-type';

/** Six decimals, so that amounts of money below a billion take the quick way. */
const QUICK_SCALE = 1e6;
const QUICK_SCALED_MAX = 1e15;

/**
 * The sum of two numbers in decimal arithmetic: exact for their shortest decimal texts, then rounded once to a JSON
 * number (0.1 + 0.2 is 0.3). Undefined when the exact sum is not finite or beyond `NUMBER_MAX`.
 */
export function addDecimal(a: number, b: number): number | undefined {
  return addQuickly(a, b) ?? addExactly(a, b);
}

/** As `addDecimal`. */
export function subtractDecimal(a: number, b: number): number | undefined {
  return addDecimal(a, -b);
}

/**
 * The same sum some 50 times as fast for amounts that are short enough; undefined for others. It is exact: decimals of
 * at most 15 digits are each a double of their own, so a text is the shortest one of the double that it gives; the sum
 * of the scaled integers is exact below 2^53; and a division rounds once.
 */
function addQuickly(a: number, b: number): number | undefined {
  const scaledA = Math.round(a * QUICK_SCALE);
  const scaledB = Math.round(b * QUICK_SCALE);
  if (!isQuick(a, scaledA) || !isQuick(b, scaledB)) return undefined;
  return positiveZero((scaledA + scaledB) / QUICK_SCALE);
}

function isQuick(value: number, scaled: number): boolean {
  return Math.abs(scaled) < QUICK_SCALED_MAX && scaled / QUICK_SCALE === value;
}

/** Any two numbers. Exported for the test that the quick way has the same results. */
export function addExactly(a: number, b: number): number | undefined {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return undefined;
  const exact = new Big(a).plus(b);
  const rounded = positiveZero(Number(exact.toString()));
  // A sum beyond the limit may round to the limit, so there the exact sum decides.
  return Math.abs(rounded) < NUMBER_MAX || exact.abs().lte(NUMBER_MAX) ? rounded : undefined;
}

/** Turns -0, which most JSON readers lose, into 0. */
export function positiveZero(value: number): number {
  return value + 0;
}
