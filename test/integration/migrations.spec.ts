import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { databaseOptions } from '../../src/platform/postgres/database-options';
import {
  ensureMigrated,
  migrate,
  MIGRATION_LOCK,
  pendingMigrationsOf,
} from '../../src/platform/postgres/schema/migrate';
import { MIGRATIONS } from '../../src/platform/postgres/migrations';
import { messageOf } from '../../src/platform/errors/error-summary';
import { databaseOf, freshDatabaseUrl, rowsOf, urlOf, waitingForLocks, withClient } from '../support/database';
import { startFaultProxy } from '../support/fault-proxy';
import { until } from '../support/until';

/** Whatever a migration can change. */
function schemaOf(url: string): Promise<unknown[]> {
  return withClient(url, async (client) => {
    const columns = await client.query(
      `SELECT table_schema, table_name, column_name, data_type, is_nullable FROM information_schema.columns
       WHERE table_schema IN ('public', 'cds_jobs') ORDER BY 1, 2, 3`,
    );
    const indexes = await client.query(`SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`);
    const run = await client.query('SELECT name FROM migrations ORDER BY timestamp');
    return [columns.rows, indexes.rows, run.rows];
  });
}

class Half9999999999999 implements MigrationInterface {
  readonly name = 'Half9999999999999';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE workspaces ADD COLUMN half text');
    await runner.query('CREATE TABLE half (tenant_id uuid)');
    await runner.query('SELECT 1 / 0');
  }

  async down(): Promise<void> {
    // Never ran.
  }
}

it('of four processes that start at once on an empty database, one migrates, and once', async () => {
  const url = await freshDatabaseUrl('migrations', 'template1');
  await Promise.all([1, 2, 3, 4].map(() => migrate({ url })));
  const [, , run] = (await schemaOf(url)) as { name: string }[][];
  expect(run?.map(({ name }) => name)).toEqual(MIGRATIONS.map(({ name }) => name));
  const before = await schemaOf(url);
  await migrate({ url });
  expect(await schemaOf(url)).toEqual(before);
});

it('a migration that fails half way leaves the schema as it was, and the next start can go on from it', async () => {
  const url = await freshDatabaseUrl('failed_migration');
  const before = await schemaOf(url);
  const source = new DataSource({ ...databaseOptions({ url }), migrations: [...MIGRATIONS, Half9999999999999] });
  await source.initialize();
  await expect(source.runMigrations()).rejects.toThrow('division by zero');
  await source.destroy();
  expect(await schemaOf(url)).toEqual(before);
  await migrate({ url });
  expect(await schemaOf(url)).toEqual(before);
});

it('a process that waits for another one’s migrations does not hold up an index that is built beside the traffic', async () => {
  const url = await freshDatabaseUrl('concurrent_index');
  await withClient(url, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const waiting = migrate({ url });
    await new Promise((resolve) => setTimeout(resolve, 500));
    // Sooner than a person would notice: PostgreSQL would end one of the two as a deadlock.
    await client.query("SET statement_timeout = '5s'");
    await client.query('CREATE INDEX CONCURRENTLY beside_idx ON workspaces (created_at)');
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    await waiting;
  });
});

it('migrations take the time that they need, whatever limits the server or the role sets', async () => {
  const url = await freshDatabaseUrl('time_limits');
  await withClient(url, async (client) => {
    for (const limit of ['statement_timeout', 'lock_timeout', 'transaction_timeout']) {
      await client.query(`ALTER DATABASE ${databaseOf(url)} SET ${limit} = '300ms'`);
    }
    await client.query('BEGIN');
    // The table of TypeORM, which it reads first.
    await client.query('LOCK TABLE migrations IN ACCESS EXCLUSIVE MODE');
    const migrating = migrate({ url }).then(() => 'migrated', String);
    const waits = until(async () => {
      const [row] = await rowsOf<{ waits: boolean }>(
        urlOf('postgres'),
        `SELECT count(*) > 0 AS waits FROM pg_stat_activity WHERE datname = $1 AND application_name = 'cds-migrations'
           AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > '600ms'`,
        [databaseOf(url)],
      );
      return row?.waits === true;
    });
    expect(await Promise.race([migrating, waits.then(() => 'still waits')])).toBe('still waits');
    await client.query('ROLLBACK');
    expect(await migrating).toBe('migrated');
  });
});

it('a start on a migrated database waits for no process that migrates', async () => {
  const url = await freshDatabaseUrl('migrated');
  await withClient(url, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await ensureMigrated({ url });
  });
});

it('a look for pending migrations ends when its answer is lost, so that a start that waits for them looks again', async () => {
  const url = await freshDatabaseUrl('lost_look');
  const proxy = await startFaultProxy(url);
  try {
    const look = (): Promise<number> => pendingMigrationsOf({ url: proxy.urlOf(databaseOf(url)) });
    const connecting = proxy.holdConnection(0);
    await expect(look()).rejects.toThrow(/timeout/);
    await connecting;
    await withClient(url, async (client) => {
      await client.query('BEGIN');
      await client.query('LOCK TABLE migrations');
      const lost = look().then(String, messageOf);
      await until(async () => (await waitingForLocks(url)) > 0);
      proxy.fallSilent();
      await client.query('COMMIT');
      expect(await lost).toMatch(/timeout/);
    });
    expect(await look()).toBe(0);
  } finally {
    await proxy.close();
  }
});

it('a start that migrates nothing waits for the tables of jobs too, which a killed migration has not come to', async () => {
  const url = await freshDatabaseUrl('no_jobs');
  expect(await pendingMigrationsOf({ url })).toBe(0);
  await rowsOf(url, 'INSERT INTO cds_jobs.migrations (id) VALUES (999999)');
  expect(await pendingMigrationsOf({ url })).toBe(0);
  await rowsOf(url, 'DELETE FROM cds_jobs.migrations WHERE id IN (1, 2, 999999)');
  expect(await pendingMigrationsOf({ url })).toBe(2);
  await rowsOf(url, 'DROP TABLE cds_jobs.migrations');
  expect(await pendingMigrationsOf({ url })).toBeGreaterThan(2);
});

it('a start makes up for whatever is missing: everything, the newest migration, or the tables of jobs', async () => {
  const url = await freshDatabaseUrl('partly_migrated', 'template1');
  await ensureMigrated({ url });
  const whole = await schemaOf(url);
  const source = new DataSource(databaseOptions({ url }));
  await source.initialize();
  await source.undoLastMigration();
  await source.destroy();
  expect(await schemaOf(url)).not.toEqual(whole);
  await ensureMigrated({ url });
  expect(await schemaOf(url)).toEqual(whole);
  const withoutJobs = await freshDatabaseUrl('without_jobs', 'template1');
  const other = new DataSource(databaseOptions({ url: withoutJobs }));
  await other.initialize();
  await other.runMigrations();
  await other.destroy();
  expect(await schemaOf(withoutJobs)).not.toEqual(whole);
  await ensureMigrated({ url: withoutJobs });
  expect(await schemaOf(withoutJobs)).toEqual(whole);
});
