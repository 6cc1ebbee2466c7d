import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { oneWorkspaceStatement } from '../../src/platform/postgres/one-workspace';
import { onShard } from '../../src/platform/postgres/shard-names';
import type { Statement } from '../../src/platform/postgres/statement';
import * as identity from '../../src/identity/profile.sql';
import * as expiry from '../../src/ingest/expiry/event-expiry.sql';
import * as ingest from '../../src/ingest/store/event.sql';
import * as recording from '../../src/review/recording.sql';
import * as queue from '../../src/ingest/queue/event-queue.sql';
import * as processing from '../../src/processing/processing.sql';
import * as waiting from '../../src/processing/waiting-events.sql';
import * as backfill from '../../src/reactions/backfill/backfill.sql';
import * as history from '../../src/runtime/history.sql';
import * as state from '../../src/runtime/state.sql';
import * as changes from '../../src/webhooks/change.sql';
import * as deliveries from '../../src/webhooks/delivery/delivery.sql';
import { workerUrls } from '../support/citus';
import { databaseOf, databaseUrl, withClient } from '../support/database';
import { HOT_STATEMENTS } from '../support/hot-statements';

/** They look for workspaces that have something to do, shard by shard, on connections to the nodes. */
const BY_SHARD: readonly Statement[] = [
  queue.FIND_PARTITIONS,
  queue.FIND_WORKSPACES_WITH_BUNDLES,
  changes.FIND_CHANGED_WORKSPACES,
  deliveries.FIND_ENDPOINTS,
];
/** Asks all nodes, once in a while. */
const OF_ALL_WORKSPACES = [waiting.NEXT_WAITING_TENANT].map(({ name }) => name);
/** Others do the same there in several statements. */
const NOT_USED = [...BY_SHARD, queue.PROCESS_BUNDLES, ingest.INSERT_QUEUE_ENTRIES].map(({ name }) => name);
/** Their values are computed from each other, which VALUES does not do: the coordinator reads, and hands the rows on. */
const BY_COORDINATOR = [
  backfill.MARK,
  expiry.RECORD_EXPIRED,
  history.INSERT_ALIKE_CHANGES,
  history.INSERT_CHANGES,
  identity.INSERT_MERGES,
  queue.RESTORE_ENTRIES,
  queue.INSERT_PROCESSING,
  queue.UPDATE_PROCESSING,
  waiting.ADD_WAITING,
  processing.COUNT_PROCESSED,
  processing.PARK_ENTRIES,
  changes.INSERT_WEBHOOK_CHANGES,
  recording.WRITE_ENTRIES,
  recording.WRITE_ENTRIES_ONCE,
].map(({ name }) => name);

/** The coordinator runs their parts one after the other, which it cannot explain. */
const IN_PARTS = [backfill.MARK_WINDOW, deliveries.ADD_AGAIN, deliveries.ADD_CHANGES, deliveries.ADD_DELIVERIES].map(
  ({ name }) => name,
);
/** The same, where each part is a statement for the node of the workspace. */
const IN_EXPLAINED_PARTS = [expiry.REMOVE_EVENTS].map(({ name }) => name);

/** How the cluster would run a statement for one workspace. Parameters that are no id are null. */
async function planOf(client: Client, text: string): Promise<string> {
  await client.query(`PREPARE hot AS ${text}`);
  try {
    const { rows: types } = await client.query<{ type: string }>(
      `SELECT unnest(parameter_types)::text AS type FROM pg_prepared_statements WHERE name = 'hot'`,
    );
    const tenantId = randomUUID();
    const values = types.map(({ type }) => (type === 'uuid' ? `'${tenantId}'` : 'NULL'));
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN EXECUTE hot${values.length > 0 ? `(${values.join(', ')})` : ''}`,
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } finally {
    await client.query('DEALLOCATE hot');
  }
}

function named(statements: readonly Statement[]): (readonly [string, Statement])[] {
  return statements.map((each) => [each.name, each] as const);
}

describe('the statements of the hot path on a cluster', () => {
  const skipped = new Set([...NOT_USED, ...IN_PARTS]);

  it.each(named(HOT_STATEMENTS).filter(([name]) => !skipped.has(name)))(
    '%s runs on the node of its workspace',
    async (name, statement) => {
      const plan = await withClient(await databaseUrl(), (client) =>
        planOf(client, oneWorkspaceStatement(statement).text),
      );
      expect(plan).toMatch(/Citus/);
      if (BY_COORDINATOR.includes(name)) expect(plan).toMatch(/INSERT \.\.\. SELECT/);
      else if (!OF_ALL_WORKSPACES.includes(name)) expect(plan).toMatch(/Task Count: 1$/m);
      if (!IN_EXPLAINED_PARTS.includes(name)) expect(plan).not.toMatch(/Distributed Subplan/);
    },
  );

  // Its table has no partition until a service starts.
  const ofTables = HOT_STATEMENTS.filter((statement) => statement !== state.FIND_OUTCOMES);

  it.each(named(ofTables))('%s runs on a shard without Citus', async (_name, { text }) => {
    const names = await shardNames(await databaseUrl());
    const [workerUrl = ''] = await workerUrls(databaseOf(await databaseUrl()));
    const plan = await withClient(workerUrl, async (client) => {
      // As a session plans them there. Otherwise the nulls would be planned with.
      await client.query('SET plan_cache_mode = force_generic_plan');
      return planOf(client, onShard(text, names));
    });
    expect(plan).toMatch(/_\d{6}\b/);
    expect(plan).not.toMatch(/Citus/);
  });
});

/** The names of the shards of the first worker node, by their tables. */
async function shardNames(url: string): Promise<Map<string, string>> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string; shard: string }>(
      `SELECT DISTINCT ON (1) table_name::text AS name, shard_name AS shard FROM citus_shards
       WHERE nodeport = (SELECT min(nodeport) FROM pg_dist_node WHERE groupid <> 0) ORDER BY 1, shardid`,
    );
    return new Map(rows.map(({ name, shard }) => [name, shard]));
  });
}
