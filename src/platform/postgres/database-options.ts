import type { ClientBase } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import type { ConnectionSettings } from './connection-settings';
import { MIGRATIONS } from './migrations';
import { SteadyClient } from './steady-client';

/** A statement that takes longer is cancelled; reads that page by key take milliseconds. */
const STATEMENT_TIMEOUT_MS = 5_000;
/** An answer that takes longer means that the server or the network is gone; the connection is dropped. */
const ANSWER_TIMEOUT_MS = 6_000;
/** Shorter than the patience of a client, so that an absent database is answered rather than waited for. */
const CONNECT_TIMEOUT_MS = 1_500;
const SESSION = {
  statement_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
};
/** Of the pool that requests share in one process. */
export const POOL_CONNECTIONS_MAX = 10;

/**
 * The one description of the database for the service, its tests and TypeORM's command line. Migrations are run by
 * `migrate.ts` under a lock, and nothing is ever synchronised from entities.
 */
export function databaseOptions(
  connection: ConnectionSettings,
  entities: readonly string[] = [],
): Extract<DataSourceOptions, { type: 'postgres' }> {
  return {
    type: 'postgres',
    url: connection.url,
    entities: [...entities],
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    synchronize: false,
    logging: false,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolSize: POOL_CONNECTIONS_MAX,
    extra: {
      Client: SteadyClient,
      keepAlive: true,
      query_timeout: ANSWER_TIMEOUT_MS,
      onConnect: (client: ClientBase) => applySessionSettings(client, SESSION),
    },
  };
}

/** Beyond it the server or the network is gone. */
const ANSWER_MS_MAX = 2_000;

/** Settings of PostgreSQL by their names; times are milliseconds. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * Sets what holds for a session from now on. Not in the start-up message, as `pg` would do it: poolers refuse what they do not
 * know there, and an operator would have to list our settings in theirs (docs/adr/0055).
 */
export async function applySessionSettings(client: ClientBase, settings: SessionSettings): Promise<void> {
  const statement = {
    text: 'SELECT set_config(name, value, false) FROM unnest($1::text[], $2::text[]) AS setting(name, value)',
    values: [Object.keys(settings), Object.values(settings).map(String)],
    query_timeout: ANSWER_MS_MAX,
  };
  await client.query(statement);
}
