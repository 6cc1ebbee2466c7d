import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import { oneWorkspaceStatement } from '../../src/platform/postgres/one-workspace';
import * as identity from '../../src/identity/profile.sql';
import * as ingest from '../../src/ingest/store/event.sql';
import * as review from '../../src/review/review.sql';
import * as queue from '../../src/ingest/queue/event-queue.sql';
import * as processing from '../../src/processing/processing.sql';
import { databaseUrl, withClient } from '../support/database';
import { HOT_STATEMENTS } from '../support/hot-statements';

/** They look for workspaces that have something to do, and ask all nodes. */
const OF_ALL_WORKSPACES = [
  queue.FIND_PARTITIONS,
  queue.FIND_WORKSPACES_WITH_BUNDLES,
  processing.NEXT_WAITING_TENANT,
].map(({ name }) => name);
/** Others do the same there in several statements; the first one reads the coordinator. */
const NOT_USED = [
  queue.FIND_WORKSPACES,
  queue.PROCESS_BUNDLES,
  ingest.INSERT_QUEUE_ENTRIES,
  review.RECORD_ENTRIES,
  review.RECORD_ENTRIES_ONCE,
].map(({ name }) => name);
/** Their values are computed from each other, which VALUES does not do: the coordinator reads, and hands the rows on. */
const BY_COORDINATOR = [
  identity.INSERT_MERGES,
  identity.INSERT_PROFILES,
  queue.RESTORE_ENTRIES,
  queue.WRITE_PROCESSING,
  processing.ADD_WAITING,
  processing.COUNT_PROCESSED,
  processing.PARK_ENTRIES,
  review.WRITE_ENTRIES,
  review.WRITE_ENTRIES_ONCE,
].map(({ name }) => name);

/** How the cluster would run a statement for one workspace. Parameters that are no id are null. */
async function planOf(client: Client, text: string): Promise<string> {
  const parameters = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const values = Array.from({ length: parameters }, (_unused, index) =>
    new RegExp(`\\$${index + 1}::uuid(?!\\[)`).test(text) ? `'${randomUUID()}'` : 'NULL',
  );
  await client.query(`PREPARE hot AS ${text}`);
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN EXECUTE hot${values.length > 0 ? `(${values.join(', ')})` : ''}`,
    );
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  } finally {
    await client.query('DEALLOCATE hot');
  }
}

describe('the statements of the hot path on a cluster', () => {
  it.each(HOT_STATEMENTS.filter(({ name }) => !NOT_USED.includes(name)).map((each) => [each.name, each] as const))(
    '%s runs on the node of its workspace',
    async (name, statement) => {
      const plan = await withClient(await databaseUrl(), (client) =>
        planOf(client, oneWorkspaceStatement(statement).text),
      );
      expect(plan).toMatch(/Citus/);
      expect(plan).not.toMatch(/Distributed Subplan/);
      if (BY_COORDINATOR.includes(name)) expect(plan).toMatch(/INSERT \.\.\. SELECT/);
      else if (!OF_ALL_WORKSPACES.includes(name)) expect(plan).toMatch(/Task Count: 1$/m);
    },
  );
});
