import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { READ_EVENTS_TO_ERASE } from '../../src/ingest/log/events-of-person';
import { timelineRange } from '../../src/ingest/log/timeline-range';
import { Timeline } from '../../src/ingest/log/timeline';
import { readTimeline, readTimelinePage } from '../../src/ingest/log/timeline.sql';
import { newId } from '../../src/platform/values/ids';
import { NIL_UUID } from '../../src/platform/values/uuid';
import { pageStart } from '../../src/platform/pagination/time-key';
import { freshDatabaseUrl, withClient } from '../support/database';
import { startNode } from '../support/ingest';
import { rowsOfPlan } from '../support/plans';

const EVENTS = 100_000;
const PAGE = 100;
/** Buffers of one page: the rows, and the inner pages of an index of any size. */
const BUFFERS_MAX = 2 * PAGE + 20;
/** Of one small event. */
const BYTES_MAX = 5_000;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

describe('a timeline of 100,000 events', () => {
  const tenantId = randomUUID();
  const [alone, root, member, other] = [newId(), newId(), newId(), newId()];
  let url: string;
  let node: INestApplicationContext;

  beforeAll(async () => {
    url = await freshDatabaseUrl('timeline');
    await withClient(url, async (client) => {
      // One customer of one profile, one of three, and other customers between them. Each third of a second holds three events.
      await client.query(
        `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
           profile_id, identity, properties, content_hash, batch_id)
         SELECT $1, gen_random_uuid(), 'external', CASE WHEN n % 50000 = 7 THEN 'rare' ELSE 'shop' END, n::text, 'purchase',
           '2026-01-01T00:00:00Z'::timestamptz + (n / 6) * interval '1 second', now(), ($2::uuid[])[1 + n % 4],
           '{}', '{}', '\\x00', gen_random_uuid()
         FROM generate_series(1, $3::int) n`,
        [tenantId, [alone, alone, root, member], 2 * EVENTS],
      );
      await client.query('UPDATE events SET profile_id = $1 WHERE profile_id = $2 AND external_event_id LIKE $3', [
        other,
        member,
        '%1',
      ]);
    });
    node = await startNode(url);
  });

  afterAll(() => node.close());

  it.each(['-infinity', '2026-01-01T04:00:00Z'])(
    'is erased in steps that read what they erase, behind %s',
    async (at) => {
      const read = await rowsOfPlan(url, READ_EVENTS_TO_ERASE, [tenantId, alone, at, NIL_UUID, PAGE]);
      expect(read).toEqual({ shown: PAGE, taken: PAGE, indexes: ['events_timeline_idx'] });
    },
  );

  /** The plan of one page, as the service reads it: with the filters of any list, or of small events without filters. */
  async function explain(
    profileIds: readonly string[],
    after: number,
    order: 'asc' | 'desc' = 'desc',
    { ofSmall = false } = {},
  ) {
    const keys = await withClient(url, (client) =>
      client.query<{ at: Date; id: string }>(
        `SELECT occurred_at AS at, event_id AS id FROM events WHERE tenant_id = $1 AND profile_id = ANY($2)
         ORDER BY occurred_at ${order}, event_id ${order} OFFSET $3 LIMIT 1`,
        [tenantId, profileIds, after],
      ),
    );
    const { startAt, startId, end } = timelineRange({ order, after: after === 0 ? undefined : keys.rows[0] });
    const range = [tenantId, startAt, startId, end];
    const [{ text }, values] = ofSmall
      ? [readTimelinePage(order, profileIds.length).ofSmall, [...range, ...profileIds, PAGE + 1, BYTES_MAX]]
      : [readTimeline(order, profileIds.length), [...range, null, null, PAGE + 1, PAGE + 1, ...profileIds]];
    return withClient(url, async (client) => {
      const explained = await client.query<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
        values,
      );
      return explained.rows.flatMap((row) => row['QUERY PLAN'].flatMap(({ Plan }) => nodesOf(Plan)));
    });
  }

  const buffersOf = ([top]: readonly PlanNode[]) =>
    (top?.['Shared Hit Blocks'] ?? 0) + (top?.['Shared Read Blocks'] ?? 0);
  const rowsReadBy = (nodes: readonly PlanNode[]) =>
    nodes.filter((each) => /Scan$/.test(each['Node Type']) && each['Index Name'] !== undefined);

  const eventsReadBy = (nodes: readonly PlanNode[]): number =>
    rowsReadBy(nodes)
      .filter((each) => each['Index Name'] === 'events_timeline_idx')
      .reduce((sum, each) => sum + each['Actual Rows'] * each['Actual Loops'], 0);

  it.each([
    ['of one profile', [alone], 'desc'],
    ['of one profile, oldest first', [alone], 'asc'],
    ['of three profiles', [root, member, other], 'desc'],
    ['of three profiles, oldest first', [root, member, other], 'asc'],
  ] as const)('%s: the thousandth page costs what the first costs, and nothing is sorted', async (_of, ids, order) => {
    await withClient(url, (client) => client.query('ANALYZE events'));
    for (const page of [0, 999]) {
      const nodes = await explain(ids, page * PAGE, order);
      expect(nodes.filter((each) => /Sort|Seq Scan|Bitmap/.test(each['Node Type']))).toEqual([]);
      const scans = rowsReadBy(nodes).filter((each) => each['Node Type'] !== 'Subquery Scan');
      expect(new Set(scans.map((each) => each['Index Name']))).toEqual(new Set(['events_timeline_idx']));
      expect(eventsReadBy(nodes)).toBeLessThanOrEqual(PAGE + 1 + ids.length);
      expect(buffersOf(nodes)).toBeLessThanOrEqual(BUFFERS_MAX);
      const small = await explain(ids, page * PAGE, order, { ofSmall: true });
      expect(small.filter((each) => /Sort|Bitmap/.test(each['Node Type']))).toEqual([]);
      expect(eventsReadBy(small)).toBeLessThanOrEqual(PAGE + 1 + ids.length);
    }
  });

  it.each(['asc', 'desc'] as const)('shows each event once in pages of any size (%s)', async (order) => {
    const ids = [root, member, other];
    const timeline = node.get(Timeline);
    const seen: string[] = [];
    for (let after: { at: Date; id: string } | undefined; ;) {
      const { events, nextCursor } = await timeline.page(tenantId, ids, { span: { order, after }, limit: 199 });
      seen.push(...events.map((event) => event.eventId));
      if (nextCursor === null || seen.length > 2_000) break;
      const last = events.at(-1);
      if (last !== undefined) after = { at: last.occurredAt, id: last.eventId };
    }
    const all = await withClient(url, (client) =>
      client.query<{ event_id: string }>(
        `SELECT event_id FROM events WHERE tenant_id = $1 AND profile_id = ANY($2)
         ORDER BY occurred_at ${order}, event_id ${order} LIMIT $3`,
        [tenantId, ids, seen.length],
      ),
    );
    expect(seen).toEqual(all.rows.map((row) => row.event_id));
  });

  it('finds rare events in pages that come short, each after a look at 20,000 rows', async () => {
    const timeline = node.get(Timeline);
    const found: number[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const after = cursor === undefined ? undefined : pageStart(cursor);
      const request = { span: { order: 'desc', after }, source: 'rare', limit: 10 } as const;
      const page = await timeline.page(tenantId, [member, other], request);
      found.push(page.events.length);
      cursor = page.nextCursor;
    }
    // They are 12,500 events apart from one another, and the last one is the customer's first event.
    expect(found).toEqual([1, 2, 1]);
  });

  it('counts a customer of 100,000 events in the index', async () => {
    const extent = await node.get(Timeline).extent(tenantId, [root, member, other]);
    expect(extent.events).toBe(EVENTS);
    expect(extent.firstAt).toEqual(new Date('2026-01-01T00:00:00Z'));
  });
});
