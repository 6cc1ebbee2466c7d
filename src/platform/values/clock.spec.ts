import { ProcessTime } from './clock';

const HOUR_MS = 3_600_000;

describe('the time of a process', () => {
  const startMs = Date.now() - performance.now() + HOUR_MS;

  it('stands still while an estimate of a slow look is put right, and goes back when the clock was set', () => {
    const time = new ProcessTime();
    const look = ({ aheadMs, tookMs, shownAfterMs }: Record<'aheadMs' | 'tookMs' | 'shownAfterMs', number>): void => {
      const askedMs = performance.now() - tookMs;
      time.learn({ databaseMs: askedMs + shownAfterMs + aheadMs, askedMs, answeredMs: askedMs + tookMs });
    };
    // Shown at the end of four seconds, and taken for the time in the middle.
    look({ aheadMs: startMs, tookMs: 4_000, shownAfterMs: 4_000 });
    const early = time.nowMs();
    look({ aheadMs: startMs, tookMs: 2, shownAfterMs: 1 });
    expect(time.nowMs()).toBe(early);
    look({ aheadMs: startMs - 10_000, tookMs: 2, shownAfterMs: 1 });
    expect(Math.abs(time.nowMs() - performance.now() - startMs + 10_000)).toBeLessThan(1_000);
    look({ aheadMs: startMs, tookMs: 2, shownAfterMs: 1 });
    expect(Math.abs(time.nowMs() - performance.now() - startMs)).toBeLessThan(1_000);
  });
});
