import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/platform/postgres/embedded/embedded-postgres';
import { migrate } from '../../src/platform/postgres/schema/migrate';
import { makeCitusTemplate, usesCitus } from './citus';
import { watchLogsIn } from './log-watch';
import { TEMPLATE_DATABASE, urlOf } from './database';

declare global {
  var embeddedPostgres:
    { readonly server: EmbeddedPostgres; readonly dataDir: string; readonly logs: string } | undefined;
}

/**
 * This server loses its data when the machine goes down, which does no harm. What must survive that is tested on servers
 * with the settings of the service (test/faults, embedded-postgres.spec.ts). Nor does it tidy up behind tests: what a plan or
 * a count rests on is not to depend on when that happens.
 */
const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_compression: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum: 'off',
  // Dropping a database looks through all of it.
  shared_buffers: '256MB',
  // A worker of Jest may run five services at a time, each with up to 26.
  max_connections: '500',
};

/** When the newest file below a folder was changed. */
async function changedAt(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  // Not what commands write: metadata.ts, and the schema of configuration files.
  const files = entries.filter(({ name }) => name.endsWith('.ts') && name !== 'metadata.ts');
  const times = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).mtimeMs),
  );
  return Math.max(...times);
}

/** Tests of commands and of whole processes run what is built. */
async function warnOfOldBuild(): Promise<void> {
  const root = join(__dirname, '..', '..');
  const built = await stat(join(root, 'dist', 'cds.js')).catch(() => undefined);
  if (built !== undefined && built.mtimeMs >= (await changedAt(join(root, 'src')))) return;
  process.stderr.write('dist/ is older than src/, and tests of whole processes run it: npm run build\n');
}

/** One real PostgreSQL for all test files, with a migrated template that spec files clone. */
export default async function setUp(): Promise<void> {
  const hasNoBrowser = process.env['CHROMIUM_PATH'] === undefined && process.env['CI'] !== 'true';
  if (hasNoBrowser && process.env['SYSTEM_TESTS'] !== 'apart') {
    process.stderr.write(
      'No Chromium was found, so test/browser is skipped. Install chromium, or set CHROMIUM_PATH.\n',
    );
  }
  await warnOfOldBuild();
  const dataDir = await mkdtemp(join(tmpdir(), 'cds-test-'));
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined, settings: SETTINGS });
  const logs = await mkdtemp(join(tmpdir(), 'cds-test-logs-'));
  watchLogsIn(logs);
  globalThis.embeddedPostgres = { server, dataDir, logs };
  process.env['TEST_POSTGRES_URL'] = server.url;
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
  await client.end();
  await migrate({ url: urlOf(TEMPLATE_DATABASE) });
  if (usesCitus) await makeCitusTemplate(TEMPLATE_DATABASE);
}
