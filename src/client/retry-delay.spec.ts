import { retryAfterMs, retryDelayMs } from './retry-delay';

describe('retryDelayMs', () => {
  it('doubles up to a bound, half of it by chance', () => {
    expect([1, 2, 3, 6, 9].map((attempt) => retryDelayMs(attempt, undefined, 0))).toEqual([
      125, 250, 500, 4_000, 4_000,
    ]);
    expect([1, 2, 3, 6, 9].map((attempt) => retryDelayMs(attempt, undefined, 1))).toEqual([
      250, 500, 1_000, 8_000, 8_000,
    ]);
  });

  it('is never less than the service asked for', () => {
    expect(retryDelayMs(1, 3_000, 0)).toBe(3_000);
    expect(retryDelayMs(1, 3_000, 1)).toBeGreaterThan(3_000);
    expect(retryDelayMs(6, 1_000, 1)).toBe(8_000);
  });
});

describe('retryAfterMs', () => {
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT';

  it.each([
    [{ 'Retry-After': '2' }, 2_000],
    [{ 'Retry-After': 'Wed, 21 Oct 2026 07:28:05 GMT', Date: date }, 5_000],
    [{ 'Retry-After': 'Wed, 21 Oct 2026 07:27:00 GMT', Date: date }, 0],
    [{ 'Retry-After': 'Wed, 21 Oct 2026 07:28:05 GMT' }, undefined],
    [{ 'Retry-After': 'soon', Date: date }, undefined],
    [{}, undefined],
  ])('reads %j', (headers, expected) => {
    expect(retryAfterMs(new Headers(headers as Record<string, string>))).toBe(expected);
  });
});
