import { Client, Pool } from 'pg';
import { citusDatabaseUrl, isOnCluster, usesCitus, workerUrls } from './citus';
import { until } from './until';

export const TEMPLATE_DATABASE = 'cds_template';

/** How many workspaces share a commit in the service under test: the specs `one-workspace` run others with one. */
export const WORKSPACES = { WORKSPACES_PER_COMMIT: process.env['TEST_WORKSPACES_PER_COMMIT'] ?? 'auto' };

/** The address of a database on the server that the global setup started. */
export function urlOf(database: string): string {
  // Not by way of URL, which takes no address without a host; the host here is a folder in the query.
  return (process.env['TEST_POSTGRES_URL'] ?? '').replace(/(?<=@[^/]*\/)\w+/, database);
}

/** The name in such an address. */
export function databaseOf(url: string): string {
  return new URL(url.replace('@/', '@localhost/')).pathname.slice(1);
}

let fileDatabase: Promise<string> | undefined;

/**
 * The database of this spec file, cloned from the template when it is first asked for. It takes the place of the one that the
 * file before it had in this Jest worker, so that no file finds what another has left, and disks stay small.
 */
export function databaseUrl(): Promise<string> {
  fileDatabase ??= newDatabase(`cds_worker_${process.env['JEST_WORKER_ID'] ?? '1'}`, TEMPLATE_DATABASE);
  return fileDatabase;
}

/** A database of one's own for all spec files of this Jest worker, which must not find what others have left. */
export function workerDatabaseUrl(name: string): Promise<string> {
  return newDatabase(`cds_${name}_${process.env['JEST_WORKER_ID'] ?? '1'}`, TEMPLATE_DATABASE);
}

/** A database of one's own, for what would disturb others. */
export async function freshDatabaseUrl(name: string, template = TEMPLATE_DATABASE): Promise<string> {
  return newDatabase(`cds_${name}_${process.pid}_${Math.random().toString(36).slice(2, 8)}`, template);
}

/** Runs `work` with a connection of its own. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const pools = new Map<string, Pool>();

/** The rows that one statement answers, over a connection that serves many: PostgreSQL forks for each new one. */
export async function rowsOf<T>(url: string, text: string, values: readonly unknown[] = []): Promise<T[]> {
  const pool = pools.get(url) ?? aPool(url);
  pools.set(url, pool);
  return (await pool.query(text, [...values])).rows as T[];
}

/** Closes idle connections soon by itself, because no code knows which statement is the last. */
function aPool(url: string): Pool {
  const pool = new Pool({ connectionString: url, idleTimeoutMillis: 500, allowExitOnIdle: true });
  // Of a connection that is lost while nothing runs, to a server that stops or with a database that is dropped.
  pool.on('error', () => undefined);
  return pool;
}

/** The addresses of a database on all servers that it has: the one, or those of the cluster. */
export async function serversOf(url: string): Promise<string[]> {
  return isOnCluster(url) ? [url, ...(await workerUrls(databaseOf(url)))] : [url];
}

/** The bytes of a table, with its indexes or without them; on a cluster, of all its shards. */
export async function bytesOf(url: string, table: string, part: 'with indexes' | 'rows only'): Promise<number> {
  const name = part === 'with indexes' ? 'total_relation_size' : 'relation_size';
  const size = isOnCluster(url) ? `citus_${name}` : `pg_${name}`;
  const [row] = await rowsOf<{ bytes: number }>(url, `SELECT ${size}($1::regclass)::float8 AS bytes`, [table]);
  return row?.bytes ?? 0;
}

/** Which sessions are meant. A session that a coordinator has on a worker node bears the name that Citus gives it. */
interface Sessions {
  readonly application?: string;
  /** In the text of what they run. A coordinator names schemas in what it sends to worker nodes. */
  readonly statement?: string;
}

/** Runs `work` while a table is locked, until it calls `release` or ends; on a cluster while all shards of the table are. */
export async function whileLocked<T>(
  url: string,
  table: string,
  mode: string,
  work: (release: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const holders = await Promise.all((await serversOf(url)).map((server) => holderOf(server, url, table, mode)));
  const release = async (): Promise<void> => {
    await Promise.all(holders.map((holder) => holder.query('ROLLBACK')));
  };
  try {
    return await work(release);
  } finally {
    await Promise.all(holders.map((holder) => holder.end()));
  }
}

async function holderOf(server: string, url: string, table: string, mode: string): Promise<Client> {
  const holder = new Client({ connectionString: server });
  await holder.connect();
  const names = isOnCluster(url) ? await shardsOf(holder, table) : [table];
  await holder.query('BEGIN');
  for (const name of names) await holder.query(`LOCK TABLE ${name} IN ${mode} MODE`);
  return holder;
}

/** The shards of a table on the server of this connection, which may lock them then. */
async function shardsOf(client: Client, table: string): Promise<string[]> {
  await client.query('SET citus.enable_manual_changes_to_shards = on');
  const { rows } = await client.query<{ name: string }>(
    `SELECT $1 || '_' || shardid AS name FROM pg_dist_placement JOIN pg_dist_shard USING (shardid)
     WHERE logicalrelid = $1::regclass AND groupid = (SELECT groupid FROM pg_dist_local_group) ORDER BY shardid`,
    [table],
  );
  return rows.map(({ name }) => name);
}

/** How many sessions of a database wait for a lock; on a cluster, on whichever server. */
export async function waitingForLocks(url: string, { application, statement }: Sessions = {}): Promise<number> {
  const found = await Promise.all(
    (await serversOf(url)).map((server) =>
      rowsOf<{ count: number }>(
        server,
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'
           AND ($1::text IS NULL OR application_name = $1 OR starts_with(application_name, 'citus_internal'))
           AND ($2::text IS NULL OR strpos(replace(query, 'public.', ''), $2) > 0)`,
        [application ?? null, statement ?? null],
      ),
    ),
  );
  return found.flat().reduce((sum, { count }) => sum + count, 0);
}

/** Once so many sessions with this application name wait for a lock. */
export async function untilBlocked(url: string, application: string, sessions: number): Promise<void> {
  await until(async () => (await waitingForLocks(url, { application })) === sessions);
}

/** On the cluster of `npm run test:citus` the template is there too, distributed. */
function newDatabase(name: string, template: string): Promise<string> {
  return usesCitus && template === TEMPLATE_DATABASE ? citusDatabaseUrl(name, template) : cloneTemplate(name, template);
}

async function cloneTemplate(name: string, template: string): Promise<string> {
  await withClient(urlOf('postgres'), async (client) => {
    // Two workers must not clone at once: PostgreSQL refuses while another session uses the template.
    await client.query('SELECT pg_advisory_lock(1)');
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    // Without the write-ahead log, in which each page would be written once more.
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  });
  return urlOf(name);
}
