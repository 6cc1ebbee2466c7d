import type { Settings } from '../../config/settings';
import type { ConnectionSettings } from '../connection-settings';
import { SteadyClient } from '../steady-client';
import { foundTables } from './distributed-tables';
import { distributionPlan } from './plan';

const ANSWER_MS_MAX = 5_000;

/** The connection with the kind of its database, which the parts of the service go by. */
export async function withDatabaseKind(
  connection: ConnectionSettings,
  { workspacesPerCommit }: Pick<Settings, 'workspacesPerCommit'>,
): Promise<ConnectionSettings> {
  const isDistributed = await isDistributedDatabase(connection);
  return { ...connection, isDistributed, isOneWorkspace: isDistributed || workspacesPerCommit === 'one' };
}

/**
 * Whether the tables of workspaces are distributed (contract section 17); one query where the server knows nothing of Citus.
 * Throws for a database that is distributed in part: a run of `cds db distribute` or `undistribute` was interrupted, or this
 * version has brought new tables.
 */
export async function isDistributedDatabase({ url }: ConnectionSettings): Promise<boolean> {
  const client = new SteadyClient({
    connectionString: url,
    application_name: 'cds-start',
    connectionTimeoutMillis: ANSWER_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ known: boolean }>(
      `SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS known`,
    );
    if (rows[0]?.known !== true) return false;
    // A copy of rows that a distribution has left behind takes space, and no more.
    const found = (await foundTables(client)).map((table) => ({ ...table, leftoverBytes: 0 }));
    const { tables } = distributionPlan(found);
    if (tables.every(({ table }) => table.place === 'local')) return false;
    const faulty = tables.filter(({ fault }) => fault !== undefined).map(({ table }) => table.name);
    if (faulty.length === 0) return true;
    throw new Error(
      `This database is distributed in part: ${faulty.join(', ')}. Run cds db distribute to finish, or cds db undistribute ` +
        'to bring all tables back; cds db distribute --check says where each is.',
    );
  } finally {
    await client.end();
  }
}
