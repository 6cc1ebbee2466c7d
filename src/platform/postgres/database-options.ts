import type { ClientBase } from 'pg';
import type { DataSourceOptions } from 'typeorm';
import type { ConnectionSettings } from './connection-settings';
import { readOnlyServer } from './database-errors';
import { MIGRATIONS } from './migrations';
import { SteadyClient } from './steady-client';

/** Longer statements are cancelled. Reads that page by key take milliseconds. */
const STATEMENT_TIMEOUT_MS = 5_000;
/** After this time without an answer the server or the network is down, and the connection is dropped. */
export const ANSWER_TIMEOUT_MS = 6_000;
/** Shorter than the timeout of usual clients, so that they get an answer while the database is down. */
const CONNECT_TIMEOUT_MS = 1_500;
/** So long an unused connection of a pool stays open: load comes in bursts, and what a connection has planned stays planned. */
const IDLE_TIMEOUT_MS = 60_000;
const SESSION = {
  // Statements that waited for a lock must see what was committed meanwhile, whatever the server's default is.
  default_transaction_isolation: 'read committed',
  statement_timeout: STATEMENT_TIMEOUT_MS,
  idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
};
/** Of every session, whatever the server or the role sets. */
const EVERY_SESSION: SessionSettings = {
  // The service reads times as ISO 8601, and numbers by all their digits.
  datestyle: 'ISO',
  extra_float_digits: 1,
  // Compiling a plan takes 0.1 s, and statements take milliseconds. It is done for what is estimated to cost much, as are plans
  // with a step that the session has switched off (`HOT_PATH_PLANNING`).
  jit: 'off',
  // A pool closes what it does not need; other sessions stay open for the next burst, or listen.
  idle_session_timeout: 0,
};
/** Size of the connection pool of one process, for requests. */
export const POOL_CONNECTIONS_MAX = 10;

/**
 * The options of the data source for the service, its tests and TypeORM's command line. Migrations are run by `migrate.ts`
 * under a lock; TypeORM never synchronises the schema.
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
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      application_name: 'cds-requests',
      onConnect: (client: ClientBase) => applySessionSettings(client, SESSION),
    },
  };
}

/** For work that takes its time, whatever limits the server or the role sets. A lock of the session must outlast it. */
export const UNLIMITED_SESSION: SessionSettings = {
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
  transaction_timeout: 0,
};

/** After this time the server or the network is down. */
const ANSWER_MS_MAX = 2_000;

/** Settings of PostgreSQL by their names; times are milliseconds. */
export type SessionSettings = Readonly<Record<string, string | number>>;

/**
 * Sets the settings of a session by a statement, but for those that an older server does not know. `pg` would put them into the
 * start-up message, where poolers refuse settings that they do not know (docs/adr/0055). Throws for a session on a read-only
 * server: nobody would notice that it only reads there, also when the address has long led to the new primary.
 */
export async function applySessionSettings(client: ClientBase, settings: SessionSettings): Promise<void> {
  const all = { ...EVERY_SESSION, ...settings };
  const statement = {
    text: `SELECT set_config(name, value, false), current_setting('transaction_read_only') = 'on' AS "isReadOnly"
      FROM unnest($1::text[], $2::text[]) AS setting(name, value) WHERE current_setting(name, true) IS NOT NULL`,
    values: [Object.keys(all), Object.values(all).map(String)],
    query_timeout: ANSWER_MS_MAX,
  };
  const { rows } = await client.query<{ isReadOnly: boolean }>(statement);
  if (rows.some(({ isReadOnly }) => isReadOnly)) throw readOnlyServer();
}
