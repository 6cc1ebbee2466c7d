import { DELIVERY_ATTEMPTS_MAX, isGivenUp, parseRetryAfter, retryDelayMs } from './retry-schedule';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NOW = new Date('2026-01-02T03:04:05Z');

it('waits 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h between ten attempts', () => {
  const delays = Array.from({ length: DELIVERY_ATTEMPTS_MAX - 1 }, (_unused, index) => retryDelayMs(index + 1, 0.5));
  expect(delays).toEqual([
    ...[5_000, 5 * MINUTE_MS, 30 * MINUTE_MS],
    ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
  ]);
  expect(retryDelayMs(50, 0.5)).toBe(24 * HOUR_MS);
});

it('varies delays by a fifth', () => {
  expect([retryDelayMs(1, 0), retryDelayMs(1, 1)]).toEqual([4_000, 6_000]);
});

it('never waits for 29 hours, which the maintenance takes for a clock that was set back', () => {
  expect(retryDelayMs(50, 1, 100 * HOUR_MS)).toBeLessThan(29 * HOUR_MS);
});

it('lets Retry-After lengthen a delay up to a day, never shorten it', () => {
  expect(retryDelayMs(1, 0.5, 1_000)).toBe(5_000);
  expect(retryDelayMs(1, 0.5, HOUR_MS)).toBe(HOUR_MS);
  expect(retryDelayMs(1, 0.5, 100 * HOUR_MS)).toBe(24 * HOUR_MS);
});

it.each([
  [undefined, 0],
  ['120', 120_000],
  ['Fri, 02 Jan 2026 03:05:05 GMT', MINUTE_MS],
  ['Fri, 02 Jan 2026 03:03:05 GMT', 0],
  ['soon', 0],
  ['-5', 0],
  ['1e9', 0],
  ['99999999999', 0],
])('reads Retry-After %s as %d ms', (header, ms) => {
  expect(parseRetryAfter(header, NOW)).toBe(ms);
});

it('gives a delivery up after ten attempts, unless its endpoint takes nothing at all', () => {
  const firstAttemptAt = NOW;
  const later = new Date(NOW.getTime() + 1);
  expect(isGivenUp({ failures: 9, firstAttemptAt, failingSince: null })).toBe(false);
  expect(isGivenUp({ failures: 10, firstAttemptAt, failingSince: null })).toBe(true);
  expect(isGivenUp({ failures: 10, firstAttemptAt, failingSince: later })).toBe(true);
  expect(isGivenUp({ failures: 99, firstAttemptAt, failingSince: NOW })).toBe(false);
});
