import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runMigrations, Logger, type LogFunctionFactory } from 'graphile-worker';
import type { ConnectionSettings } from '../postgres/connection-settings';
import type { RunStatement, Statement } from '../postgres/statement';
import { SteadyClient } from '../postgres/steady-client';
import { describeError } from '../errors/error-summary';

/** The job library's tables, and the heartbeats beside them, have a schema of their own. */
export const JOBS_SCHEMA = 'cds_jobs';

const FIND_SCHEMA: Statement = {
  name: 'jobs_find_schema',
  text: `SELECT to_regclass('${JOBS_SCHEMA}.migrations') IS NOT NULL AS is_there`,
};
const DONE_MIGRATIONS: Statement = { name: 'jobs_done_migrations', text: `SELECT id FROM ${JOBS_SCHEMA}.migrations` };

/** Migrates the job library's tables. The caller holds the lock of all migrations. */
export async function migrateJobs({ url }: ConnectionSettings): Promise<void> {
  await runMigrations({ connectionString: url, schema: JOBS_SCHEMA, logger: jobLogger(() => undefined) });
}

/**
 * Migrates the job library's tables up to one of its migrations, to load rows of that revision; `migrateJobs` does the rest.
 * The library itself can only run all of them. This reads its SQL files and records them as the library does.
 */
export async function migrateJobsTo({ url }: ConnectionSettings, revision: number): Promise<void> {
  if (revision === 0) return;
  const client = new SteadyClient({ connectionString: url, application_name: 'cds-migrations' });
  await client.connect();
  try {
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${JOBS_SCHEMA}`);
    await client.query(`CREATE TABLE IF NOT EXISTS ${JOBS_SCHEMA}.migrations (
      id int PRIMARY KEY, ts timestamptz DEFAULT now() NOT NULL, breaking boolean NOT NULL DEFAULT false)`);
    const { rows } = await client.query<{ id: number }>(`SELECT id FROM ${JOBS_SCHEMA}.migrations`);
    for (const { id, text } of await libraryMigrations()) {
      if (id > revision || rows.some((done) => done.id === id)) continue;
      // One simple query is one transaction.
      await client.query(`${text}\n; INSERT INTO ${JOBS_SCHEMA}.migrations (id) VALUES (${id})`);
    }
  } finally {
    await client.end();
  }
}

/** Whether exactly the job library's migrations have run. A table of a newer library is for the library to judge. */
export async function areJobsMigrated(ask: RunStatement): Promise<boolean> {
  const done = await doneMigrations(ask);
  const ofLibrary = (await migrationFiles()).map(idOf);
  return done.length === ofLibrary.length && ofLibrary.every((id) => done.includes(id));
}

/** The number of the job library's migrations that have not run. Those of a newer library do not count. */
export async function pendingJobsMigrations(ask: RunStatement): Promise<number> {
  const done = await doneMigrations(ask);
  return (await migrationFiles()).filter((file) => !done.includes(idOf(file))).length;
}

async function doneMigrations(ask: RunStatement): Promise<readonly unknown[]> {
  const [found] = await ask(FIND_SCHEMA);
  return found?.['is_there'] === true ? (await ask(DONE_MIGRATIONS)).map(({ id }) => id) : [];
}

async function libraryMigrations(): Promise<{ readonly id: number; readonly text: string }[]> {
  return Promise.all(
    (await migrationFiles()).map(async (file) => {
      const text = await readFile(file, 'utf8');
      return { id: idOf(file), text: text.replaceAll(':GRAPHILE_WORKER_SCHEMA', JOBS_SCHEMA) };
    }),
  );
}

async function migrationFiles(): Promise<readonly string[]> {
  const folder = join(dirname(require.resolve('graphile-worker/package.json')), 'sql');
  const names = (await readdir(folder)).filter((name) => /^\d+\.sql$/.test(name));
  return names.sort().map((name) => join(folder, name));
}

function idOf(file: string): number {
  return Number.parseInt(basename(file), 10);
}

type LogMeta = Parameters<ReturnType<LogFunctionFactory>>[2];

/**
 * Passes the job library's errors and warnings to `report`, without messages of errors, which may contain sensitive values.
 * Failed jobs are left out; `Jobs` logs them.
 */
export function jobLogger(report: (message: string) => void): Logger {
  return new Logger(() => (level, message, meta) => {
    const isProblem = (level as string) === 'error' || (level as string) === 'warning';
    if (isProblem && meta?.['failure'] !== true) report(lineOf(message, meta));
  });
}

function lineOf(message: string, meta: LogMeta): string {
  const error = meta?.['error'] ?? meta?.['fatalError'];
  return error === undefined ? message : describeError(error).line;
}
