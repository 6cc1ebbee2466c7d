import fc from 'fast-check';
import { API_KEY_DAYS_DEFAULT, API_KEY_DAYS_MAX, earlierOf, expiryOf, renewedExpiry } from './api-key-lifetime';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = new Date('2026-03-29T00:30:00.123Z');
const ago = (days: number): Date => new Date(NOW.getTime() - days * DAY_MS);
const daysFromNow = (at: Date | null): number => ((at?.getTime() ?? 0) - NOW.getTime()) / DAY_MS;

describe('the life of a successor', () => {
  it('is as long as the one that was given, whenever the key is rotated', () => {
    const days = fc.integer({ min: 1, max: API_KEY_DAYS_MAX });
    fc.assert(
      fc.property(days, fc.date({ min: ago(3_000), max: NOW, noInvalidDate: true }), (expiresInDays, createdAt) => {
        const given = expiryOf({ expiresInDays }, createdAt, null);
        const expiresAt = 'at' in given ? given.at : null;
        expect(daysFromNow(renewedExpiry({ createdAt, expiresAt }, NOW))).toBe(expiresInDays);
      }),
    );
  });

  it('has no end when the key had none', () => {
    expect(renewedExpiry({ createdAt: ago(500), expiresAt: null }, NOW)).toBeNull();
  });

  it('is never longer than 366 days, whatever an older key was given', () => {
    expect(daysFromNow(renewedExpiry({ createdAt: ago(700), expiresAt: ago(-1) }, NOW))).toBe(API_KEY_DAYS_MAX);
  });
});

describe('the life of a new key', () => {
  const maker = (days: number): Date => ago(-days);

  it('is 90 days, or as long as that of its maker when that is shorter', () => {
    expect(expiryOf({}, NOW, null)).toEqual({ at: maker(API_KEY_DAYS_DEFAULT) });
    expect(expiryOf({}, NOW, maker(91))).toEqual({ at: maker(API_KEY_DAYS_DEFAULT) });
    expect(expiryOf({}, NOW, maker(89))).toEqual({ at: maker(89) });
  });

  it('may be wished for up to the end of its maker, and no longer', () => {
    for (const wanted of [{ expiresInDays: 10 }, { expiresAt: maker(10).toISOString() }]) {
      expect(expiryOf(wanted, NOW, maker(10))).toEqual({ at: maker(10) });
      const fault = {
        path: Object.keys(wanted)[0],
        code: 'range',
        message: expect.stringContaining('2026-04-07T00:30'),
      };
      expect(expiryOf(wanted, NOW, maker(9))).toEqual({ fault });
    }
  });
});

describe('the earlier end', () => {
  it('is the one of two that comes first; none is later than any', () => {
    expect(earlierOf(ago(1), ago(2))).toEqual(ago(2));
    expect(earlierOf(ago(2), ago(1))).toEqual(ago(2));
    expect([earlierOf(null, ago(1)), earlierOf(ago(1), null), earlierOf(null, null)]).toEqual([ago(1), ago(1), null]);
  });
});
