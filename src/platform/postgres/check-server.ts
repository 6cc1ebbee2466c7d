import { randomUUID } from 'node:crypto';
import type { Client } from 'pg';
import type { ConnectionSettings } from './connection-settings';
import { SteadyClient } from './steady-client';

const VERSION_MIN = 15;
const CONNECT_MS_MAX = 10_000;
const ANSWER_MS_MAX = 5_000;
/**
 * A pooler may use another server connection for each statement. PgBouncer keeps 20 per database by default; twice as many
 * attempts meet the same one again, also while other clients use some of them.
 */
const LOOKS = 40;

/**
 * Checks at start that the service can work with the server of DATABASE_URL. Throws for a version that is too old, and for a
 * pooler that shares sessions between clients: the service would start and then fail at random.
 */
export async function checkServer({ url }: ConnectionSettings): Promise<void> {
  const [one, other] = [aClient(url), aClient(url)];
  try {
    await Promise.all([one.connect(), other.connect()]);
    await assertVersion(one);
    if (!(await keepsSessions(one, other))) throw new Error(SHARED_SESSIONS);
  } finally {
    await Promise.allSettled([one.end(), other.end()]);
  }
}

const SHARED_SESSIONS =
  'DATABASE_URL leads to a pooler that shares sessions between its clients (transaction or statement pooling). ' +
  'The service prepares statements and keeps settings and locks in its sessions. ' +
  'Set the pooler to session pooling (PgBouncer: pool_mode = session), or name the address of PostgreSQL itself.';

function aClient(url: string): Client {
  return new SteadyClient({
    connectionString: url,
    application_name: 'cds-start',
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
  });
}

async function assertVersion(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: string; major: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int / 10000 AS major`,
  );
  const problem = rows[0] === undefined ? undefined : versionProblem(rows[0]);
  if (problem !== undefined) throw new Error(problem);
}

/** What is wrong with a version of PostgreSQL, and what to do; undefined when the service works with it. */
export function versionProblem({ version, major }: { version: string; major: number }): string | undefined {
  if (major >= VERSION_MIN) return undefined;
  return `PostgreSQL ${version} is too old: ${VERSION_MIN} or newer is needed. Upgrade it, or name another server in DATABASE_URL.`;
}

/**
 * Whether each client has a session of its own: a setting stays, and no other client sees it. A pooler that shares sessions
 * shows the setting to another client, or resets it.
 */
async function keepsSessions(one: Client, other: Client): Promise<boolean> {
  const mark = randomUUID();
  // SET, not set_config(): load balancers send SET to every server.
  await one.query(`SET cds.session_mark = '${mark}'`);
  for (let look = 0; look < LOOKS; look += 1) {
    if ((await markOf(other)) === mark || (await markOf(one)) !== mark) return false;
  }
  return true;
}

async function markOf(client: Client): Promise<string | null | undefined> {
  const { rows } = await client.query<{ mark: string | null }>(
    `SELECT current_setting('cds.session_mark', true) AS mark`,
  );
  return rows[0]?.mark;
}
