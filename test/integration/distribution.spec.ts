import { distribute, undistribute } from '../../src/platform/postgres/distribution/distribute';
import { checkDistribution } from '../../src/platform/postgres/distribution/check';
import { isDistributedDatabase } from '../../src/platform/postgres/distribution/database-kind';
import { COORDINATOR_TABLES, DISTRIBUTED_TABLES } from '../../src/platform/postgres/distribution/tables';
import { databaseUrl, rowsOf } from '../support/database';

/** The tables that the migrations make, each with the columns of its primary key; partitions are parts of their table. */
async function tables(): Promise<{ name: string; key: string[] | null }[]> {
  return rowsOf(
    await databaseUrl(),
    `SELECT c.relname AS name,
       (SELECT array_agg(a.attname::text ORDER BY k.place) FROM pg_index i
        CROSS JOIN unnest(i.indkey) WITH ORDINALITY k (attribute, place)
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attribute
        WHERE i.indrelid = c.oid AND i.indisprimary) AS key
     FROM pg_class c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`,
  );
}

describe('the tables of a distributed database', () => {
  it('are all those of the schema: a new table is placed by the change that makes it', async () => {
    const names = (await tables()).map(({ name }) => name).sort();
    expect([...DISTRIBUTED_TABLES, ...COORDINATOR_TABLES].sort()).toEqual(names);
  });

  it('have the workspace first in their keys, by which they are spread', async () => {
    const spread = (await tables()).filter(({ name }) => DISTRIBUTED_TABLES.includes(name));
    // A key would take as much space again as its rows, which each have the workspace (docs/adr/0060).
    expect(spread.filter(({ key }) => key === null).map(({ name }) => name)).toEqual(['expired_events']);
    expect(spread.filter(({ key }) => key !== null && key[0] !== 'tenant_id')).toEqual([]);
    expect(spread).toHaveLength(DISTRIBUTED_TABLES.length);
  });

  it('are those of a Citus cluster: on another database the commands say what is missing, and change nothing', async () => {
    const connection = { url: await databaseUrl() };
    const refusal = /no extension Citus.*CREATE EXTENSION citus.*docs\/operations\.md/;
    await expect(distribute(connection, () => undefined)).rejects.toThrow(refusal);
    await expect(undistribute(connection, () => undefined)).rejects.toThrow(refusal);
    await expect(checkDistribution(connection)).rejects.toThrow(refusal);
    await expect(isDistributedDatabase(connection)).resolves.toBe(false);
  });
});
