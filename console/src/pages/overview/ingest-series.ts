import type { Schema } from '../../api/api-types';

type Count = Schema<'IngestStatisticsItemDto'>;

export type Range = '1h' | '24h' | '7d' | '30d';

interface RangeSteps {
  readonly label: string;
  readonly step: 'minute' | 'hour' | 'day';
  readonly stepMs: number;
  readonly steps: number;
}

const HOUR_MS = 3_600_000;

export const RANGES: Readonly<Record<Range, RangeSteps>> = {
  '1h': { label: 'Last hour', step: 'minute', stepMs: HOUR_MS / 60, steps: 60 },
  '24h': { label: 'Last 24 hours', step: 'hour', stepMs: HOUR_MS, steps: 24 },
  '7d': { label: 'Last 7 days', step: 'hour', stepMs: HOUR_MS, steps: 168 },
  '30d': { label: 'Last 30 days', step: 'day', stepMs: 24 * HOUR_MS, steps: 30 },
};

/** Answers by result, step by step; `times` in epoch milliseconds, when the steps begin. */
export interface IngestSeries {
  readonly times: readonly number[];
  readonly accepted: readonly number[];
  readonly duplicate: readonly number[];
  readonly refused: readonly number[];
}

export interface SourceCounts {
  /** Null: of refused events whose source could not be read. */
  readonly source: string | null;
  /** The sources beyond the largest 200, together. */
  readonly isOther: boolean;
  readonly accepted: number;
  readonly duplicate: number;
  readonly refused: number;
  readonly late: number;
  readonly series: IngestSeries;
}

/** When the range begins: a full step, so that the same answer is asked for until the next step begins. */
export function beginningOf(range: Range, nowMs: number): number {
  const { stepMs, steps } = RANGES[range];
  return (Math.floor(nowMs / stepMs) - steps + 1) * stepMs;
}

/** Every step of the range, also those without events. */
export function seriesOf(counts: readonly Count[], range: Range, fromMs: number): IngestSeries {
  const { stepMs, steps } = RANGES[range];
  const sums = { accepted: zeros(steps), duplicate: zeros(steps), refused: zeros(steps) };
  for (const count of counts) {
    const index = Math.floor((new Date(count.at).getTime() - fromMs) / stepMs);
    if (index < 0 || index >= steps) continue;
    for (const result of ['accepted', 'duplicate', 'refused'] as const) {
      sums[result][index] = (sums[result][index] ?? 0) + count[result];
    }
  }
  return { times: Array.from({ length: steps }, (_, index) => fromMs + index * stepMs), ...sums };
}

/** One row for each source, the one with the most answers first. */
export function bySource(counts: readonly Count[], range: Range, fromMs: number): SourceCounts[] {
  const groups = Map.groupBy(counts, ({ group, isOther = false }) => JSON.stringify([group, isOther]));
  const rows = [...groups.values()].map((items) => ({
    source: items[0]?.group ?? null,
    isOther: items[0]?.isOther ?? false,
    accepted: sumOf(items, 'accepted'),
    duplicate: sumOf(items, 'duplicate'),
    refused: sumOf(items, 'refused'),
    late: sumOf(items, 'late'),
    series: seriesOf(items, range, fromMs),
  }));
  return rows.sort((a, b) => totalOf(b) - totalOf(a));
}

export function totalOf({ accepted, duplicate, refused }: Pick<Count, 'accepted' | 'duplicate' | 'refused'>): number {
  return accepted + duplicate + refused;
}

function sumOf(counts: readonly Count[], name: 'accepted' | 'duplicate' | 'refused' | 'late'): number {
  return counts.reduce((sum, count) => sum + count[name], 0);
}

function zeros(length: number): number[] {
  return new Array<number>(length).fill(0);
}
