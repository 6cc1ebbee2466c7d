import { ClockSetBack, ProcessTime } from './clock';

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

describe('a clock that was set back', () => {
  const reading = (databaseMs: number, askedMs: number, tookMs = 2) => {
    return { databaseMs, askedMs, answeredMs: askedMs + tookMs };
  };

  it('is noticed, with the earliest time that it can have shown since', () => {
    const setBack = new ClockSetBack();
    const seen = [
      reading(100_000, 300),
      reading(100_300, 600),
      // Set back by 30 seconds, at any moment since the look before.
      reading(70_600, 900),
      reading(70_900, 1_200),
    ].map((each) => setBack.learn(each));
    expect(seen).toEqual([undefined, undefined, 70_600 - (902 - 600), undefined]);
  });

  it('is one that shows a second less than it must, however late answers are', () => {
    const setBack = new ClockSetBack();
    const seen = [
      // Shown at the beginning of three seconds, then at the end of three: the other way round is no less than was shown.
      reading(100_000, 0, 3_000),
      reading(106_000, 3_000, 3_000),
      reading(106_500, 6_000, 3_000),
      reading(105_400, 9_000, 0),
    ].map((each) => setBack.learn(each));
    expect(seen).toEqual([undefined, undefined, undefined, 105_400 - 3_000]);
  });

  it('is none that was set forward', () => {
    const setBack = new ClockSetBack();
    expect([reading(1_000, 0), reading(90_000, 300)].map((each) => setBack.learn(each))).toEqual([
      undefined,
      undefined,
    ]);
  });
});
