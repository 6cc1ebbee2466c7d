import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { TimeSlice } from '../platform/values/time-slice';
import { UNKNOWN_NAME } from './domain/group-names';
import { STEP_MS, type StatisticsRange } from './domain/statistics-range';
import type { IngestStatisticsItemDto, StatisticsGroup } from './dto/ingest-statistics.dto';
import { OutcomeRecorder } from './outcome-recorder';
import { readStatisticsBy } from './read-statistics.sql';

/** Contract section 11. */
export const STATISTICS_GROUPS_MAX = 200;

const STATEMENTS: Readonly<Record<StatisticsGroup | 'none', string>> = {
  source: readStatisticsBy('source'),
  family: readStatisticsBy('family'),
  eventType: readStatisticsBy('event_type'),
  none: readStatisticsBy("''::text"),
};

/** The counts of a range. Kept as the short texts that PostgreSQL answers: there may be 288,000 of them. */
interface Statistics {
  /** The names of the groups, by their places, from 1; the place behind the last one is that of the rest. */
  readonly names: readonly string[];
  readonly steps: readonly { readonly at: Date; readonly text: string }[];
}

/** Reads the statistics of ingest (contract section 11). */
@Injectable()
export class StatisticsReader {
  constructor(
    private readonly database: DataSource,
    private readonly outcomes: OutcomeRecorder,
  ) {}

  /** One snapshot, with what this process has answered until now. */
  async read(tenantId: string, range: StatisticsRange, group: StatisticsGroup | undefined): Promise<Statistics> {
    await this.outcomes.flush();
    const rows: { at: Date | null; text: string }[] = await this.database.query(
      STATEMENTS[group ?? 'none'],
      parametersOf(tenantId, range),
    );
    const [first, ...steps] = rows;
    return {
      names: JSON.parse(first?.text ?? '[]') as string[],
      steps: steps.flatMap(({ at, text }) => (at === null ? [] : [{ at, text }])),
    };
  }
}

function parametersOf(tenantId: string, range: StatisticsRange): unknown[] {
  const { step, counted, edges, wholeMinutes, minutes } = range;
  const time = (at: number): string => new Date(at).toISOString();
  return [
    tenantId,
    `${STEP_MS[step]} milliseconds`,
    counted.map((span) => span.step),
    counted.map(({ from }) => time(from)),
    counted.map(({ to }) => time(to)),
    counted.map(({ isWhole }) => isWhole),
    edges.map(({ from }) => time(from)),
    edges.map(({ to }) => time(to)),
    time(wholeMinutes.from),
    time(wholeMinutes.to),
    time(minutes.from),
    time(minutes.to),
    STATISTICS_GROUPS_MAX,
  ];
}

/** The answer as pieces of JSON text, a step each, made in slices of the event loop. */
export async function* statisticsJson({ names, steps }: Statistics, isGrouped: boolean): AsyncGenerator<string> {
  const slice = new TimeSlice();
  yield '{"items":[';
  let separator = '';
  for (const { at, text } of steps) {
    const items = text.split(';').map((counts) => JSON.stringify(itemOf(at.toISOString(), counts, names, isGrouped)));
    yield `${separator}${items.join(',')}`;
    separator = ',';
    await slice.pause();
  }
  // The newline is for terminals.
  yield ']}\n';
}

function itemOf(at: string, counts: string, names: readonly string[], isGrouped: boolean): IngestStatisticsItemDto {
  const [place = 0, accepted = 0, duplicate = 0, refused = 0, late = 0, clockSkewed = 0] = counts
    .split(' ')
    .map(Number);
  const name = names[place - 1];
  const group =
    name === undefined ? { group: 'other', isOther: true as const } : { group: isGrouped ? nameOf(name) : null };
  return { at, ...group, accepted, duplicate, refused, late, clockSkewed };
}

function nameOf(name: string): string | null {
  return name === UNKNOWN_NAME ? null : name;
}
