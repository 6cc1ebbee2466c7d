import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { databaseOptions } from '../../src/platform/postgres/database-options';
import { MIGRATIONS } from '../../src/platform/postgres/migrations';
import { migrate } from '../../src/platform/postgres/schema/migrate';
import { databaseUrl, freshDatabaseUrl, withClient } from '../support/database';
import { startNode } from '../support/ingest';

describe('the schema', () => {
  it('is what the entities say: nothing would have to be changed', async () => {
    const node: INestApplicationContext = await startNode(await databaseUrl());
    try {
      const { upQueries } = await node.get(DataSource).driver.createSchemaBuilder().log();
      expect(upQueries.map(({ query }) => query)).toEqual([]);
    } finally {
      await node.close();
    }
  });

  it('puts the workspace first in every key, and names every constraint', async () => {
    const keys = await withClient(await databaseUrl(), (client) =>
      client.query<{ name: string; columns: string[] }>(
        `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY k.place) AS columns
         FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
           JOIN pg_namespace n ON n.oid = t.relnamespace
           CROSS JOIN unnest(i.indkey) WITH ORDINALITY k (attribute, place)
           JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attribute
         WHERE n.nspname = 'public' AND t.relname <> 'migrations' AND i.indisunique
         GROUP BY c.relname ORDER BY c.relname`,
      ),
    );
    const others = keys.rows.filter(({ columns }) => columns[0] !== 'tenant_id').map(({ name }) => name);
    // These are how a workspace is found in the first place, and a key of the whole installation.
    expect(others).toEqual([
      'api_keys_key_hash_key',
      'console_sessions_secret_hash_key',
      'installation_keys_pkey',
      'service_credentials_id_key',
      'workspaces_name_key',
    ]);
    expect(keys.rows.map(({ name }) => name).filter((name) => /^(PK|UQ|REL)_[0-9a-f]{20,}/.test(name))).toEqual([]);
  });

  it('is migrated once by processes that start at the same time', async () => {
    const url = await freshDatabaseUrl('migrate', 'template1');
    await Promise.all([1, 2, 3, 4].map(() => migrate({ url })));
    const ran = await withClient(url, (client) => client.query('SELECT name FROM migrations'));
    expect(ran.rows).toHaveLength(new Set(ran.rows.map((row: { name: string }) => row.name)).size);
    expect(ran.rows.length).toBeGreaterThan(0);
  });

  it('can be taken back', async () => {
    const url = await freshDatabaseUrl('revert');
    const source = await new DataSource(databaseOptions({ url })).initialize();
    for (const _migration of MIGRATIONS) await source.undoLastMigration();
    const left = await source.query(
      "SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations'",
    );
    await source.destroy();
    expect(left).toEqual([]);
  });
});
