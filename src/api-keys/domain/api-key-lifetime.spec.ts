import fc from 'fast-check';
import { API_KEY_DAYS_MAX, expiryOf, renewedExpiry } from './api-key-lifetime';

const DAY_MS = 24 * 60 * 60 * 1000;
const NOW = new Date('2026-03-29T00:30:00.123Z');
const ago = (days: number): Date => new Date(NOW.getTime() - days * DAY_MS);
const daysFromNow = (at: Date | null): number => ((at?.getTime() ?? 0) - NOW.getTime()) / DAY_MS;

describe('the life of a successor', () => {
  it('is as long as the one that was given, whenever the key is rotated', () => {
    const days = fc.integer({ min: 1, max: API_KEY_DAYS_MAX });
    fc.assert(
      fc.property(days, fc.date({ min: ago(3_000), max: NOW, noInvalidDate: true }), (expiresInDays, createdAt) => {
        const given = expiryOf({ expiresInDays }, createdAt);
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
