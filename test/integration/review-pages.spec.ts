import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { ROWS_LOOKED_AT_MAX } from '../../src/platform/pagination/page';
import { pageStart } from '../../src/platform/pagination/time-key';
import { filterParameters, type ReviewFilter } from '../../src/review/domain/review-filter';
import { fitsValues, READ_OF_FEW, READ_OF_NEAREST } from '../../src/review/review-page.sql';
import { ReviewReader } from '../../src/review/review-reader';
import { COUNT_GROUPS } from '../../src/review/review-summary';
import { freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { startNode } from '../support/ingest';
import { kindsOfScans, rowsOfPlan } from '../support/plans';

const ENTRIES = 50_000;
const LIMIT = 50;

/** A stage of 30 entries, a reason of 20, and a source of 10 of them; the first of them are the oldest of all. */
const INSERT_ENTRIES = `
  INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, source,
    external_event_id, event_type, event_id, payload, payload_form, occurrences, first_seen_at, last_seen_at, status)
  SELECT $1, gen_random_uuid(), 'error', CASE WHEN n <= 30 THEN 'identity' ELSE 'validation' END,
    CASE WHEN n <= 20 THEN 'rare' ELSE 'required' END, 'm', '[]', 'external',
    CASE WHEN n BETWEEN 11 AND 20 THEN 'till' ELSE 'shop' END, n::text, 'purchase', NULL, '{}', 'json', 1,
    '2026-01-01T00:00:00Z'::timestamptz + n / 10 * interval '1 s', now(), CASE WHEN n <= 5 THEN 'dismissed' ELSE 'open' END
  FROM generate_series(1, $2::int) n`;

let url: string;
let node: INestApplicationContext;
const tenantId = randomUUID();

beforeAll(async () => {
  url = await freshDatabaseUrl('review_pages');
  node = await startNode(url);
  await withClient(url, async (client) => {
    await client.query(INSERT_ENTRIES, [tenantId, ENTRIES]);
    await client.query(INSERT_ENTRIES, [randomUUID(), LIMIT]);
    await client.query('VACUUM (ANALYZE) review_entries');
  });
});
afterAll(() => node.close());

/** Reads to the end: the numbers of the entries of each page. */
async function pages(filter: ReviewFilter, limit = LIMIT): Promise<number[][]> {
  const read: number[][] = [];
  let cursor: string | undefined;
  do {
    const page = await node.get(ReviewReader).list(tenantId, filter, pageStart(cursor), limit);
    read.push(page.rows.map(({ entry }) => Number(entry.externalEventId)));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return read;
}

const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const ascending = (read: number[][]) => read.flat().sort((one, other) => one - other);

describe('a page of 50,000 review entries', () => {
  it.each([
    ['of a stage that hardly any has', { stage: 'identity' }, numbers(1, 30)],
    ['of a source that hardly any has', { source: 'till' }, numbers(11, 20)],
    ['of an event type that none has', { eventType: 'unknown' }, []],
    ['of a reason that most have', { status: 'open', reason: 'required', stage: 'identity' }, numbers(21, 30)],
  ] as const)('%s looks at 20,000 of them, and the next one goes on there', async (_which, filter, expected) => {
    const read = await pages(filter);
    expect(read).toHaveLength(3);
    expect(read.slice(0, 2)).toEqual([[], []]);
    expect(ascending(read)).toEqual(expected);

    const { at, id } = pageStart(undefined);
    const values = [tenantId, at, id, ...fitsValues(filter), LIMIT + 1, ROWS_LOOKED_AT_MAX];
    const { taken } = await rowsOfPlan(url, READ_OF_NEAREST, values);
    expect(taken).toBeLessThanOrEqual(ROWS_LOOKED_AT_MAX + 1);
  });

  it.each([
    ['reason', { reason: 'rare' }, numbers(1, 20)],
    ['status', { status: 'dismissed' }, numbers(1, 5)],
    ['reason and source', { status: 'open', reason: 'rare', source: 'till' }, numbers(11, 20)],
    ['reason that none has', { reason: 'unknown' }, []],
  ] as const)('finds the few entries of a %s by their index, in one page', async (_which, filter, expected) => {
    const read = await pages(filter);
    expect(read).toHaveLength(1);
    expect(ascending(read)).toEqual(expected);
    expect(ascending(await pages(filter, 3))).toEqual(expected);

    const { at, id } = pageStart(undefined);
    const { indexes } = await rowsOfPlan(url, READ_OF_FEW, [tenantId, at, id, ...fitsValues(filter), LIMIT + 1]);
    expect(indexes).toContain('review_entries_fields_idx');
  });

  it('costs what it shows where its entries are among the newest', async () => {
    for (const filter of [{}, { status: 'open' }, { reason: 'required' }] as const) {
      const { at, id } = pageStart(undefined);
      const values = [tenantId, at, id, ...fitsValues(filter), LIMIT + 1, ROWS_LOOKED_AT_MAX];
      const read = await rowsOfPlan(url, READ_OF_NEAREST, values);
      expect(read).toMatchObject({ shown: LIMIT + 1, indexes: ['review_entries_seen_idx'] });
      // Some more of the same time, which are sorted by their ids.
      expect(read.taken).toBeLessThanOrEqual(LIMIT + 1 + 40);
    }
  });

  it.each([{}, { status: 'open' }, { stage: 'validation' }] as const)('shows each entry once: %j', async (filter) => {
    const stored = await rowsOf(
      url,
      `SELECT count(*)::int AS count FROM review_entries
       WHERE tenant_id = $1 AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR stage = $3)`,
      [tenantId, 'status' in filter ? filter.status : null, 'stage' in filter ? filter.stage : null],
    );
    const read = (await pages(filter, 5_000)).flat();
    expect(stored).toEqual([{ count: read.length }]);
    expect(new Set(read).size).toBe(read.length);
  });
});

it.each([{}, { stage: 'identity' }, { stage: 'identity', reason: 'rare' }] as const)(
  'counts of 50,000 review entries read none of them, only their index: %j',
  async (filter) => {
    const values = [tenantId, 'open', LIMIT, ...filterParameters(filter)];
    expect(await kindsOfScans(url, COUNT_GROUPS, values)).toEqual([['Index Only Scan', 'review_entries_fields_idx']]);
  },
);
