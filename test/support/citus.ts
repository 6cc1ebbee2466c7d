import { Client } from 'pg';
import { distribute } from '../../src/platform/postgres/distribution/distribute';
import { migrate } from '../../src/platform/postgres/schema/migrate';

/** The coordinator of a Citus cluster that specs use in place of the PostgreSQL of the tests (`npm run test:citus`). */
const CITUS_URL = process.env['TEST_CITUS_URL'];

export const usesCitus = CITUS_URL !== undefined;

interface NodeAddress {
  readonly host: string;
  readonly port: number;
  readonly isCoordinator: boolean;
}

/** A new, distributed database of the cluster; one of this name is dropped first. */
export async function citusDatabaseUrl(name: string): Promise<string> {
  const nodes = await addresses();
  for (const node of nodes) {
    await on(node, 'postgres', async (client) => {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${name}`);
    });
    await on(node, name, (client) => client.query('CREATE EXTENSION IF NOT EXISTS citus'));
  }
  const url = urlOn(undefined, name);
  const coordinator = new Client({ connectionString: url });
  await coordinator.connect();
  try {
    for (const { host, port, isCoordinator } of nodes) {
      const add = isCoordinator ? 'citus_set_coordinator_host' : 'citus_add_node';
      await coordinator.query(`SELECT ${add}($1, $2)`, [host, port]);
    }
  } finally {
    await coordinator.end();
  }
  await migrate({ url });
  await distribute({ url }, () => undefined);
  return url;
}

/** The nodes of the cluster that TEST_CITUS_URL leads to, the coordinator last: it creates the others' metadata. */
async function addresses(): Promise<NodeAddress[]> {
  const client = new Client({ connectionString: CITUS_URL });
  await client.connect();
  try {
    const { rows } = await client.query<NodeAddress>(
      `SELECT nodename AS host, nodeport AS port, groupid = 0 AS "isCoordinator" FROM pg_dist_node
       WHERE noderole = 'primary' ORDER BY groupid = 0 DESC, nodeid`,
    );
    return rows;
  } finally {
    await client.end();
  }
}

async function on<T>(node: NodeAddress, database: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: urlOn(node, database) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The address of a database on a node, with the user and the password of TEST_CITUS_URL. */
function urlOn(node: NodeAddress | undefined, database: string): string {
  const url = new URL(CITUS_URL ?? '');
  if (node !== undefined && !node.isCoordinator) url.host = `${node.host}:${node.port}`;
  url.pathname = `/${database}`;
  return url.href;
}
