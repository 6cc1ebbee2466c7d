import { LRUCache } from 'lru-cache';

export const PERIOD_UNITS = ['day', 'week', 'month'] as const;
export type PeriodUnit = (typeof PERIOD_UNITS)[number];

/** After which a value starts again from its default: each day, week (from Monday on) or month of a time zone. */
export interface Period {
  readonly every: PeriodUnit;
  /** A name of the IANA time zone database, as it was sent. */
  readonly timezone: string;
}

/** From `start` on and before `end`; epoch milliseconds. */
export interface PeriodSpan {
  readonly start: number;
  readonly end: number;
}

/** Characters; the longest name in use has 32. */
export const TIME_ZONE_CHARACTERS_MAX = 64;
/** Names only: not every supported version of Node.js knows zones such as +02:00. */
const TIME_ZONE_NAME = /^[A-Za-z][A-Za-z0-9_+/-]*$/;

const DAY_MS = 24 * 60 * 60 * 1000;
/** No zone was ever so far from UTC. */
const OFFSET_MS_MAX = 16 * 60 * 60 * 1000;
/** The Unix epoch was a Thursday; weeks begin on Monday. */
const EPOCH_WEEKDAY = 3;

const CLOCK_FIELDS = {
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
  hourCycle: 'h23',
} as const;

/** More than there are zones with different rules. A formatter takes some kilobytes. */
const FORMATTERS_MAX = 600;
const formatters = new LRUCache<string, Intl.DateTimeFormat>({ max: FORMATTERS_MAX });
/** The span found last for each kind of period: nearly all changes fall into it. */
const spans = new LRUCache<string, PeriodSpan>({ max: PERIOD_UNITS.length * FORMATTERS_MAX });

/** Whether this version of Node.js knows the time zone. */
export function isTimeZone(name: string): boolean {
  if (name.length > TIME_ZONE_CHARACTERS_MAX || !TIME_ZONE_NAME.test(name)) return false;
  try {
    formatterOf(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * The period that a moment, in epoch milliseconds, falls into. It begins with the first moment of its first date in the
 * time zone, which is not midnight where the clocks skip midnight. So a day may have 23 or 25 hours, and a date that
 * the zone skips begins and ends with the next one. Periods leave no gap and do not overlap. The time zone must be one
 * that `isTimeZone` knows.
 */
export function periodAt(period: Period, at: number): PeriodSpan {
  const key = `${period.every} ${period.timezone}`;
  const known = spans.get(key);
  if (known !== undefined && known.start <= at && at < known.end) return known;
  const found = findSpan(period, at);
  spans.set(key, found);
  return found;
}

function findSpan({ every, timezone }: Period, at: number): PeriodSpan {
  const formatter = formatterOf(timezone);
  let first = firstDay(every, dayAt(formatter, at));
  let start = startOfDay(formatter, first);
  // Where clocks are set back over midnight, a date comes twice: its first beginning counts.
  while (start > at) {
    first = firstDay(every, first - 1);
    start = startOfDay(formatter, first);
  }
  for (;;) {
    first = nextFirstDay(every, first);
    const end = startOfDay(formatter, first);
    if (at < end) return { start, end };
    start = end;
  }
}

/** Days are numbers of days since the Unix epoch, of the calendar alone. */
function firstDay(every: PeriodUnit, day: number): number {
  switch (every) {
    case 'day':
      return day;
    case 'week':
      return day - ((((day + EPOCH_WEEKDAY) % 7) + 7) % 7);
    case 'month': {
      const date = new Date(day * DAY_MS);
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / DAY_MS;
    }
  }
}

function nextFirstDay(every: PeriodUnit, first: number): number {
  switch (every) {
    case 'day':
      return first + 1;
    case 'week':
      return first + 7;
    case 'month':
      // 31 days later is always in the next month.
      return firstDay('month', first + 31);
  }
}

/** The first moment of a date in the zone of the formatter. */
function startOfDay(formatter: Intl.DateTimeFormat, day: number): number {
  const midnight = day * DAY_MS;
  const guess = midnight - offsetAt(formatter, midnight);
  const start = midnight - offsetAt(formatter, guess);
  // Nearly always. Otherwise the clocks change about midnight.
  if (dayAt(formatter, start) === day && dayAt(formatter, start - 1) < day) return start;
  let before = midnight - OFFSET_MS_MAX;
  let within = midnight + OFFSET_MS_MAX;
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2);
    if (dayAt(formatter, middle) < day) before = middle;
    else within = middle;
  }
  return within;
}

function dayAt(formatter: Intl.DateTimeFormat, at: number): number {
  return Math.floor(localTime(formatter, at) / DAY_MS);
}

/** How far the clocks of the zone are ahead of UTC, in milliseconds. */
function offsetAt(formatter: Intl.DateTimeFormat, at: number): number {
  return localTime(formatter, at) - Math.floor(at / 1_000) * 1_000;
}

/** What the clocks of the zone show, in whole seconds, as if it were UTC. */
function localTime(formatter: Intl.DateTimeFormat, at: number): number {
  const fields: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatter.formatToParts(at)) fields[type] = Number(value);
  const { year = NaN, month = NaN, day = NaN, hour = NaN, minute = NaN, second = NaN } = fields;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** Throws a RangeError for an unknown zone. */
function formatterOf(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone);
  if (known !== undefined) return known;
  const formatter = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', { ...CLOCK_FIELDS, timeZone: timezone });
  formatters.set(timezone, formatter);
  return formatter;
}
