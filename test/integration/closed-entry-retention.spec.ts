import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { ClosedEntryRetention, MARK_CLOSED } from '../../src/review/closed-entry-retention';
import { databaseUrl, rowsOf, withClient } from '../support/database';
import { startNode } from '../support/ingest';
import { rowsOfPlan } from '../support/plans';
import { setAhead } from '../support/test-clock';

let url: string;
let node: INestApplicationContext;

beforeAll(async () => {
  url = await databaseUrl();
  node = await startNode(url, { REVIEW_CLOSED_DAYS: '7' });
  setAhead(node, 60);
});
afterAll(() => node.close());

/** Entries that were seen a year ago and closed so many days ago; null: by a version that did not write that down. */
const closed = (tenantId: string, status: string, days: number | null, count: number) =>
  rowsOf(
    url,
    `INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, source, external_event_id,
       event_type, event_id, payload, payload_form, occurrences, first_seen_at, last_seen_at, status, resolution, closed_at)
     SELECT $1, gen_random_uuid(), 'error', 'validation', 'required', 'm', '[]', 'cdp', NULL, NULL,
       NULL, NULL, '{}', 'json', 1, now() - interval '1 year', now() - interval '1 year', $2, NULL,
       now() - $3 * interval '1 day'
     FROM generate_series(1, $4)`,
    [tenantId, status, days, count],
  );

async function work(): Promise<number> {
  let steps = 1;
  while (await node.get(ClosedEntryRetention).step()) steps += 1;
  return steps;
}

const left = (tenantId: string) =>
  rowsOf(
    url,
    `SELECT status, count(*)::int AS count, bool_and(closed_at IS NOT NULL) AS dated FROM review_entries
     WHERE tenant_id = $1 GROUP BY status ORDER BY status`,
    [tenantId],
  );

it('closed entries go REVIEW_CLOSED_DAYS after they were closed, in bounded steps; open ones stay', async () => {
  const [one, other] = [randomUUID(), randomUUID()];
  for (const status of ['dismissed', 'replayed', 'superseded']) await closed(one, status, 8, 400);
  await closed(one, 'dismissed', 6, 3);
  await closed(one, 'open', null, 5);
  await closed(other, 'superseded', 8, 2);
  expect(await work()).toBeGreaterThanOrEqual(3);
  expect(await left(one)).toEqual([
    { status: 'dismissed', count: 3, dated: true },
    { status: 'open', count: 5, dated: false },
  ]);
  expect(await left(other)).toEqual([]);
});

it('entries that an older version has closed stay for as long from now on', async () => {
  const tenantId = randomUUID();
  await closed(tenantId, 'dismissed', null, 700);
  await work();
  expect(await left(tenantId)).toEqual([{ status: 'dismissed', count: 700, dated: true }]);
  await rowsOf(url, `UPDATE review_entries SET closed_at = closed_at - interval '8 days' WHERE tenant_id = $1`, [
    tenantId,
  ]);
  await work();
  expect(await left(tenantId)).toEqual([]);
});

it('an entry that somebody holds is left for the next time, and waited for by nobody', async () => {
  const tenantId = randomUUID();
  await closed(tenantId, 'replayed', 8, 3);
  await withClient(url, async (client) => {
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM review_entries WHERE tenant_id = $1 LIMIT 1 FOR UPDATE', [tenantId]);
    await work();
    expect(await left(tenantId)).toEqual([{ status: 'replayed', count: 1, dated: true }]);
    await client.query('COMMIT');
  });
  await work();
  expect(await left(tenantId)).toEqual([]);
});

it('a step does not look at open entries, of which there may be many', async () => {
  const tenantId = randomUUID();
  await closed(tenantId, 'open', null, 20_000);
  await closed(tenantId, 'dismissed', 1, 20_000);
  await rowsOf(url, 'ANALYZE review_entries');
  const { taken, indexes } = await rowsOfPlan(url, MARK_CLOSED, [tenantId, 500]);
  expect(indexes).toContain('review_entries_closed_idx');
  // The other side of a join that finds nothing.
  expect(taken).toBeLessThanOrEqual(1);
});
