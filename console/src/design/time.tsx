import { useNow } from './clock';

interface TimeProps {
  /** RFC 3339, as the API writes it. Without one a dash is shown. */
  readonly at: string | null | undefined;
  /** Shows the date and time instead of "3 min ago", where times are compared with each other; `time` leaves out the date. */
  readonly exact?: boolean | 'time';
}

const LOCAL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
/** Of this year: a table has no room for what everybody knows. */
const LOCAL_THIS_YEAR = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
});
const TIME_OF_DAY = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const OFFSET = new Intl.DateTimeFormat(undefined, { timeZoneName: 'shortOffset' });
const HOUR_MS = 3_600_000;
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
/** The largest unit that fits is used; length in seconds. */
const UNITS = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** A time in the viewer's zone; on hover exactly in UTC, and how long ago it was. */
export function Time({ at, exact = false }: TimeProps) {
  const now = useNow();
  if (at === null || at === undefined) return <span>–</span>;
  const time = new Date(at);
  const isThisYear = time.getFullYear() === new Date(now).getFullYear();
  const zone = zoneOf(time);
  const local = `${(isThisYear ? LOCAL_THIS_YEAR : LOCAL).format(time)}${zone}`;
  const relative = relativeTime(time.getTime(), now);
  const shown = exact === 'time' ? `${TIME_OF_DAY.format(time)}${zone}` : local;
  return (
    <time dateTime={at} title={`${at}\n${exact === true ? relative : `${local} in your time zone, ${relative}`}`}>
      {exact === false ? relative : shown}
    </time>
  );
}

/** In the hours that look alike when clocks are set back, which of the two it is, after a space; else nothing. */
function zoneOf(time: Date): string {
  const offsetAfter = (ms: number): number => new Date(time.getTime() + ms).getTimezoneOffset();
  const offset = offsetAfter(0);
  if (offsetAfter(-HOUR_MS) >= offset && offsetAfter(HOUR_MS) <= offset) return '';
  return ` ${OFFSET.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? ''}`;
}

function relativeTime(atMs: number, nowMs: number): string {
  const seconds = (atMs - nowMs) / 1000;
  // A time that is a little ahead of this machine's clock is now.
  if (Math.abs(seconds) < 10) return 'now';
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? (['second', 1] as const);
  return RELATIVE.format(Math.round(seconds / length), unit);
}
