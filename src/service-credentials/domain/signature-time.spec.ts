import { assertTimely } from './signature-time';

const NOW_SECONDS = 1_767_323_045;
const now = new Date(NOW_SECONDS * 1_000);
const at =
  (created: number, expires?: number, time = now) =>
  () => {
    assertTimely({ created, expires }, time);
  };

describe('the time of a signature', () => {
  it.each([-300, -299, 0, 299, 300])('may lie %d s from now', (seconds) => {
    expect(at(NOW_SECONDS + seconds)).not.toThrow();
  });

  it.each([-301, 301, -NOW_SECONDS, -NOW_SECONDS - 1, 999_999_999_999_999, -999_999_999_999_999])(
    'may not lie %d s from now',
    (seconds) => {
      expect(at(NOW_SECONDS + seconds)).toThrow(/created lies more than 300 s (?:before|after) the service's time/);
    },
  );

  it('may lie 300 s from now to the millisecond', () => {
    const later = (ms: number): Date => new Date(now.getTime() + ms);
    expect(at(NOW_SECONDS - 300, undefined, later(0))).not.toThrow();
    expect(at(NOW_SECONDS - 300, undefined, later(1))).toThrow(/before/);
    expect(at(NOW_SECONDS + 300, undefined, later(0))).not.toThrow();
    expect(at(NOW_SECONDS + 300, undefined, later(-1))).toThrow(/after/);
  });

  it('ends when the signature expires, also within the window', () => {
    expect(at(NOW_SECONDS, NOW_SECONDS + 1)).not.toThrow();
    expect(at(NOW_SECONDS, NOW_SECONDS)).toThrow(/expired/);
    expect(at(NOW_SECONDS - 100, NOW_SECONDS - 50)).toThrow(/expired/);
    expect(at(NOW_SECONDS - 301, NOW_SECONDS + 1_000)).toThrow(/created/);
  });
});
