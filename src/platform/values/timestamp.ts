export type TimestampFaultCode = 'format' | 'missing_offset';

/** `at`: milliseconds since 1970-01-01T00:00:00Z. */
export type ParsedTimestamp = { readonly at: number } | { readonly code: TimestampFaultCode };

// Every quantifier is bounded and no two neighbours can take the same character, so matching is linear. The extended
// format only: the basic one (20260102T030405Z) is too easily a number that somebody meant otherwise.
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d{2})(?::?(\d{2}))?)?$/;

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** The Gregorian calendar repeats after 400 years of exactly so many days. */
const CALENDAR_CYCLE_YEARS = 400;
const CALENDAR_CYCLE_MS = 146_097 * DAY_MS;

// Midnight of a day. Date.UTC reads the years 0 to 99 as 1900 to 1999, so it is asked about a year one cycle later.
function dayStart(year: number, month: number, day: number): number {
  return Date.UTC(year + CALENDAR_CYCLE_YEARS, month - 1, day) - CALENDAR_CYCLE_MS;
}

// 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999Z: what RFC 3339 can print again and PostgreSQL's timestamptz
// (4713 BC to 294276) can hold. An offset can push a printable year out of it.
const EARLIEST_MS = dayStart(1, 1, 1);
const LATEST_MS = dayStart(10_000, 1, 1) - 1;

/**
 * Reads an ISO 8601 date-time with an offset or `Z` (contract section 1): `2026-01-02T03:04:05Z`, also without
 * seconds, with a fraction of 1 to 9 digits (cut, not rounded, to milliseconds, so that no time moves into the next
 * day), with `+02:00`, `+0200` or `+02`, and in lower case. `24:00` is the end of its day, as ISO 8601 has it.
 *
 * `missing_offset`: a date-time in every other respect. `format`: anything else, such as a date alone, 30 February,
 * an offset of 24 hours, or an instant before the year 1 or after the year 9999.
 */
export function parseTimestamp(text: string): ParsedTimestamp {
  const match = DATE_TIME.exec(text);
  if (match === null) return { code: 'format' };
  const day = readDay(match[1], match[2], match[3]);
  const time = readTimeOfDay(match[4], match[5], match[6], match[7]);
  const offset = readOffset(match[9], match[10], match[11]);
  if (day === undefined || time === undefined || offset === undefined) return { code: 'format' };
  if (match[8] === undefined && match[9] === undefined) return { code: 'missing_offset' };

  const at = day + time - offset;
  if (at < EARLIEST_MS || at > LATEST_MS) return { code: 'format' };
  // A leap second is only ever the last second of a UTC day; written at any other time it is a mistake. It becomes
  // the last millisecond before it: POSIX time has no room for it, and an event must not move into the next day.
  if (match[6] === '60' && (at + 1) % DAY_MS !== 0) return { code: 'format' };
  return { at };
}

function readDay(yearText = '', monthText = '', dayText = ''): number | undefined {
  const year = Number(yearText);
  const month = Number(monthText);
  const day = Number(dayText);
  if (year < 1 || month < 1 || month > 12 || day < 1) return undefined;
  const start = dayStart(year, month, day);
  // A day that the month does not have lands in the next month.
  return start < dayStart(year, month + 1, 1) ? start : undefined;
}

function readTimeOfDay(hourText = '', minuteText = '', secondText = '0', fraction = ''): number | undefined {
  const hour = Number(hourText);
  const minute = Number(minuteText);
  const second = Number(secondText);
  const millisecond = Number(fraction.slice(0, 3).padEnd(3, '0'));
  if (hour > 24 || minute > 59 || second > 60) return undefined;
  if (hour === 24 && (minute > 0 || second > 0 || /[1-9]/.test(fraction))) return undefined;
  if (second === 60) return hour * HOUR_MS + minute * MINUTE_MS + 59_999;
  return hour * HOUR_MS + minute * MINUTE_MS + second * 1_000 + millisecond;
}

function readOffset(sign: string | undefined, hourText = '0', minuteText = '0'): number | undefined {
  const hour = Number(hourText);
  const minute = Number(minuteText);
  if (hour > 23 || minute > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (hour * HOUR_MS + minute * MINUTE_MS);
}

/** ISO 8601 of a time in epoch microseconds, with all six digits. */
export function timestampOfMicros(micros: number): string {
  const ms = Math.floor(micros / 1_000);
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros - 1_000 * ms).padStart(3, '0')}Z`;
}

/** The same of many times, which are mostly one. */
export function timestampsOfMicros(times: readonly number[]): string[] {
  let last = NaN;
  let text = '';
  return times.map((micros) => {
    if (micros !== last) text = timestampOfMicros(micros);
    last = micros;
    return text;
  });
}
