import type { Fault } from '../../platform/errors/fault';
import { rangeFault } from '../../platform/errors/fault-words';
import type { TimeRange } from '../../platform/pagination/time-range';

export const STATISTICS_STEPS = ['minute', 'hour', 'day'] as const;
export type StatisticsStep = (typeof STATISTICS_STEPS)[number];

/** Contract section 11: a day of minutes, two months of hours, four years of days. */
export const STEPS_MAX = 1_440;
/** The first and the last time that a client can name, and that PostgreSQL reads as text. */
const FIRST = Date.parse('0001-01-01T00:00:00Z');
const LAST = Date.parse('9999-12-31T23:59:59.999Z');
const DEFAULT_RANGE_MS = 24 * 60 * 60 * 1_000;

export const STEP_MS: Readonly<Record<StatisticsStep, number>> = {
  minute: 60_000,
  hour: 60 * 60_000,
  day: 24 * 60 * 60_000,
};

/** From `from` on, and before `to`; epoch milliseconds. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Rows of statistics that lie in a range. */
export interface CountedSpan extends Span {
  readonly step: StatisticsStep;
  /** False where only a part of the minute is in the range: its duplicates and refusals count, its accepted events do not. */
  readonly isWhole: boolean;
}

/** How the counts of a range come about. Accepted events are exact to the millisecond, all else to the minute. */
export interface StatisticsRange extends Span {
  readonly step: StatisticsStep;
  /** The whole minutes in the range; empty where `to` is not after `from`. */
  readonly wholeMinutes: Span;
  /** All minutes that the range touches. */
  readonly minutes: Span;
  /** The rows to add up: of `step` where a whole one is in the range, of minutes elsewhere. */
  readonly counted: readonly CountedSpan[];
  /** Parts of minutes, which are counted in the event log. */
  readonly edges: readonly Span[];
}

interface Asked extends TimeRange {
  readonly step: StatisticsStep;
}

/** The range that a client asks for, by default the last 24 hours; or what is wrong with it. */
export function statisticsRange(
  { from, to, step }: Asked,
  now: number,
): StatisticsRange | { faults: readonly Fault[] } {
  const end = to ?? now;
  const start = from ?? Math.max(FIRST, ceil(end, STEP_MS.minute) - DEFAULT_RANGE_MS);
  if (start >= end) return { faults: [rangeFault('from', 'a time before to; without to, before now')] };
  const steps = Math.ceil((end - start) / STEP_MS[step]);
  if (steps > STEPS_MAX) return { faults: [tooManySteps(steps, step)] };
  return partsOf({ from: start, to: end }, step);
}

/** Times before 1970 are below zero, which is why nothing here uses the remainder. */
function partsOf({ from, to }: Span, step: StatisticsStep): StatisticsRange {
  const minute = STEP_MS.minute;
  const minutes = { from: floor(from, minute), to: ceil(to, minute) };
  const wholeMinutes = { from: ceil(from, minute), to: floor(to, minute) };
  if (wholeMinutes.to < wholeMinutes.from) {
    const counted = [{ step: 'minute', ...minutes, isWhole: false } as const];
    return { from, to, step, wholeMinutes, minutes, counted, edges: [{ from, to }] };
  }
  const edges = [
    { from, to: wholeMinutes.from },
    { from: wholeMinutes.to, to },
  ];
  const parts: CountedSpan[] = [
    { step: 'minute', from: minutes.from, to: wholeMinutes.from, isWhole: false },
    ...wholeParts(wholeMinutes, step),
    { step: 'minute', from: wholeMinutes.to, to: minutes.to, isWhole: false },
  ];
  return { from, to, step, wholeMinutes, minutes, counted: parts.filter(isFilled), edges: edges.filter(isFilled) };
}

function wholeParts({ from, to }: Span, step: StatisticsStep): CountedSpan[] {
  const whole = { from: ceil(from, STEP_MS[step]), to: floor(to, STEP_MS[step]) };
  if (whole.to <= whole.from) return [{ step: 'minute', from, to, isWhole: true }];
  return [
    { step: 'minute', from, to: whole.from, isWhole: true },
    { step, ...whole, isWhole: true },
    { step: 'minute', from: whole.to, to, isWhole: true },
  ];
}

function tooManySteps(steps: number, step: StatisticsStep): Fault {
  const larger = step === 'day' ? '' : `, or a larger step than ${step}`;
  const message = `The range has ${steps} steps, and ${STEPS_MAX} are answered at most; ask for a shorter range${larger}.`;
  return { path: 'step', code: 'range', message };
}

function isFilled({ from, to }: Span): boolean {
  return from < to;
}

function floor(at: number, unit: number): number {
  return Math.floor(at / unit) * unit;
}

function ceil(at: number, unit: number): number {
  return Math.min(LAST, Math.ceil(at / unit) * unit);
}
