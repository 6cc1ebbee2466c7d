import { runMigrations } from 'graphile-worker';
import type { ConnectionSettings } from '../database/connection-settings';
import { jobLogger } from './job-logger';

/** The job library's tables, and the heartbeats beside them, have a schema of their own. */
export const JOBS_SCHEMA = 'cds_jobs';

/** Brings the job library's tables up to date; to be called under the lock of all migrations. */
export async function migrateJobs({ url }: ConnectionSettings): Promise<void> {
  await runMigrations({ connectionString: url, schema: JOBS_SCHEMA, logger: jobLogger(() => undefined) });
}
