import { Pool, type PoolClient } from 'pg';
import type { ConnectionSettings } from '../postgres/connection-settings';
import { ANSWER_TIMEOUT_MS, applySessionSettings } from '../postgres/database-options';
import { SteadyClient } from '../postgres/steady-client';

/** The server cancels a statement before its answer is given up: one that waits for a lock would keep its connection there. */
const SESSION = { default_transaction_isolation: 'read committed', statement_timeout: ANSWER_TIMEOUT_MS - 1_000 };

type Release = (error?: unknown) => void;
type Taken = (error: Error | undefined, client: PoolClient | undefined, release: Release) => void;

/** The connections of the job library. */
export function openJobPool({ url }: ConnectionSettings, connectionsMax: number): Pool {
  const pool = new Pool({
    Client: SteadyClient,
    connectionString: url,
    max: connectionsMax,
    keepAlive: true,
    connectionTimeoutMillis: ANSWER_TIMEOUT_MS,
    // Else a job whose end cannot be recorded stays locked, by a process that is alive.
    query_timeout: ANSWER_TIMEOUT_MS,
    application_name: 'cds-jobs',
    verify: (client, done) => void applySessionSettings(client, SESSION).then(() => done(), done),
  });
  // Without listeners a lost connection would end the process. Its query fails anyway.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return releasedOnce(pool);
}

/**
 * The library releases its listening connection twice when that is lost while the library stops, and once when it gets none
 * because the pool has ended. Either is an error that nobody handles, which would end the process.
 */
function releasedOnce(pool: Pool): Pool {
  const connect = pool.connect.bind(pool);
  const withCallback = (taken: Taken): void => {
    // An ended pool gives an error alone, other than its types say.
    connect((error, client, release: Release | undefined) => {
      let isReleased = false;
      taken(error, client, (reason) => {
        if (isReleased) return;
        isReleased = true;
        release?.(reason);
      });
    });
  };
  pool.connect = ((taken?: Taken) => (taken === undefined ? connect() : withCallback(taken))) as Pool['connect'];
  return pool;
}
