import fc from 'fast-check';
import { DatabaseTime } from './database-time';

const EPOCH_MS = 1_800_000_000_000;
/** A look of which the answer took some milliseconds, at a database whose clock was `aheadMs` ahead of the monotonic one. */
const aLook = (askedMs: number, { tookMs = 2, shownAfterMs = 1, aheadMs = EPOCH_MS } = {}) => ({
  databaseMs: askedMs + shownAfterMs + aheadMs,
  askedMs,
  answeredMs: askedMs + tookMs,
});

describe('the time of the database', () => {
  it('is unknown before the first look', () => {
    expect(new DatabaseTime().at(1)).toBeUndefined();
  });

  it('is exact to half of the fastest answer, whatever the others took', () => {
    const looks = fc.array(
      fc.record({
        tookMs: fc.double({ min: 0, max: 2_000, noNaN: true }),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      { minLength: 1, maxLength: 50 },
    );
    fc.assert(
      fc.property(looks, (answers) => {
        const time = new DatabaseTime();
        let atMs = 0;
        for (const { tookMs, share } of answers) {
          time.learn(aLook(atMs, { tookMs, shownAfterMs: tookMs * share }));
          atMs += tookMs + 300;
        }
        const fastestMs = Math.min(...answers.map(({ tookMs }) => tookMs));
        const driftMs = atMs * 0.0005;
        expect(Math.abs((time.at(atMs) ?? 0) - atMs - EPOCH_MS)).toBeLessThanOrEqual(fastestMs / 2 + driftMs + 0.01);
      }),
    );
  });

  it.each([3_600_000, -3_600_000, 60, -60])('follows a clock that was set by %d ms with the next look', (byMs) => {
    const time = new DatabaseTime();
    time.learn(aLook(0));
    time.learn(aLook(300, { aheadMs: EPOCH_MS + byMs }));
    expect(Math.abs((time.at(400) ?? 0) - 400 - EPOCH_MS - byMs)).toBeLessThanOrEqual(1);
  });

  it('follows a clock that gains on the monotonic one', () => {
    const time = new DatabaseTime();
    for (let look = 0; look < 1_000; look += 1) time.learn(aLook(look * 300, { aheadMs: EPOCH_MS + look * 0.03 }));
    expect(Math.abs((time.at(300_000) ?? 0) - 300_000 - EPOCH_MS - 30)).toBeLessThanOrEqual(1.1);
  });

  it('tells a clock that was set from an estimate that is put right', () => {
    const time = new DatabaseTime();
    expect(time.learn(aLook(0, { tookMs: 4_000, shownAfterMs: 3_900 }))).toBe(true);
    expect(time.learn(aLook(4_300))).toBe(false);
    expect(time.learn(aLook(4_600, { aheadMs: EPOCH_MS - 60 }))).toBe(true);
  });

  it('moves no further than a late answer proves when a clock was set', () => {
    const time = new DatabaseTime();
    time.learn(aLook(0));
    time.learn(aLook(300, { tookMs: 4_000, shownAfterMs: 0, aheadMs: EPOCH_MS - 10 }));
    expect(Math.abs((time.at(4_400) ?? 0) - 4_400 - EPOCH_MS + 10)).toBeLessThanOrEqual(2);
  });
});
