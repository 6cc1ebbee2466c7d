import { randomUUID } from 'node:crypto';
import { INSERT_QUEUED_BUNDLES } from '../../src/ingest/store/event.sql';
import { connectionToNode } from '../../src/platform/postgres/distribution/node-connections';
import { WorkspaceNodes } from '../../src/platform/postgres/distribution/workspace-nodes';
import type { Statement } from '../../src/platform/postgres/statement';
import { PipelinedConnection } from '../../src/platform/postgres/pipelined-connection';
import { databaseUrl } from '../support/database';
import { aTenant } from '../support/tenant';

const OPTIONS = { applicationName: 'test-memory', lockTimeoutMs: 1_000, statementTimeoutMs: 5_000 };
/** Of a plan that a session kept, Citus 13.2 kept some 20 KB more for each execution. */
const TRANSACTIONS = 300;
const GROWTH_MAX = 500_000;

const MEMORY: Statement = {
  name: 'test_memory',
  text: 'SELECT sum(total_bytes)::float8 AS bytes FROM pg_backend_memory_contexts',
};

it.each([
  ['by Citus', false],
  ['to a shard', true],
])(`a session of a hot path takes no more memory after ${TRANSACTIONS} transactions %s`, async (_name, isToShard) => {
  const url = await databaseUrl();
  const { tenantId } = await aTenant(url);
  const settings = { url, isDistributed: true, isOneWorkspace: true };
  const nodes = new WorkspaceNodes(settings);
  const onNode = { ...settings, url: await nodes.of(tenantId) };
  const connection = isToShard ? connectionToNode(onNode, nodes, OPTIONS) : new PipelinedConnection(onNode, OPTIONS);
  const bytesAfter = async (transactions: number): Promise<number> => {
    for (let turn = 0; turn < transactions; turn += 1) {
      await connection.transaction(
        (open) => {
          open.sendLast(INSERT_QUEUED_BUNDLES, [randomUUID(), [tenantId], [1]]);
          return Promise.resolve();
        },
        [{ tenantId }],
      );
    }
    return (await connection.query<{ bytes: number }>(MEMORY, [], [{ tenantId }]))[0]!.bytes;
  };
  try {
    expect(connection.shardOf(tenantId) !== undefined).toBe(isToShard);
    const before = await bytesAfter(50);
    expect((await bytesAfter(TRANSACTIONS)) - before).toBeLessThan(GROWTH_MAX);
  } finally {
    await connection.close();
    await nodes.beforeApplicationShutdown();
  }
});
