import fc from 'fast-check';
import { ATTEMPTS_MAX, attemptDelayMs } from './retry-delay';

/** A job may wait so long after it is due. */
const POLL_MS = 1_000;

describe('the wait before another attempt', () => {
  it('grows, and is over for good after the fifth', () => {
    expect([1, 2, 3, 4, 5, 6].map((attempts) => attemptDelayMs(attempts, 0.5))).toEqual([
      ...[1_000, 3_000, 8_000, 18_000, undefined, undefined],
    ]);
  });

  it('leaves room for all attempts within a minute, whatever the dice say', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 4, maxLength: 4 }), (dice) => {
        const waits = dice.map((random, index) => attemptDelayMs(index + 1, random) ?? 0);
        const all = waits.reduce((sum, wait) => sum + wait + POLL_MS, 0);
        expect(waits).toHaveLength(ATTEMPTS_MAX - 1);
        expect(all).toBeLessThan(50_000);
      }),
    );
  });
});
