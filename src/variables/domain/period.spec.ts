import fc from 'fast-check';
import { isTimeZone, PERIOD_UNITS, periodAt, type PeriodUnit } from './period';

const HOUR_MS = 60 * 60 * 1000;

const spanOf = (every: PeriodUnit, timezone: string, at: string): [string, string] => {
  const { start, end } = periodAt({ every, timezone }, Date.parse(at));
  return [new Date(start).toISOString(), new Date(end).toISOString()];
};
const hoursOf = (timezone: string, at: string): number => {
  const { start, end } = periodAt({ every: 'day', timezone }, Date.parse(at));
  return (end - start) / HOUR_MS;
};

describe('a period', () => {
  it.each<[PeriodUnit, string, string, string, string]>([
    ['day', 'UTC', '2026-11-23T23:59:59.999Z', '2026-11-23T00:00:00.000Z', '2026-11-24T00:00:00.000Z'],
    ['day', 'UTC', '2026-11-24T00:00:00.000Z', '2026-11-24T00:00:00.000Z', '2026-11-25T00:00:00.000Z'],
    ['day', 'Europe/Berlin', '2026-11-23T22:59:59.999Z', '2026-11-22T23:00:00.000Z', '2026-11-23T23:00:00.000Z'],
    ['day', 'Asia/Kathmandu', '2026-11-23T18:15:00.000Z', '2026-11-23T18:15:00.000Z', '2026-11-24T18:15:00.000Z'],
    ['day', 'Pacific/Kiritimati', '2026-11-23T10:00:00.000Z', '2026-11-23T10:00:00.000Z', '2026-11-24T10:00:00.000Z'],
    ['week', 'UTC', '2026-11-29T23:59:59.999Z', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
    ['week', 'UTC', '2026-11-30T00:00:00.000Z', '2026-11-30T00:00:00.000Z', '2026-12-07T00:00:00.000Z'],
    ['week', 'Europe/Berlin', '2026-10-25T12:00:00.000Z', '2026-10-18T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['week', 'UTC', '1969-12-31T12:00:00.000Z', '1969-12-29T00:00:00.000Z', '1970-01-05T00:00:00.000Z'],
    ['month', 'UTC', '2028-02-29T12:00:00.000Z', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
    ['month', 'America/New_York', '2027-01-01T04:59:59.999Z', '2026-12-01T05:00:00.000Z', '2027-01-01T05:00:00.000Z'],
    ['month', 'Europe/Berlin', '2026-03-31T12:00:00.000Z', '2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z'],
  ])('of a %s in %s at %s', (every, timezone, at, start, end) => {
    expect(spanOf(every, timezone, at)).toEqual([start, end]);
  });

  it('has 23 or 25 hours where the clocks change', () => {
    expect(hoursOf('Europe/Berlin', '2026-03-29T12:00:00Z')).toBe(23);
    expect(hoursOf('Europe/Berlin', '2026-10-25T12:00:00Z')).toBe(25);
    expect(hoursOf('Australia/Lord_Howe', '2026-10-04T04:00:00Z')).toBe(23.5);
  });

  it('begins at one o’clock where the clocks skip midnight', () => {
    expect(spanOf('day', 'America/Santiago', '2026-09-06T12:00:00Z')[0]).toBe('2026-09-06T04:00:00.000Z');
    expect(hoursOf('America/Santiago', '2026-09-06T12:00:00Z')).toBe(23);
  });

  it('begins at the first of two midnights', () => {
    expect(spanOf('day', 'America/Havana', '2026-11-01T12:00:00Z')[0]).toBe('2026-11-01T04:00:00.000Z');
    expect(hoursOf('America/Havana', '2026-11-01T12:00:00Z')).toBe(25);
  });

  it('goes on over a date that the zone skips', () => {
    expect(spanOf('day', 'Pacific/Apia', '2011-12-30T09:59:59Z')[1]).toBe('2011-12-30T10:00:00.000Z');
    expect(spanOf('day', 'Pacific/Apia', '2011-12-30T10:00:00Z')).toEqual([
      '2011-12-30T10:00:00.000Z',
      '2011-12-31T10:00:00.000Z',
    ]);
  });

  it('contains its moment, and meets the next and the last one without gap, in any zone at any time', () => {
    // In St. John's the clocks were set back at 00:01, so that a date came twice.
    const zones = ['America/St_Johns', ...Intl.supportedValuesOf('timeZone')];
    const moment = fc.oneof(
      fc.integer({ min: Date.UTC(1970), max: Date.UTC(2100) }),
      fc.integer({ min: Date.UTC(2006, 9, 29), max: Date.UTC(2006, 9, 30) }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...PERIOD_UNITS), fc.constantFrom(...zones), moment, (every, timezone, at) => {
        const period = { every, timezone };
        const { start, end } = periodAt(period, at);
        expect(start).toBeLessThanOrEqual(at);
        expect(end).toBeGreaterThan(at);
        expect(periodAt(period, end).start).toBe(end);
        expect(periodAt(period, start - 1).end).toBe(start);
        expect([periodAt(period, start), periodAt(period, end - 1)]).toEqual([
          { start, end },
          { start, end },
        ]);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a time zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'europe/berlin', 'America/Argentina/Buenos_Aires', 'Asia/Calcutta', 'Etc/GMT+5'])(
    'is known by the name %s',
    (name) => {
      expect(isTimeZone(name)).toBe(true);
    },
  );

  it.each(['', 'Europe', 'Europe/Berlin ', 'Mars/Olympus', '+02:00', 'Z', 'x'.repeat(65), 'UTC\u0000', '__proto__'])(
    'is not known by the name %j',
    (name) => {
      expect(isTimeZone(name)).toBe(false);
    },
  );
});
