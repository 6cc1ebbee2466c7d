import { setTimeout as wait } from 'node:timers/promises';
import { DataSource, type QueryRunner } from 'typeorm';
import { migrateJobs } from '../../jobs/jobs-schema';
import { databaseOptions } from '../database-options';
import type { ConnectionSettings } from '../connection-settings';
import type { Row, Statement } from '../statement';
import { SteadyClient } from '../steady-client';
import { sqlStateOf } from '../database-errors';
import { MIGRATIONS } from '../migrations';

const LOOK_AGAIN_MS = 100;
/** Any number that no other program uses on the same database. */
export const MIGRATION_LOCK = 7_239_641_105;

/** How many migrations of this version have not run. */
export async function pendingMigrationsOf({ url }: ConnectionSettings): Promise<number> {
  const client = new SteadyClient({ connectionString: url, application_name: 'cds-migrations' });
  await client.connect();
  try {
    return await pendingMigrations(async ({ text }) => (await client.query<Row>(text)).rows);
  } finally {
    await client.end();
  }
}

/**
 * Brings the schema up to date. Of any number of processes starting at once one runs the migrations and the others wait
 * for it; each migration is a transaction, so that a failed one leaves the schema as it was.
 */
export async function migrate(connection: ConnectionSettings): Promise<void> {
  const source = new DataSource({
    ...databaseOptions(connection),
    // Without the limits of requests: migrations may rewrite tables.
    extra: { Client: SteadyClient, application_name: 'cds-migrations' },
  });
  await source.initialize();
  try {
    const lock = source.createQueryRunner();
    // A session lock (the one advisory lock there is): it is gone with the connection, also after a kill.
    while (!(await isTaken(lock))) await wait(LOOK_AGAIN_MS);
    try {
      await source.runMigrations();
      await migrateJobs(connection);
    } finally {
      await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      await lock.release();
    }
  } finally {
    await source.destroy();
  }
}

/** Asks instead of waiting in the server: CREATE INDEX CONCURRENTLY waits for every statement under way, also for one that waits. */
async function isTaken(lock: QueryRunner): Promise<boolean> {
  const rows: unknown = await lock.query('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK]);
  const [row] = rows as { readonly taken: boolean }[];
  return row?.taken === true;
}

/** TypeORM writes down there what has run. */
const DONE_MIGRATIONS: Statement = { name: 'done_migrations', text: 'SELECT name FROM migrations' };
const UNDEFINED_TABLE = '42P01';

/** Asks one statement of the database, and answers its rows. */
type RunStatement = (statement: Statement) => Promise<readonly Row[]>;

/** How many migrations of this version have not run on the database; those of a newer version do not count. */
export async function pendingMigrations(ask: RunStatement): Promise<number> {
  const done = new Set((await doneMigrations(ask)).map(({ name }) => name));
  return MIGRATIONS.filter(({ name }) => !done.has(name)).length;
}

async function doneMigrations(ask: RunStatement): Promise<readonly Row[]> {
  try {
    return await ask(DONE_MIGRATIONS);
  } catch (error) {
    // Nothing has ever run here.
    if (sqlStateOf(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}
