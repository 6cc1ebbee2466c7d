const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_MS = 7 * DAY_MS;
/** The Unix epoch was a Thursday; weeks begin on Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;
/** For so long rows can be stored while the maintenance of partitions fails. */
const WEEKS_AHEAD = 4;

/** From a Monday 00:00 UTC to the next. */
export interface Week {
  readonly from: Date;
  readonly to: Date;
}

/** The week in which a moment lies. */
export function weekOf(at: Date): Week {
  const number = Math.floor((at.getTime() - FIRST_MONDAY_MS) / WEEK_MS);
  return weekFrom(FIRST_MONDAY_MS + number * WEEK_MS);
}

/** The weeks whose partitions must exist, and the oldest one that rows of `retentionDays` still need. */
export function weeksToHave(
  now: Date,
  retentionDays: number,
): { readonly ahead: readonly Week[]; readonly oldest: Week } {
  const { from } = weekOf(now);
  // Also the previous week: a node whose machine slept is behind the others for a moment.
  const ahead = Array.from({ length: WEEKS_AHEAD + 2 }, (_unused, index) =>
    weekFrom(from.getTime() + (index - 1) * WEEK_MS),
  );
  return { ahead, oldest: weekOf(new Date(now.getTime() - (retentionDays + 1) * DAY_MS)) };
}

/** The tables with a partition for each week. */
export const WEEKLY_TABLES = ['mutation_outcomes', 'value_changes'] as const;
export type WeeklyTable = (typeof WEEKLY_TABLES)[number];

/** Names sort by time. */
export function partitionName(table: WeeklyTable, { from }: Week): string {
  return `${table}_${from.toISOString().slice(0, 10).replaceAll('-', '_')}`;
}

function weekFrom(fromMs: number): Week {
  return { from: new Date(fromMs), to: new Date(fromMs + WEEK_MS) };
}
