import { escapeIdentifier, type Client } from 'pg';
import { withMigrationLock } from '../schema/migrate';
import type { ConnectionSettings } from '../connection-settings';
import { SteadyClient } from '../steady-client';
import { assertCluster, foundTables } from './distributed-tables';
import { onEachNode } from './each-node';
import { distributionPlan, type DistributionPlan } from './plan';
import { DISTRIBUTED_TABLES } from './tables';

/** What was done with a table, and how many rows it has. */
export interface MovedTable {
  readonly name: string;
  readonly rows: number;
}

/** Sessions of commands, which end before they write a row, or wait for the lock of migrations. */
const NOT_THE_SERVICE = ['cds-distribution', 'cds-migrations', 'cds-start'];

const SESSIONS = `SELECT coalesce(string_agg(application_name, ','), '') FROM pg_stat_activity
  WHERE datname = current_database() AND application_name LIKE 'cds-%'`;

type Report = (moved: MovedTable) => void;

/**
 * Moves the tables of workspaces to the worker nodes (contract section 17). Each table is one transaction, and its rows are
 * counted before and after. What an interrupted run has done stays; a further run does the rest. Throws, before it changes
 * anything, when the service is running, when the database is no coordinator of a cluster, or when it has tables that
 * `tables.ts` does not name.
 */
export function distribute(connection: ConnectionSettings, report: Report): Promise<void> {
  return alone(connection, async (client) => {
    const plan = distributionPlan(await foundTables(client));
    assertKnown(plan);
    let first = plan.tables.find(({ table }) => table.place === 'distributed')?.table.name;
    for (const { table } of plan.tables) {
      if (!DISTRIBUTED_TABLES.includes(table.name)) continue;
      if (table.place === 'local') report(await distributeTable(client, table.name, first));
      first ??= table.name;
      // Citus leaves the rows that it has copied where they were. Nobody sees them, and they take space.
      await client.query('SELECT truncate_local_data_after_distributing_table($1::regclass)', [table.name]);
    }
  });
}

/** Brings all tables back to the coordinator; the opposite of `distribute`, under the same conditions. */
export function undistribute(connection: ConnectionSettings, report: Report): Promise<void> {
  return alone(connection, async (client) => {
    const { tables } = distributionPlan(await foundTables(client));
    for (const { table } of tables) {
      if (table.place !== 'local') {
        report(await moving(client, table.name, 'SELECT undistribute_table($1::regclass)', [table.name]));
        await client.query(`ANALYZE ${escapeIdentifier(table.name)}`);
      }
    }
  });
}

async function distributeTable(client: Client, name: string, together: string | undefined): Promise<MovedTable> {
  return moving(client, name, `SELECT create_distributed_table($1::regclass, 'tenant_id', colocate_with => $2::text)`, [
    name,
    together ?? 'none',
  ]);
}

/** Runs a statement that moves a table, and takes it back unless the table has as many rows as before. */
async function moving(client: Client, name: string, statement: string, values: string[]): Promise<MovedTable> {
  await client.query('BEGIN');
  try {
    // Nobody can add a row between the count and the move.
    await client.query(`LOCK TABLE ${escapeIdentifier(name)} IN ACCESS EXCLUSIVE MODE`);
    const rows = await rowsOf(client, name);
    await client.query(statement, values);
    const moved = await rowsOf(client, name);
    if (moved !== rows) throw new Error(`${name} had ${rows} rows and has ${moved} now; it was left where it was.`);
    await client.query('COMMIT');
    return { name, rows };
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function rowsOf(client: Client, name: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::float8 AS count FROM ${escapeIdentifier(name)}`,
  );
  return rows[0]?.count ?? 0;
}

/** Runs work while neither the service nor a migration nor another such command does anything with the database. */
async function alone(connection: ConnectionSettings, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new SteadyClient({ connectionString: connection.url, application_name: 'cds-distribution' });
  await client.connect();
  try {
    await assertCluster(client);
    await withMigrationLock(client, async () => {
      await assertServiceStopped(client);
      await work(client);
    });
  } finally {
    await client.end();
  }
}

async function assertServiceStopped(client: Client): Promise<void> {
  // On every node: transactions there do not meet the locks of this command on the tables (docs/adr/0093).
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT name FROM ${onEachNode(SESSIONS)} CROSS JOIN LATERAL unnest(string_to_array(result, ',')) AS name
     WHERE success AND name <> ALL ($1::text[]) ORDER BY 1`,
    [NOT_THE_SERVICE],
  );
  if (rows.length === 0) return;
  throw new Error(
    `The service is running on this database (sessions ${rows.map(({ name }) => name).join(', ')}). ` +
      'Stop every process of it, then run this command again. Nothing was changed.',
  );
}

function assertKnown({ unknown, absent }: DistributionPlan): void {
  if (unknown.length > 0) {
    throw new Error(
      `This version does not know the tables ${unknown.join(', ')}. Run the version that made them, or move tables of ` +
        'other programs to a schema or database of their own. Nothing was changed.',
    );
  }
  if (absent.length > 0) throw new Error(`The tables ${absent.join(', ')} are missing. Run npm run migrate first.`);
}
