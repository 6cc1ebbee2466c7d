import { setTimeout as wait } from 'node:timers/promises';
import type { Client, ClientBase } from 'pg';
import { DataSource } from 'typeorm';
import { areJobsMigrated, migrateJobs, pendingJobsMigrations } from '../../jobs/jobs-schema';
import { applySessionSettings, databaseOptions, UNLIMITED_SESSION } from '../database-options';
import type { ConnectionSettings } from '../connection-settings';
import type { Row, RunStatement, Statement } from '../statement';
import { SteadyClient } from '../steady-client';
import { sqlStateOf } from '../database-errors';
import { MIGRATIONS } from '../migrations';

const LOOK_AGAIN_MS = 100;
/** A look whose answer is lost ends, so that a start that waits for migrations looks again, and can be stopped in time. */
const ANSWER_MS_MAX = 4_000;
/** Any number that no other program uses on the same database. */
export const MIGRATION_LOCK = 7_239_641_105;

/** The number of migrations of this version that have not run, those of the job library included: they run last. */
export async function pendingMigrationsOf(connection: ConnectionSettings): Promise<number> {
  return asking(connection, async (ask) => (await pendingMigrations(ask)) + (await pendingJobsMigrations(ask)));
}

/** For commands that only look. Throws where migrations are pending. */
export async function assertMigrated(connection: ConnectionSettings): Promise<void> {
  const pending = await pendingMigrationsOf(connection);
  if (pending === 0) return;
  throw new Error(
    `The database has an older schema: ${pending} migrations of this version are pending, and this command runs none. Use the version of the running service, or run npm run migrate.`,
  );
}

/** Migrates the schema, unless nothing is left to do, as at most starts: to find that out takes three statements. */
export async function ensureMigrated(connection: ConnectionSettings): Promise<void> {
  const isMigrated = await asking(
    connection,
    async (ask) => (await pendingMigrations(ask)) === 0 && (await areJobsMigrated(ask)),
  );
  if (!isMigrated) await migrate(connection);
}

async function asking<Result>(
  { url }: ConnectionSettings,
  work: (ask: RunStatement) => Promise<Result>,
): Promise<Result> {
  const client = new SteadyClient({
    connectionString: url,
    application_name: 'cds-migrations',
    connectionTimeoutMillis: ANSWER_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
  });
  await client.connect();
  try {
    return await work(async ({ text }) => (await client.query<Row>(text)).rows);
  } finally {
    await client.end();
  }
}

/**
 * Migrates the schema to this version. When several processes start at once, one runs the migrations and the others wait.
 * Each migration is a transaction, so a failed one changes nothing; or it works in steps, each of which may be repeated.
 */
export async function migrate(connection: ConnectionSettings): Promise<void> {
  const source = new DataSource({
    ...databaseOptions(connection),
    extra: {
      Client: SteadyClient,
      application_name: 'cds-migrations',
      // Migrations may build large indexes.
      onConnect: (client: ClientBase) => applySessionSettings(client, UNLIMITED_SESSION),
    },
  });
  await source.initialize();
  try {
    const lock = source.createQueryRunner();
    // A session lock, the only advisory lock of the service. It ends with the connection, also after a kill.
    while (!(await isTaken((text, values) => lock.query(text, [...values])))) await wait(LOOK_AGAIN_MS);
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

/** Runs `work` while no process migrates the schema, nor does any other work of this kind. */
export async function withMigrationLock<T>(client: Client, work: () => Promise<T>): Promise<T> {
  const ask = async (text: string, values: readonly unknown[]): Promise<unknown> =>
    (await client.query(text, [...values])).rows;
  while (!(await isTaken(ask))) await wait(LOOK_AGAIN_MS);
  try {
    return await work();
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  }
}

/** Polls, because CREATE INDEX CONCURRENTLY waits for every running statement, also for one that waits for this lock. */
async function isTaken(ask: (text: string, values: readonly unknown[]) => Promise<unknown>): Promise<boolean> {
  const rows = await ask('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK]);
  const [row] = rows as { readonly taken: boolean }[];
  return row?.taken === true;
}

/** TypeORM's table of migrations that have run. */
const DONE_MIGRATIONS: Statement = { name: 'done_migrations', text: 'SELECT name FROM migrations' };
const UNDEFINED_TABLE = '42P01';

/** The number of migrations of this version that have not run on the database. Migrations of a newer version do not count. */
export async function pendingMigrations(ask: RunStatement): Promise<number> {
  const done = new Set((await doneMigrations(ask)).map(({ name }) => name));
  return MIGRATIONS.filter(({ name }) => !done.has(name)).length;
}

async function doneMigrations(ask: RunStatement): Promise<readonly Row[]> {
  try {
    return await ask(DONE_MIGRATIONS);
  } catch (error) {
    // No migration has run on this database.
    if (sqlStateOf(error) === UNDEFINED_TABLE) return [];
    throw error;
  }
}
