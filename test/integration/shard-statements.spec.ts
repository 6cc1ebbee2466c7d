import type { Client } from 'pg';
import { onShard } from '../../src/platform/postgres/shard-names';
import { COORDINATOR_TABLES, DISTRIBUTED_TABLES } from '../../src/platform/postgres/distribution/tables';
import { freshDatabaseUrl, withClient } from '../support/database';
import { HOT_STATEMENTS } from '../support/hot-statements';

const NUMBER = 102008;
const NAMES = new Map(DISTRIBUTED_TABLES.map((table) => [table, `${table}_${NUMBER}`]));

/** Gives tables and constraints the names that they have as shards, and takes the tables away that no worker node has. */
async function makeNode(client: Client): Promise<void> {
  for (const table of COORDINATOR_TABLES)
    await client.query(`ALTER TABLE ${table} RENAME TO only_on_coordinator_${table}`);
  for (const [table, shard] of NAMES) {
    const { rows } = await client.query<{ name: string }>(
      `SELECT conname AS name FROM pg_constraint WHERE conrelid = $1::regclass`,
      [table],
    );
    await client.query(`ALTER TABLE ${table} RENAME TO ${shard}`);
    for (const { name } of rows) {
      await client.query(`ALTER TABLE ${shard} RENAME CONSTRAINT ${name} TO ${name}_${NUMBER}`);
    }
  }
}

it('knows every table and constraint of the statements of the hot path by the names that they have as shards', async () => {
  await withClient(await freshDatabaseUrl('shards'), async (client) => {
    await makeNode(client);
    const refused: string[] = [];
    for (const { name, text } of HOT_STATEMENTS) {
      // PostgreSQL cuts names at 63 characters, and the number of a shard stands at their end.
      expect(name.length).toBeLessThan(50);
      await client.query(`PREPARE hot AS ${onShard(text, NAMES)}`).then(
        () => client.query('DEALLOCATE hot'),
        (error: unknown) => refused.push(`${name}: ${String(error)}`),
      );
    }
    expect(refused).toEqual([]);
  });
});
