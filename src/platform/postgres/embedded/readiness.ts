import { setTimeout as delay } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import type { Postmaster } from './postmaster';

/** How a client of this process reaches the server; named in full, so that no PG… variable of the environment counts. */
export interface EmbeddedConnection {
  /** The folder of the socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  readonly ssl: false;
}

/** The server ended, or did not answer in time. */
export class ServerNotReadyError extends Error {
  constructor(
    reason: string,
    readonly logTail: string,
  ) {
    super(`The embedded PostgreSQL ${reason}. Its log ends with:\n${logTail === '' ? '(nothing)' : logTail}`);
    this.name = 'ServerNotReadyError';
  }
}

const SILENCE_MS_MAX = 60_000;
/** Recovery replays up to `max_wal_size`; stopping it half way would only make the next start begin again. */
const RECOVERY_MS_MAX = 900_000;
/** Between two looks, and longer the longer it takes: each one that comes too early is a line in the server's log. */
const LOOK_AGAIN_MS = { least: 20, shareOfTheWait: 0.1, most: 500 } as const;
const CANNOT_CONNECT_NOW = '57P03';

/** Waits until the server takes connections, and makes the database of the service when it is not there yet. */
export async function untilReady(postmaster: Postmaster, connection: EmbeddedConnection): Promise<void> {
  const began = performance.now();
  for (;;) {
    const waited = performance.now() - began;
    try {
      await ensureDatabase(connection);
      return;
    } catch (error) {
      const recovering = error instanceof DatabaseError && error.code === CANNOT_CONNECT_NOW;
      if (postmaster.hasEnded()) {
        throw new ServerNotReadyError('ended while starting', await postmaster.logTail());
      }
      if (waited > (recovering ? RECOVERY_MS_MAX : SILENCE_MS_MAX)) {
        throw new ServerNotReadyError(`is not ready (${String(error)})`, await postmaster.logTail());
      }
    }
    await delay(Math.min(LOOK_AGAIN_MS.least + waited * LOOK_AGAIN_MS.shareOfTheWait, LOOK_AGAIN_MS.most));
  }
}

async function ensureDatabase(connection: EmbeddedConnection): Promise<void> {
  const client = new Client({ ...connection, database: 'postgres', connectionTimeoutMillis: SILENCE_MS_MAX });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const found = await client.query('SELECT FROM pg_database WHERE datname = $1', [connection.database]);
    if (found.rowCount === 0) {
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(connection.database)}`);
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}
