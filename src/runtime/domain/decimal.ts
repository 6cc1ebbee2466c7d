import Big from 'big.js';
import { NUMBER_MAX } from '../../variables/domain/value-type';

/**
 * The sum of two numbers in decimal arithmetic: exact for their shortest decimal texts, then rounded once to a JSON
 * number (0.1 + 0.2 is 0.3). Undefined when the exact sum is not finite or beyond `NUMBER_MAX`.
 */
export function addDecimal(a: number, b: number): number | undefined {
  if (!Number.isFinite(a) || !Number.isFinite(b)) return undefined;
  const exact = new Big(a).plus(b);
  const rounded = positiveZero(Number(exact.toString()));
  // A sum beyond the limit may round to the limit, so there the exact sum decides.
  return Math.abs(rounded) < NUMBER_MAX || exact.abs().lte(NUMBER_MAX) ? rounded : undefined;
}

/** As `addDecimal`. */
export function subtractDecimal(a: number, b: number): number | undefined {
  return addDecimal(a, -b);
}

/** Turns -0, which most JSON readers lose, into 0. */
export function positiveZero(value: number): number {
  return value + 0;
}
