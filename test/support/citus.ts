import { Client } from 'pg';
import { distribute } from '../../src/platform/postgres/distribution/distribute';
import { migrate } from '../../src/platform/postgres/schema/migrate';
import { until } from './until';

/** The coordinator of a Citus cluster that specs use in place of the PostgreSQL of the tests (`npm run test:citus`). */
const CITUS_URL = process.env['TEST_CITUS_URL'];

export const usesCitus = CITUS_URL !== undefined;

/** Whether a database is on the cluster. One that was not cloned from the template of the tests is on the single server. */
export function isOnCluster(url: string): boolean {
  return CITUS_URL !== undefined && hostOf(url) === hostOf(CITUS_URL);
}

/** Two on each of two worker nodes. Each more costs every new database some hundred files. */
const SHARDS = 4;
/** The names of databases: the template, those of workers and their shared services, and those that tests have of their own. */
const MADE = /^cds_(template|worker_\d+|shared_\w+|\w+_\d+_[0-9a-z]{6})$/;
/** Of a node that adds a session to the template between the two statements. */
const CLONE_ATTEMPTS_MAX = 20;

interface NodeAddress {
  readonly host: string;
  readonly port: number;
  readonly isCoordinator: boolean;
}

/** A distributed database without rows, which the databases of spec files are cloned from; one of this name is dropped. */
export async function makeCitusTemplate(name: string): Promise<void> {
  const nodes = await addresses();
  for (const node of nodes) {
    await on(node, 'postgres', async (client) => {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.query(`CREATE DATABASE ${name}`);
      await client.query(`ALTER DATABASE ${name} SET citus.shard_count = ${SHARDS}`);
    });
    await on(node, name, (client) => client.query('CREATE EXTENSION IF NOT EXISTS citus'));
  }
  await on(undefined, name, async (client) => {
    for (const { host, port, isCoordinator } of nodes) {
      const add = isCoordinator ? 'citus_set_coordinator_host' : 'citus_add_node';
      await client.query(`SELECT ${add}($1, $2)`, [host, port]);
    }
  });
  const url = urlOn(undefined, name);
  await migrate({ url });
  await distribute({ url }, () => undefined);
}

/** Copies the template on every node: the tables of Citus in it name the same shards and nodes. */
export async function citusDatabaseUrl(name: string, template: string): Promise<string> {
  const nodes = await addresses();
  await on(undefined, 'postgres', async (coordinator) => {
    // Two workers must not clone at once: PostgreSQL refuses while another session uses the template.
    await coordinator.query('SELECT pg_advisory_lock(1)');
    await Promise.all(nodes.map((node) => on(node, 'postgres', (client) => clone(client, name, template))));
  });
  return urlOn(undefined, name);
}

/** Drops all that the tests have made; Citus keeps a session in each of its databases. */
export async function dropCitusDatabases(): Promise<void> {
  for (const node of await addresses()) {
    await on(node, 'postgres', async (client) => {
      const { rows } = await client.query<{ name: string }>('SELECT datname AS name FROM pg_database');
      for (const { name } of rows.filter((row) => MADE.test(row.name))) {
        await rollBackPrepared(client, node, name);
        await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }
    });
  }
}

/** Transactions that a coordinator prepared before it lost its connection; Citus would recover them within a minute. */
async function rollBackPrepared(client: Client, node: NodeAddress, name: string): Promise<void> {
  const { rows } = await client.query<{ gid: string }>('SELECT gid FROM pg_prepared_xacts WHERE database = $1', [name]);
  for (const { gid } of rows) await on(node, name, (inside) => inside.query(`ROLLBACK PREPARED '${gid}'`));
}

/** The addresses of a database on each worker node. */
export async function workerUrls(name: string): Promise<string[]> {
  return (await addresses()).filter(({ isCoordinator }) => !isCoordinator).map((node) => urlOn(node, name));
}

