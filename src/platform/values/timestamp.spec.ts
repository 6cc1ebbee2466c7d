import fc from 'fast-check';
import { parseTimestamp, timestampsOfMicros } from './timestamp';
import { timestampFault } from '../errors/fault-words';
import { cpuMsSince } from '../../../test/support/cpu-time';

const at = (text: string): number | string => {
  const parsed = parseTimestamp(text);
  return 'at' in parsed ? parsed.at : parsed.code;
};

const two = (value: number): string => String(value).padStart(2, '0');

describe('parseTimestamp', () => {
  it('reads what every JSON library prints', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z') }),
        (date) => {
          fc.pre(!Number.isNaN(date.getTime()));
          expect(at(date.toISOString())).toBe(date.getTime());
        },
      ),
    );
  });

  it('takes the offset off, in each of its spellings', () => {
    const utc = Date.UTC(2026, 0, 2, 1, 4, 5);
    for (const offset of ['+02:00', '+0200', '+02']) expect(at(`2026-01-02T03:04:05${offset}`)).toBe(utc);
    expect(at('2026-01-02T03:04:05-05:30')).toBe(Date.UTC(2026, 0, 2, 8, 34, 5));
    expect(at('2026-01-02T03:04:05-00:00')).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
  });

  it('gives one instant for all offsets it can be written with', () => {
    const instants = fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2200, 0) });
    fc.assert(
      fc.property(instants, fc.integer({ min: -(24 * 60 - 1), max: 24 * 60 - 1 }), (instant, minutes) => {
        const local = new Date(instant + minutes * 60_000).toISOString().slice(0, -1);
        const sign = minutes < 0 ? '-' : '+';
        const size = Math.abs(minutes);
        expect(at(`${local}${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`)).toBe(instant);
      }),
    );
  });

  it('takes lower case, a comma before the fraction, and a time without seconds', () => {
    expect(at('2026-01-02t03:04:05z')).toBe(Date.UTC(2026, 0, 2, 3, 4, 5));
    expect(at('2026-01-02T03:04:05,25Z')).toBe(Date.UTC(2026, 0, 2, 3, 4, 5, 250));
    expect(at('2026-01-02T03:04Z')).toBe(Date.UTC(2026, 0, 2, 3, 4));
  });

  it('cuts a fraction to milliseconds and never rounds into the next second', () => {
    expect(at('2026-01-02T03:04:05.1Z')).toBe(Date.UTC(2026, 0, 2, 3, 4, 5, 100));
    expect(at('2026-12-31T23:59:59.999999999Z')).toBe(Date.UTC(2026, 11, 31, 23, 59, 59, 999));
    expect(at('2026-01-02T03:04:05.0000000000Z')).toBe('format');
  });

  it('knows the calendar: leap years, the length of months, and no year 0', () => {
    expect(at('2024-02-29T00:00:00Z')).toBe(Date.UTC(2024, 1, 29));
    expect(at('2000-02-29T00:00:00Z')).toBe(Date.UTC(2000, 1, 29));
    for (const day of [
      '2023-02-29',
      '1900-02-29',
      '2026-02-30',
      '2026-04-31',
      '2026-13-01',
      '2026-00-10',
      '2026-01-00',
    ]) {
      expect(at(`${day}T00:00:00Z`)).toBe('format');
    }
    expect(at('0000-01-01T00:00:00Z')).toBe('format');
    expect(at('0001-01-01T00:00:00Z')).toBe(-62_135_596_800_000);
    expect(at('0099-12-31T00:00:00Z')).toBe(new Date('0099-12-31T00:00:00Z').getTime());
  });

  it('stays between the years 1 and 9999 also after the offset', () => {
    expect(at('0001-01-01T00:00:00+00:01')).toBe('format');
    expect(at('9999-12-31T23:59:59.999Z')).toBe(253_402_300_799_999);
    expect(at('9999-12-31T23:59:59-00:01')).toBe('format');
    expect(at('9999-12-31T24:00:00Z')).toBe('format');
  });

  it('takes 24:00 as the end of its day and no later time of it', () => {
    expect(at('2026-01-02T24:00:00Z')).toBe(Date.UTC(2026, 0, 3));
    for (const time of ['24:01:00', '24:00:01', '24:00:00.0001', '25:00:00', '23:60:00', '23:59:61']) {
      expect(at(`2026-01-02T${time}Z`)).toBe('format');
    }
  });

  it('keeps a leap second in its own day and refuses one at any other time', () => {
    const last = Date.UTC(2016, 11, 31, 23, 59, 59, 999);
    expect(at('2016-12-31T23:59:60Z')).toBe(last);
    expect(at('2017-01-01T01:59:60.5+02:00')).toBe(last);
    expect(at('2016-12-31T22:59:60Z')).toBe('format');
    expect(at('2016-12-31T23:59:60+02:00')).toBe('format');
  });

  it('tells a missing offset from a malformed time', () => {
    expect(at('2026-01-02T03:04:05')).toBe('missing_offset');
    expect(at('2026-01-02T03:04:05.123')).toBe('missing_offset');
    expect(at('2026-02-30T03:04:05')).toBe('format');
  });

  it.each([
    '',
    'now',
    '1767323045',
    '2026-01-02',
    '2026-01-02 03:04:05Z',
    '20260102T030405Z',
    '2026-1-2T03:04:05Z',
    '2026-01-02T03:04:05+24:00',
    '2026-01-02T03:04:05+02:60',
    '2026-01-02T03:04:05+2',
    '2026-01-02T03:04:05.Z',
    '2026-01-02T03:04:05ZZ',
    ' 2026-01-02T03:04:05Z',
    '2026-01-02T03:04:05Z\n',
    '+002026-01-02T03:04:05Z',
    '2026-01-02T03Z',
    '٢٠٢٦-01-02T03:04:05Z',
    '2026-W01-5T03:04:05Z',
    '2026-002T03:04:05Z',
  ])('refuses %j', (text) => {
    expect(at(text)).toBe('format');
  });

  it('answers hostile text of 256 KiB at once', () => {
    const started = process.cpuUsage();
    for (const piece of ['2', '2026-01-02T', '0', '.1', '+00:', ' ']) at(piece.repeat(262_144 / piece.length));
    at(`2026-01-02T03:04:05.${'9'.repeat(262_144)}Z`);
    expect(cpuMsSince(started)).toBeLessThan(500);
  });

  it('words both faults with the path and a way out', () => {
    expect(timestampFault('missing_offset', 'occurred_at')).toEqual({
      path: 'occurred_at',
      code: 'missing_offset',
      message: 'occurred_at has no offset; end it in Z or in an offset such as +02:00.',
    });
    expect(timestampFault('format', 'items[3].occurredAt').message).toMatch(
      /^items\[3\]\.occurredAt is not .*; write it like /,
    );
  });
});

describe('timestampsOfMicros', () => {
  it('prints all six digits of each time', () => {
    const second = Date.UTC(2026, 10, 27) * 1_000;
    expect(timestampsOfMicros([second, second, second + 7, second + 999_999, -1])).toEqual([
      '2026-11-27T00:00:00.000000Z',
      '2026-11-27T00:00:00.000000Z',
      '2026-11-27T00:00:00.000007Z',
      '2026-11-27T00:00:00.999999Z',
      '1969-12-31T23:59:59.999999Z',
    ]);
  });
});
