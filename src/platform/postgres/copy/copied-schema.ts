import type { ClientBase } from 'pg';
import { DataSource } from 'typeorm';
import { migrateJobsTo } from '../../jobs/jobs-schema';
import { applySessionSettings, databaseOptions, UNLIMITED_SESSION } from '../database-options';
import { MIGRATIONS } from '../migrations';
import { SteadyClient } from '../steady-client';
import type { CopyHeader } from './copy-format';

/**
 * Creates the schema of the copied database by the migrations that had run there. The rows then fit, and later migrations
 * change them as usual.
 */
export async function makeSchemaOf(url: string, { migrations, jobsRevision }: CopyHeader): Promise<void> {
  const source = new DataSource({
    ...databaseOptions({ url }),
    migrations: MIGRATIONS.filter(({ name }) => migrations.includes(name)),
    extra: {
      Client: SteadyClient,
      application_name: 'cds-copy',
      onConnect: (client: ClientBase) => applySessionSettings(client, UNLIMITED_SESSION),
    },
  });
  await source.initialize();
  try {
    await source.runMigrations();
  } finally {
    await source.destroy();
  }
  await migrateJobsTo({ url }, jobsRevision);
}