async function clone(client: Client, name: string, template: string): Promise<void> {
  await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  for (let attempt = 1; ; attempt += 1) {
    // Citus keeps a session of its own in each of its databases, and opens it again.
    await client.query('SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE datname = $1', [template]);
    try {
      await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
      return;
    } catch (error) {
      if (attempt === CLONE_ATTEMPTS_MAX) throw error;
    }
  }
}

/** The nodes of the cluster that TEST_CITUS_URL leads to, the coordinator first: it creates the others' metadata. */
async function addresses(): Promise<NodeAddress[]> {
  return withDatabase(CITUS_URL ?? '', async (client) => {
    const { rows } = await client.query<NodeAddress>(
      `SELECT nodename AS host, nodeport AS port, groupid = 0 AS "isCoordinator" FROM pg_dist_node
       WHERE noderole = 'primary' ORDER BY groupid = 0 DESC, nodeid`,
    );
    return rows;
  });
}

function on<T>(node: NodeAddress | undefined, database: string, work: (client: Client) => Promise<T>): Promise<T> {
  return withDatabase(urlOn(node, database), work);
}

async function withDatabase<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
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

/** The host and port of a node, as the coordinator knows it. */
export interface NodePlace {
  readonly host: string;
  readonly port: number;
}

/** The worker nodes of a distributed database. */
export async function workerNodesOf(url: string): Promise<NodePlace[]> {
  return withDatabase(url, async (client) => {
    const { rows } = await client.query<NodePlace>(
      `SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE noderole = 'primary' AND groupid <> 0 ORDER BY nodeid`,
    );
    return rows;
  });
}

/** Has everybody reach a node of a database under another address. */
export async function readdress(url: string, from: NodePlace, to: NodePlace): Promise<void> {
  await withDatabase(url, async (client) => {
    await client.query(
      `SELECT citus_update_node(nodeid, $3, $4) FROM pg_dist_node WHERE nodename = $1 AND nodeport = $2`,
      [from.host, from.port, to.host, to.port],
    );
    // A process of Citus tells the nodes; until then no table can be created.
    await until(async () => {
      const { rows } = await client.query('SELECT 1 FROM pg_dist_node WHERE NOT metadatasynced');
      return rows.length === 0;
    });
  });
}

/** The shard of `events` that a workspace is in, and the port of its node. */
export async function placeOf(
  url: string,
  tenantId: string,
): Promise<{ readonly shard: string; readonly port: number }> {
  return withDatabase(url, async (client) => {
    const { rows } = await client.query<{ shard: string; port: number }>(
      `SELECT p.shardid::text AS shard, n.nodeport AS port FROM pg_dist_placement p JOIN pg_dist_node n USING (groupid)
       WHERE p.shardid = get_shard_id_for_distribution_column('events', $1::uuid)`,
      [tenantId],
    );
    const [place] = rows;
    if (place === undefined) throw new Error('The workspace is on no node');
    return place;
  });
}

/** The host and port in the address of a database, which may be without them. */
function hostOf(url: string): string {
  return new URL(url.replace('@/', '@localhost/')).host;
}

/** Moves a shard with those that are co-located with it; writers wait meanwhile. */
export async function moveShard(url: string, shard: string, from: NodePlace, to: NodePlace): Promise<void> {
  await withDatabase(url, (client) =>
    client.query(`SELECT citus_move_shard_placement($1::bigint, $2, $3::int, $4, $5::int, 'block_writes')`, [
      ...[shard, from.host, from.port, to.host, to.port],
    ]),
  );
}

/** Gives a workspace a shard of its own, in each table. */
export async function isolateWorkspace(url: string, tenantId: string): Promise<void> {
  await withDatabase(url, (client) =>
    client.query(
      `SELECT isolate_tenant_to_new_shard('events', $1::uuid, 'CASCADE', shard_transfer_mode => 'block_writes')`,
      [tenantId],
    ),
  );
}
