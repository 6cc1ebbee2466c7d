import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/database/embedded-postgres';
import { migrate } from '../../src/platform/database/migrate';
import { watchLogsIn } from './log-watch';
import { TEMPLATE_DATABASE, urlOf } from './database';

declare global {
  var embeddedPostgres:
    { readonly server: EmbeddedPostgres; readonly dataDir: string; readonly logs: string } | undefined;
}

/** One real PostgreSQL for all test files, with a migrated template that every worker clones. */
export default async function setUp(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'cds-test-'));
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  const logs = await mkdtemp(join(tmpdir(), 'cds-test-logs-'));
  watchLogsIn(logs);
  globalThis.embeddedPostgres = { server, dataDir, logs };
  process.env['TEST_POSTGRES_URL'] = server.url;
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
  await client.end();
  await migrate({ url: urlOf(TEMPLATE_DATABASE) });
}
