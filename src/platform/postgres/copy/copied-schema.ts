import { DataSource } from 'typeorm';
import { migrateJobsTo } from '../../jobs/jobs-schema';
import { databaseOptions } from '../database-options';
import { MIGRATIONS } from '../migrations';
import { SteadyClient } from '../steady-client';
import type { CopyHeader } from './copy-format';

/**
 * Makes the schema that the copy was taken of, by the migrations that had run there. The rows then fit, and what later migrations
 * make of rows happens to these too.
 */
export async function makeSchemaOf(url: string, { migrations, jobsRevision }: CopyHeader): Promise<void> {
  const source = new DataSource({
    ...databaseOptions({ url }),
    migrations: MIGRATIONS.filter(({ name }) => migrations.includes(name)),
    extra: { Client: SteadyClient, statement_timeout: 0, application_name: 'cds-copy' },
  });
  await source.initialize();
  try {
    await source.runMigrations();
  } finally {
    await source.destroy();
  }
  await migrateJobsTo({ url }, jobsRevision);
}
