import { randomUUID } from 'node:crypto';
import { INSERT_QUEUED_BUNDLES } from '../../src/ingest/store/event.sql';
import type { Statement } from '../../src/platform/postgres/statement';
import { PipelinedConnection } from '../../src/platform/postgres/pipelined-connection';
import { placeOf, workerUrls } from '../support/citus';
import { databaseOf, databaseUrl } from '../support/database';
import { aTenant } from '../support/tenant';

/** Of a plan that a session kept, Citus 13.2 kept some 20 KB more for each execution. */
const TRANSACTIONS = 300;
const GROWTH_MAX = 500_000;

const MEMORY: Statement = {
  name: 'test_memory',
  text: 'SELECT sum(total_bytes)::float8 AS bytes FROM pg_backend_memory_contexts',
};

it(`a session of a hot path takes no more memory after ${TRANSACTIONS} transactions`, async () => {
  const url = await databaseUrl();
  const { tenantId } = await aTenant(url);
  const { port } = await placeOf(url, tenantId);
  const nodes = await workerUrls(databaseOf(url));
  const connection = new PipelinedConnection(
    { url: nodes.find((node) => new URL(node).port === String(port))!, isDistributed: true, isOneWorkspace: true },
    { applicationName: 'test-memory', lockTimeoutMs: 1_000, statementTimeoutMs: 5_000 },
  );
  const bytesAfter = async (transactions: number): Promise<number> => {
    for (let turn = 0; turn < transactions; turn += 1) {
      await connection.transaction((open) => {
        open.sendLast(INSERT_QUEUED_BUNDLES, [randomUUID(), [tenantId], [1]]);
        return Promise.resolve();
      });
    }
    return (await connection.query<{ bytes: number }>(MEMORY, []))[0]!.bytes;
  };
  try {
    const before = await bytesAfter(50);
    expect((await bytesAfter(TRANSACTIONS)) - before).toBeLessThan(GROWTH_MAX);
  } finally {
    await connection.close();
  }
});
