import { LogCounter } from '../../src/statistics/log-counter';
import type { SharedApp } from './app';
import type { Client } from './client';
import { rowsOf } from './database';

export interface StatisticsItem {
  readonly at: string;
  readonly group: string | null;
  readonly isOther?: true;
  readonly accepted: number;
  readonly duplicate: number;
  readonly refused: number;
  readonly late: number;
  readonly clockSkewed: number;
}

export type Counts = Omit<StatisticsItem, 'at' | 'group' | 'isOther'>;

/** What `GET /v1/stats/ingest` answers. */
export async function statisticsOf(client: Client, query = ''): Promise<StatisticsItem[]> {
  const { status, body } = await client.get(`/v1/stats/ingest?${query}`);
  if (status !== 200) throw new Error(`${query}: ${status} ${JSON.stringify(body)}`);
  return body.items;
}

export function sumOf(items: readonly StatisticsItem[]): Counts {
  const sum = { accepted: 0, duplicate: 0, refused: 0, late: 0, clockSkewed: 0 };
  for (const item of items) for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += item[name];
  return sum;
}

/** The sums by group, in the order of the groups; the rest beyond the limit is `other*`. */
export function byGroup(items: readonly StatisticsItem[]): Record<string, Counts> {
  const names = [...new Set(items.map(nameOf))].sort();
  return Object.fromEntries(names.map((name) => [name, sumOf(items.filter((item) => nameOf(item) === name))]));
}

function nameOf({ group, isOther }: StatisticsItem): string {
  return isOther === true ? `${group}*` : String(group);
}

/** Counts the log up to now, as the job does up to some seconds ago. */
export async function countLog({ app }: Pick<SharedApp, 'app'>): Promise<void> {
  while (await app.get(LogCounter).count(0));
}

/** Events of the log and the counts that are not in minutes yet, by the kind of row. */
export async function uncounted(databaseUrl: string, tenantId: string): Promise<{ events: number; changes: number }> {
  const [row] = await rowsOf<{ events: number; changes: number }>(
    databaseUrl,
    `SELECT (SELECT count(*)::int FROM events e WHERE e.tenant_id = p.tenant_id AND received_at >= p.counted_until) AS events,
       (SELECT count(*)::int FROM ingest_statistics_changes c WHERE c.tenant_id = p.tenant_id) AS changes
     FROM ingest_statistics_progress p WHERE tenant_id = $1`,
    [tenantId],
  );
  if (row === undefined) throw new Error('The workspace is not counted yet');
  return row;
}

/** Puts events into the log: `count` from `from` on, one every `everyMs`, of as many sources and types as these say. */
export async function logged(
  databaseUrl: string,
  tenantId: string,
  {
    from,
    count,
    everyMs,
    sources = 1,
    types = 1,
  }: Readonly<Record<'count' | 'everyMs', number>> & {
    readonly from: string;
    readonly sources?: number;
    readonly types?: number;
  },
): Promise<void> {
  await rowsOf(
    databaseUrl,
    `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
       profile_id, identity, properties, content_hash, batch_id)
     SELECT $1, gen_random_uuid(), CASE WHEN n % 2 = 0 THEN 'external' ELSE 'cdp' END, 'source-' || n % $5, n::text,
       'type-' || n % $6, $2::timestamptz - CASE WHEN n % 10 = 0 THEN interval '48 hours' ELSE interval '0' END,
       $2::timestamptz + n * $4::int * interval '1 ms', gen_random_uuid(), '{}', '{}', '\\x00', gen_random_uuid()
     FROM generate_series(0, $3::int - 1) n`,
    [tenantId, from, count, everyMs, sources, types],
  );
}
