import fc from 'fast-check';
import { isInRange, NUMBER_MAX } from '../../variables/domain/value-type';
import { addDecimal, subtractDecimal } from './decimal';
import { cpuMsSince } from '../../../test/support/cpu-time';

/** The sum of two shortest decimal texts by whole numbers alone: [digits, count of decimals]. */
function textbookSum(a: number, b: number): [bigint, number] {
  const [digitsA, decimalsA] = scaled(a);
  const [digitsB, decimalsB] = scaled(b);
  const decimals = Math.max(decimalsA, decimalsB);
  const of = (digits: bigint, own: number): bigint => digits * 10n ** BigInt(decimals - own);
  return [of(digitsA, decimalsA) + of(digitsB, decimalsB), decimals];
}

function scaled(value: number): [bigint, number] {
  const [mantissa, exponent = '0'] = String(value).split('e');
  const [whole, fraction = ''] = mantissa!.split('.');
  const decimals = fraction.length - Number(exponent);
  const digits = BigInt(`${whole!}${fraction}`);
  return decimals < 0 ? [digits * 10n ** BigInt(-decimals), 0] : [digits, decimals];
}

function textbook(a: number, b: number): number | undefined {
  const [digits, decimals] = textbookSum(a, b);
  const limit = BigInt(NUMBER_MAX) * 10n ** BigInt(decimals);
  if (digits > limit || digits < -limit) return undefined;
  return Number(`${digits}e-${decimals}`) + 0;
}

const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
const keepable = fc.double({ noNaN: true, min: -NUMBER_MAX, max: NUMBER_MAX });
/** Amounts as people write them: up to 16 digits, up to 8 of them decimals. */
const amount = fc
  .tuple(fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n }), fc.nat(8))
  .map(([digits, decimals]) => Number(`${digits}e-${decimals}`));
const nearTheEdge = fc
  .tuple(fc.constantFrom(1, -1), fc.integer({ min: -8, max: 0 }))
  .map(([sign, below]) => sign * (NUMBER_MAX + below));
const anyNumber = fc.oneof(amount, keepable, finite, nearTheEdge, fc.integer({ min: -5, max: 5 }));

describe('decimal arithmetic', () => {
  it('adds 0.1 ten times to exactly 1, and takes it away again to exactly 0', () => {
    let sum = 0;
    for (let i = 0; i < 10; i += 1) sum = addDecimal(sum, 0.1)!;
    expect(sum).toBe(1);
    for (let i = 0; i < 10; i += 1) sum = subtractDecimal(sum, 0.1)!;
    expect(sum).toBe(0);
  });

  it.each<[number, number, number]>([
    [10.3, 10.33, 20.63],
    [0.1, 0.2, 0.3],
    [0.7, 0.1, 0.8],
    [1.005, 1.005, 2.01],
    [1e-7, 2e-7, 3e-7],
    [1e9 + 0.1, 0.2, 1e9 + 0.3],
    [4503599627370495.5, 0.5, 4503599627370496],
    [123456789012.34, 0.01, 123456789012.35],
    [5e-324, 5e-324, 1e-323],
  ])('adds %p and %p to %p', (a, b, sum) => {
    expect(addDecimal(a, b)).toBe(sum);
    expect(addDecimal(b, a)).toBe(sum);
    expect(subtractDecimal(sum, b)).toBe(a);
  });

  it('allows ±2^53 and nothing beyond, not even what would round to it', () => {
    expect(addDecimal(NUMBER_MAX - 1, 1)).toBe(NUMBER_MAX);
    expect(subtractDecimal(1 - NUMBER_MAX, 1)).toBe(-NUMBER_MAX);
    expect(addDecimal(NUMBER_MAX, 0)).toBe(NUMBER_MAX);
    expect(addDecimal(NUMBER_MAX, -1)).toBe(NUMBER_MAX - 1);
    for (const step of [0.1, 1, 2, 1e300]) {
      expect(addDecimal(NUMBER_MAX, step)).toBeUndefined();
      expect(subtractDecimal(-NUMBER_MAX, step)).toBeUndefined();
    }
    expect(addDecimal(1.7e308, 1.7e308)).toBeUndefined();
    expect(isInRange(NUMBER_MAX)).toBe(true);
    expect(isInRange(-NUMBER_MAX)).toBe(true);
    expect(isInRange(NUMBER_MAX + 2)).toBe(false);
  });

  it('has no result for what is no number', () => {
    for (const value of [NaN, Infinity, -Infinity]) {
      expect(isInRange(value)).toBe(false);
      expect(addDecimal(value, 1)).toBeUndefined();
      expect(addDecimal(1, value)).toBeUndefined();
      expect(subtractDecimal(value, value)).toBeUndefined();
    }
  });

  it('never tells -0', () => {
    for (const zero of [addDecimal(-0, -0), subtractDecimal(-0, 0), addDecimal(-1, 1)])
      expect(Object.is(zero, 0)).toBe(true);
    // Two neighbours whose texts are only 2e-324 apart, which is nearer to zero than to any other double.
    expect(Object.is(subtractDecimal(2.225073859090165e-308, 2.2250738590901652e-308), 0)).toBe(true);
  });

  it('tells the exact sum of the shortest decimal texts, rounded once, for any two numbers', () => {
    fc.assert(
      fc.property(anyNumber, anyNumber, (a, b) => {
        expect(addDecimal(a, b)).toBe(textbook(a, b));
        expect(subtractDecimal(a, b)).toBe(textbook(a, -b));
      }),
      { numRuns: 3_000 },
    );
  });

  it('adds numbers 616 digits apart thousands of times in a second', () => {
    const start = process.cpuUsage();
    for (let i = 0; i < 1_000; i += 1) {
      expect(addDecimal(1e308, 1e-308)).toBeUndefined();
      expect(addDecimal(1e15, 1e-308)).toBe(1e15);
    }
    expect(cpuMsSince(start)).toBeLessThan(2_000);
  });
});
