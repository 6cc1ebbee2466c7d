import type { DataSource } from 'typeorm';
import type { Clock } from '../values/clock';
import type { Jobs } from './jobs';

/** Of one job; another one takes the rest. */
const WORKSPACES_MAX = 100;

/** What is written applies within a second. `clock_timestamp()` is volatile, which Citus refuses in a change. */
export const APPLIES_LATER = `applies_from > statement_timestamp() + interval '1 minute'`;

export interface TimesAhead {
  readonly name: string;
  readonly cron: string;
  /** Has `tenant_id` and `applies_from`. */
  readonly table: string;
  /** Lets what applies later in a workspace apply from `since` on. */
  readonly apply: (tenantId: string, since: string) => Promise<void>;
}

/**
 * Lets rows apply that were written while the database's clock was ahead, after it was set back and each hour. Else they would do
 * nothing, silently, until the clock shows that time again.
 */
export function handleTimesAhead(
  { jobs, clock, database }: { readonly jobs: Jobs; readonly clock: Clock; readonly database: DataSource },
  { name, cron, table, apply }: TimesAhead,
): void {
  // `since`: the earliest time that the clock can have shown since it was set back; absent where it is not known.
  const work = async (since = clock.now().toISOString()): Promise<void> => {
    const rows: { tenant_id: string }[] = await database.query(
      `SELECT tenant_id FROM ${table} WHERE ${APPLIES_LATER} GROUP BY tenant_id ORDER BY tenant_id LIMIT $1`,
      [WORKSPACES_MAX],
    );
    for (const { tenant_id: tenantId } of rows) await apply(tenantId, since);
    if (rows.length === WORKSPACES_MAX) await jobs.add(database.manager, name, { since }, { key: 'rest' });
  };
  jobs.handle(name, ({ since }) => work(since), { cron, onSetBack: true });
}
