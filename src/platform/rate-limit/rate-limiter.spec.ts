import fc from 'fast-check';
import { quotaStateOf, fullAfterSpending, type Quota } from './rate-limiter';

const TEN_A_SECOND: Quota = { quota: 10, windowSeconds: 1 };

/** A spender who asks at these moments for so many units, and is let in or not, as the limiter does it. */
function admitted(quota: Quota, requests: readonly { readonly atMs: number; readonly cost: number }[]): boolean[] {
  let fullAt = 0;
  return requests.map(({ atMs, cost }) => {
    if (quotaStateOf(quota, fullAt, atMs).remaining === 0) return false;
    fullAt = fullAfterSpending(quota, fullAt, atMs, cost);
    return true;
  });
}

describe('a bucket', () => {
  it('gives its whole quota at once, and then one unit each time one has come back', () => {
    const burst = Array.from({ length: 12 }, () => ({ atMs: 0, cost: 1 }));
    expect(admitted(TEN_A_SECOND, burst).filter(Boolean)).toHaveLength(10);
    const later = [99, 100, 101, 199, 200].map((atMs) => ({ atMs, cost: 1 }));
    expect(admitted(TEN_A_SECOND, [...burst, ...later]).slice(12)).toEqual([false, true, false, false, true]);
  });

  it('says when the next unit and when all units are there', () => {
    let fullAt = 0;
    for (let spent = 0; spent < 10; spent += 1) fullAt = fullAfterSpending(TEN_A_SECOND, fullAt, 0, 1);
    expect(quotaStateOf(TEN_A_SECOND, fullAt, 0)).toEqual({ remaining: 0, retryAfterMs: 100, resetMs: 1000 });
    expect(quotaStateOf(TEN_A_SECOND, fullAt, 350)).toEqual({ remaining: 3, retryAfterMs: 0, resetMs: 650 });
    expect(quotaStateOf(TEN_A_SECOND, fullAt, 5_000)).toEqual({ remaining: 10, retryAfterMs: 0, resetMs: 0 });
  });

  it('lets a batch larger than the quota in, and makes its sender wait for all of it', () => {
    const requests = [
      { atMs: 0, cost: 50 },
      { atMs: 4_000, cost: 1 },
      { atMs: 4_099, cost: 1 },
      { atMs: 4_100, cost: 1 },
    ];
    expect(admitted(TEN_A_SECOND, requests)).toEqual([true, false, false, true]);
  });

  it('never lets more through than the quota and what has come back, nor less', () => {
    const moments = fc.array(fc.nat(400), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), moments, (quota, pauses) => {
        let atMs = 0;
        const requests = pauses.map((pause) => ({ atMs: (atMs += pause), cost: 1 }));
        const letIn = admitted({ quota, windowSeconds: 1 }, requests).filter(Boolean).length;
        const most = Math.floor(quota + (atMs * quota) / 1000 + 1e-6);
        expect(letIn).toBeLessThanOrEqual(most);
        // A refusal leaves nothing unspent that was there at that moment.
        expect(letIn).toBeGreaterThanOrEqual(Math.min(requests.length, quota));
      }),
    );
  });
});
