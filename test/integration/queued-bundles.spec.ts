import type { INestApplicationContext } from '@nestjs/common';
import { BundleRetention } from '../../src/ingest/queue/bundle-retention';
import { EventReader } from '../../src/ingest/log/event-reader';
import { EventViews } from '../../src/ingest/log/event-views';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { Clock } from '../../src/platform/values/clock';
import type { Statement } from '../../src/platform/postgres/statement';
import { firstIdAt } from '../../src/platform/values/ids';
import { QueueStatistics } from '../../src/processing/queue-statistics';
import { freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { aCaller, aSubmission, external, startNode } from '../support/ingest';
import { appliedTo, CONCERNED, prepareEffects, recordEffects, startWorker, untilDrained } from '../support/processing';
import { aTenant } from '../support/tenant';
import { setAhead } from '../support/test-clock';
import { until } from '../support/until';

const NODES = 2;
const NOTHING: Statement = {
  name: 'test_nothing',
  text: 'SELECT u.position FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, event_type, position) WHERE false',
};

let url: string;
let nodes: INestApplicationContext[];
let figures: QueueStatistics;

beforeAll(async () => {
  url = await freshDatabaseUrl('bundles');
  await prepareEffects(url);
  await rowsOf(url, 'CREATE TABLE test_concerned (tenant_id uuid, event_type text)');
  nodes = await Promise.all(Array.from({ length: NODES }, () => startNode(url)));
  figures = nodes[0]!.get(QueueStatistics);
  for (const node of nodes) recordEffects(node, CONCERNED);
});

afterAll(() => Promise.all(nodes.map((node) => node.close())));

const concern = (tenantId: string, eventType: string) =>
  rowsOf(url, 'INSERT INTO test_concerned VALUES ($1, $2)', [tenantId, eventType]);

/** Names are `type/number`. */
async function send(tenantId: string, names: readonly string[], node = 0): Promise<void> {
  const events = names.map((name) =>
    aSubmission({
      externalEventId: name,
      eventType: name.split('/')[0]!,
      identifiers: [external('jane')],
    }),
  );
  const results = await nodes[node]!.get(IngestPipeline).ingest(aCaller(tenantId), events, 'live');
  expect(results.map(({ status }) => status)).toEqual(names.map(() => 'accepted'));
}

const numbered = (type: string, count: number) => Array.from({ length: count }, (_unused, at) => `${type}/${at}`);

const entriesOf = (tenantId: string) =>
  rowsOf<{ alone: string[]; bundled: number }>(
    url,
    `SELECT ARRAY(SELECT external_event_id FROM event_queue q JOIN events e USING (tenant_id, event_id)
         WHERE tenant_id = $1 ORDER BY q.queued_at, q.position) AS alone,
       (SELECT coalesce(sum(events), 0)::int FROM queued_bundles WHERE tenant_id = $1) AS bundled`,
    [tenantId],
  );

// Until the workers start, in the order of this file, everything stays where it was put.
describe('before any worker has come', () => {
  it('events that somebody waits for are queued in their order, and all others by one entry a commit', async () => {
    const { tenantId } = await aTenant(url);
    await concern(tenantId, 'awaited');
    await send(tenantId, ['awaited/1', 'other/1', 'another/1', 'awaited/2']);
    expect(await entriesOf(tenantId)).toEqual([{ alone: ['awaited/1', 'awaited/2'], bundled: 2 }]);
    expect(await rowsOf(url, 'SELECT 1 FROM queued_bundles WHERE tenant_id = $1', [tenantId])).toHaveLength(1);
    expect(await figures.summary(tenantId)).toMatchObject({ queued: 4, oldestQueuedAt: expect.any(Date), failed: 0 });
  });

  it('an event meets whatever was to be done with its kind before it came in, on every node', async () => {
    const { tenantId } = await aTenant(url);
    await send(tenantId, ['late/0'], 1);
    await concern(tenantId, 'late');
    await Promise.all([send(tenantId, ['late/1'], 1), send(tenantId, ['late/2'], 0)]);
    const [entries] = await entriesOf(tenantId);
    expect({ ...entries, alone: entries?.alone.toSorted() }).toEqual({ alone: ['late/1', 'late/2'], bundled: 1 });
  });
});

describe('workers', () => {
  beforeAll(() => nodes.forEach(startWorker));

  it('work bundles off, each once, and call nobody for them', async () => {
    const tenants = await Promise.all(Array.from({ length: 5 }, () => aTenant(url)));
    await Promise.all(
      tenants.flatMap(({ tenantId }) => [0, 1].map((node) => send(tenantId, numbered(`n${node}`, 500), node))),
    );
    for (const { tenantId } of tenants) {
      await untilDrained(url, tenantId);
      const bundles = await rowsOf(
        url,
        `SELECT b.id FROM processed_bundles b WHERE tenant_id = $1
         EXCEPT SELECT queue_bundle_id FROM events WHERE tenant_id = $1`,
        [tenantId],
      );
      expect(bundles).toEqual([]);
      expect(await appliedTo(url, tenantId)).toEqual([]);
      expect(await figures.summary(tenantId)).toMatchObject({
        queued: 0,
        oldestQueuedAt: null,
        processedLastMinute: 1_000,
        failed: 0,
      });
    }
  });

  it('go by a bundle that somebody else holds, and take it when it is free', async () => {
    const [held, other] = [await aTenant(url), await aTenant(url)];
    await withClient(url, async (client) => {
      const hold = async () => {
        await client.query(`INSERT INTO queued_bundles VALUES ($1, gen_random_uuid(), clock_timestamp(), 1)`, [
          held.tenantId,
        ]);
        await client.query('BEGIN');
        const { rows } = await client.query(
          'SELECT 1 FROM queued_bundles WHERE tenant_id = $1 FOR UPDATE SKIP LOCKED',
          [held.tenantId],
        );
        if (rows.length === 0) await client.query('ROLLBACK');
        return rows.length > 0;
      };
      // The workers may have been quicker.
      await until(hold);
      await send(other.tenantId, numbered('any', 50), 1);
      await untilDrained(url, other.tenantId);
      expect((await entriesOf(held.tenantId))[0]?.bundled).toBe(1);
      await client.query('ROLLBACK');
    });
    await untilDrained(url, held.tenantId);
  });

  it('work off what a process without workers has queued', async () => {
    const { tenantId } = await aTenant(url);
    const api = await startNode(url);
    recordEffects(api, NOTHING);
    await api.get(IngestPipeline).ingest(aCaller(tenantId), [aSubmission()], 'live');
    await untilDrained(url, tenantId);
    await api.close();
  });

  it('call those who wait for their events in the order of receipt, with bundles between', async () => {
    const { tenantId } = await aTenant(url);
    await concern(tenantId, 'awaited');
    for (const name of ['awaited/1', 'other/1', 'awaited/2', 'other/2', 'awaited/3']) await send(tenantId, [name]);
    await until(async () => (await appliedTo(url, tenantId)).length === 3);
    expect(await appliedTo(url, tenantId)).toEqual(['awaited/1', 'awaited/2', 'awaited/3']);
    await untilDrained(url, tenantId);
    expect((await figures.summary(tenantId)).processedLastMinute).toBe(5);
  });
});

describe('events whose bundle was processed long ago', () => {
  const states = async (tenantId: string) => {
    const reader = nodes[0]!.get(EventReader);
    const shown: Record<string, number> = {};
    for (const state of ['queued', 'processed'] as const) {
      shown[state] = (await reader.list(tenantId, { state }, { order: 'desc' }, 200)).events.length;
    }
    return shown;
  };

  it('are processed for ever, also when the time of that is removed, and never queued again', async () => {
    const { tenantId } = await aTenant(url);
    await send(tenantId, numbered('old', 5));
    await send(tenantId, numbered('new', 3));
    await untilDrained(url, tenantId);
    const [old] = await rowsOf<{ id: string }>(
      url,
      `SELECT queue_bundle_id AS id FROM events WHERE tenant_id = $1 AND event_type = 'old' LIMIT 1`,
      [tenantId],
    );
    // Ids are of the time at which they were made.
    const moved = firstIdAt(new Date(Date.now() - 32 * 24 * 60 * 60 * 1000));
    await rowsOf(url, `UPDATE events SET queue_bundle_id = $2 WHERE tenant_id = $1 AND queue_bundle_id = $3`, [
      ...[tenantId, moved, old!.id],
    ]);
    await rowsOf(
      url,
      `UPDATE processed_bundles SET id = $2, processed_at = now() - interval '31 days' WHERE tenant_id = $1 AND id = $3`,
      [tenantId, moved, old!.id],
    );
    const before = await states(tenantId);
    while (await nodes[0]!.get(BundleRetention).step());
    expect(await rowsOf(url, 'SELECT id FROM processed_bundles WHERE tenant_id = $1', [tenantId])).toHaveLength(1);
    expect(before).toEqual({ queued: 0, processed: 8 });
    expect(await states(tenantId)).toEqual(before);
    const { events } = await nodes[0]!.get(EventReader).list(tenantId, {}, { order: 'desc' }, 200);
    const views = await nodes[0]!.get(EventViews).of(tenantId, events, { unmasked: true });
    for (const { eventType, processing } of views) {
      expect(processing).toMatchObject({ state: 'processed', attempts: 1, lastError: null });
      expect(processing.processedAt).toEqual(eventType === 'old' ? null : expect.any(String));
    }
  });

  it('are removed in bounded steps, in which those that are not old stay', async () => {
    const { tenantId } = await aTenant(url);
    const old = firstIdAt(new Date(Date.now() - 40 * 24 * 60 * 60 * 1000)).slice(0, 24);
    await rowsOf(
      url,
      `INSERT INTO processed_bundles SELECT $1, ($2 || lpad(i::text, 12, '0'))::uuid,
         now() - CASE WHEN i <= 2500 THEN interval '40 days' ELSE interval '1 day' END FROM generate_series(1, 2600) i`,
      [tenantId, old],
    );
    let steps = 1;
    setAhead(nodes[0]!, 60);
    while (await nodes[0]!.get(BundleRetention).step()) steps += 1;
    Reflect.deleteProperty(nodes[0]!.get(Clock), 'now');
    expect(steps).toBe(3);
    expect(await rowsOf(url, 'SELECT 1 FROM processed_bundles WHERE tenant_id = $1', [tenantId])).toHaveLength(100);
  });
});
