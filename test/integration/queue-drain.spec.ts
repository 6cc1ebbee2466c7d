import type { INestApplicationContext } from '@nestjs/common';
import type { Statement, Transaction } from '../../src/platform/database/pipelined-connection';
import { eventIdOf } from '../../src/ingest/domain/event-id';
import { IngestService } from '../../src/ingest/ingest.service';
import { ProcessingFigures } from '../../src/processing/processing-figures';
import { freshDatabaseUrl, withClient } from '../support/database';
import { aCaller, aCheckedEvent, external, startNode } from '../support/ingest';
import { appliedTo, prepareEffects, recordEffects, rowsOf, startWorker, untilDrained } from '../support/processing';
import { aTenant } from '../support/tenant';

const NODES = 2;
const CONCERNED: Statement = {
  name: 'test_concerned',
  text: 'SELECT tenant_id FROM test_concerned WHERE tenant_id = ANY($1::uuid[])',
};

let url: string;
let nodes: INestApplicationContext[];
let afterLooking: (tenantIds: readonly string[]) => Promise<void> = () => Promise.resolve();

beforeAll(async () => {
  url = await freshDatabaseUrl('drain');
  await prepareEffects(url);
  await withClient(url, (client) => client.query('CREATE TABLE test_concerned (tenant_id uuid PRIMARY KEY)'));
  nodes = await Promise.all(Array.from({ length: NODES }, () => startNode(url)));
  for (const node of nodes) {
    const effect = recordEffects(node);
    effect.concerned = async (transaction: Transaction, tenantIds: readonly string[]) => {
      const rows = await transaction.send<{ tenant_id: string }>(CONCERNED, [tenantIds]);
      await afterLooking(tenantIds);
      return new Set(rows.map((row) => row.tenant_id));
    };
    startWorker(node);
  }
});

afterAll(() => Promise.all(nodes.map((node) => node.close())));

/** Names are `sender/customer`. */
const customerOf = (name: string): string => name.split('/')[1] ?? name;

async function send(tenantId: string, names: readonly string[], node = 0): Promise<void> {
  const events = names.map((name) =>
    aCheckedEvent({ externalEventId: name, identifiers: [external(customerOf(name))] }),
  );
  const results = await nodes[node]!.get(IngestService).ingestAll(aCaller(tenantId), events, { dryRun: false });
  expect(results.map(({ status }) => status)).toEqual(names.map(() => 'accepted'));
}

const queued = (tenantId: string) => rowsOf(url, 'SELECT 1 FROM event_queue WHERE tenant_id = $1', [tenantId]);

/** Events that are through at their first attempt, without anything done. */
const recordsOf = (tenantId: string) =>
  rowsOf(
    url,
    `SELECT count(*)::int AS events, count(processed_at)::int AS times FROM event_processing
     WHERE tenant_id = $1 AND state = 'processed' AND attempts = 1 AND last_error IS NULL AND reactions = '[]'`,
    [tenantId],
  );

const namesOf = (prefix: string, count: number) => Array.from({ length: count }, (_unused, at) => `${prefix}/${at}`);

describe('events of workspaces in which nothing is done with them', () => {
  it('leave the queue processed, each once, without being read', async () => {
    const tenants = await Promise.all(Array.from({ length: 5 }, () => aTenant(url)));
    await Promise.all(
      tenants.flatMap(({ tenantId }) => [0, 1].map((node) => send(tenantId, namesOf(`n${node}`, 500), node))),
    );
    for (const { tenantId } of tenants) {
      await untilDrained(url, tenantId);
      expect(await recordsOf(tenantId)).toEqual([{ events: 1_000, times: 1_000 }]);
      expect(await appliedTo(url, tenantId)).toEqual([]);
      expect(await nodes[0]!.get(ProcessingFigures).summary(tenantId)).toMatchObject({
        ...{ queued: 0, oldestQueuedAt: null, processedLastMinute: 1_000, failed: 0 },
      });
    }
  });

  it('stay where somebody else holds their place, and go when it is free', async () => {
    const { tenantId } = await aTenant(url);
    await send(tenantId, ['1/one']);
    await untilDrained(url, tenantId);
    await withClient(url, async (client) => {
      await client.query('BEGIN');
      await client.query('SELECT 1 FROM queue_leases WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
      await send(tenantId, ['2/one']);
      const another = await aTenant(url);
      await send(another.tenantId, ['1/other']);
      await untilDrained(url, another.tenantId);
      expect(await queued(tenantId)).toHaveLength(1);
      await client.query('ROLLBACK');
    });
    await untilDrained(url, tenantId);
  });
});

describe('a record that somebody else has locked', () => {
  it('holds up no other workspace, and its own no longer than the lock', async () => {
    const [held, other] = [await aTenant(url), await aTenant(url)];
    await withClient(url, async (client) => {
      const eventId = eventIdOf(held.tenantId, 'shop', '1/one');
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO event_processing (tenant_id, event_id, state, attempts, reactions) VALUES ($1, $2, 'queued', 1, '[]')`,
        [held.tenantId, eventId],
      );
      await Promise.all([send(held.tenantId, ['1/one', '1/two']), send(other.tenantId, namesOf('1', 50), 1)]);
      await untilDrained(url, other.tenantId);
      expect((await queued(held.tenantId)).length).toBeGreaterThan(0);
      await client.query('ROLLBACK');
    });
    await untilDrained(url, held.tenantId);
    expect(await recordsOf(held.tenantId)).toEqual([{ events: 2, times: 2 }]);
  });
});

describe('an event that came in after something was to be done with events of its workspace', () => {
  it('is not drained by whoever had looked before that', async () => {
    const { tenantId } = await aTenant(url);
    const hasLooked = new Promise<void>((resolve) => {
      afterLooking = async (tenantIds) => {
        if (!tenantIds.includes(tenantId)) return;
        afterLooking = () => Promise.resolve();
        // Between the look and the draining, which would find the second event in the place that it holds.
        await rowsOf(url, 'INSERT INTO test_concerned VALUES ($1) RETURNING 1', [tenantId]);
        await send(tenantId, ['2/one']);
        resolve();
      };
    });
    await send(tenantId, ['1/one']);
    await hasLooked;
    await untilDrained(url, tenantId);
    expect(await appliedTo(url, tenantId)).toEqual(['1/one', '2/one']);
  });
});
