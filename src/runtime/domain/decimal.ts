import Big from 'big.js';
import { NUMBER_MAX } from '../../variables/domain/value-type';

/** Six decimals, so that money below a milliard takes the quick way. */
const QUICK_SCALE = 1e6;
const QUICK_SCALED_MAX = 1e15;

/**
 * The sum of two numbers as people write them: of their shortest decimal texts, exactly, then rounded once to a JSON
 * number (0.1 + 0.2 is 0.3). Undefined where the sum, before it is rounded, is no number or lies beyond `NUMBER_MAX`.
 */
export function addDecimal(a: number, b: number): number | undefined {
  return addQuickly(a, b) ?? addExactly(a, b);
}

/** As `addDecimal`. */
export function subtractDecimal(a: number, b: number): number | undefined {
  return addDecimal(a, -b);
}

/**
 * The same sum some 50 times as fast for amounts that are short enough; undefined for others. It is exact: decimals of at
 * most 15 digits are each a double of their own, so a text is the shortest one of the double that it gives; the sum of the
 * scaled integers is exact below 2^53; and a division rounds once.
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

/** Any two numbers. Exported for the proof that the quick way tells the same. */
export function addExactly(a: number, b: number): number | undefined {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return undefined;
  const exact = new Big(a).plus(b);
  const rounded = positiveZero(Number(exact.toString()));
  // A sum beyond the limit may round back to it, which is why the exact one is asked there.
  return Math.abs(rounded) < NUMBER_MAX || exact.abs().lte(NUMBER_MAX) ? rounded : undefined;
}

/** JSON has a -0, which most readers lose. */
export function positiveZero(value: number): number {
  return value + 0;
}
