import { Client } from 'pg';
import type { ConnectionSettings } from './connection-settings';
import { databaseFailure } from './database-errors';

/** A statement that PostgreSQL plans once a connection: `name` is its identity there, so two texts never share one. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type Row = Readonly<Record<string, unknown>>;

/** Sends statements of one transaction. They go out at once and run in the order of the calls; nothing waits for an answer. */
export interface Transaction {
  send<T = Row>(statement: Statement, values: readonly unknown[]): Promise<readonly T[]>;
  /** Sends a statement whose rows nobody needs: it shares the round trip of COMMIT, which fails if it fails. */
  sendLast(statement: Statement, values: readonly unknown[]): void;
}

/** PostgreSQL answered ROLLBACK to our COMMIT: something in the transaction had failed, and nothing is stored. */
export class RolledBackError extends Error {}

export interface PipelinedConnectionOptions {
  readonly applicationName: string;
  /** How long a statement may wait for somebody else's lock. */
  readonly lockTimeoutMs: number;
  /** How long a statement may run. */
  readonly statementTimeoutMs: number;
}

/**
 * How the server plans the statements of a hot path: once, for tables of any size. All of them look up single rows by
 * key, so that a plan made while the tables were empty must not scan or hash them when they are full.
 */
export const HOT_PATH_PLANNING = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
} as const;

const CONNECT_TIMEOUT_MS = 1_000;
/** On top of the statement's own limit: beyond it the server or the network is gone, and the connection is dropped. */
const ANSWER_GRACE_MS = 500;

/**
 * One connection of a hot path, with pipelined, named statements; opened at first use and again after a loss. It takes
 * one transaction at a time: its owner is a lane, which has never more than one batch under way.
 */
export class PipelinedConnection {
  private client: Promise<Client> | undefined;
  private connectedClient: Client | undefined;

  constructor(
    private readonly settings: ConnectionSettings,
    private readonly options: PipelinedConnectionOptions,
  ) {}

  /**
   * Runs `work` in one transaction (READ COMMITTED) and commits. On any failure the transaction is rolled back and the
   * error passed on; where the connection was lost during COMMIT the outcome is unknown to the caller.
   */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const client = await this.connected();
    const query = (statement: Statement, values: readonly unknown[]) => {
      sendTogether(client);
      const answer = client.query({ name: statement.name, text: statement.text, values: [...values] });
      // Once one statement has failed nobody waits for those behind it, and their failing must not end the process.
      answer.catch(() => undefined);
      return answer;
    };
    const last: Promise<unknown>[] = [];
    try {
      sendTogether(client);
      const begun = client.query('BEGIN');
      const worked = work({
        send: async <R>(statement: Statement, values: readonly unknown[]) =>
          (await query(statement, values)).rows as R[],
        sendLast: (statement, values) => void last.push(query(statement, values)),
      });
      const [result] = await Promise.all([worked, begun]);
      const [committed] = await Promise.all([client.query('COMMIT'), ...last]);
      if (committed.command !== 'COMMIT') throw new RolledBackError('COMMIT was answered with ROLLBACK');
      return result;
    } catch (error) {
      // On a lost connection the server rolls back by itself, and the next transaction opens a new one.
      await client.query('ROLLBACK').catch(() => this.discard(client));
      throw error;
    }
  }

  /** Runs a statement that only reads by itself, and once more when the connection turns out to be lost. */
  async query<T = Row>(statement: Statement, values: readonly unknown[]): Promise<readonly T[]> {
    const run = async (): Promise<readonly T[]> => {
      const client = await this.connected();
      sendTogether(client);
      return (await client.query({ name: statement.name, text: statement.text, values: [...values] })).rows as T[];
    };
    try {
      return await run();
    } catch (error) {
      if (databaseFailure(error) !== 'away') throw error;
      return run();
    }
  }

  async close(): Promise<void> {
    const client = await this.client?.catch(() => undefined);
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private connected(): Promise<Client> {
    if (this.client !== undefined) return this.client;
    const opening = this.open();
    this.client = opening;
    opening.catch(() => {
      if (this.client === opening) this.client = undefined;
    });
    return opening;
  }

  private async open(): Promise<Client> {
    const client = new Client({
      connectionString: this.settings.url,
      application_name: this.options.applicationName,
      options: Object.entries(HOT_PATH_PLANNING)
        .map(([setting, value]) => `-c ${setting}=${value}`)
        .join(' '),
      pipeline: true,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      lock_timeout: this.options.lockTimeoutMs,
      statement_timeout: this.options.statementTimeoutMs,
      idle_in_transaction_session_timeout: this.options.statementTimeoutMs,
      query_timeout: this.options.statementTimeoutMs + ANSWER_GRACE_MS,
    });
    // Without a listener a lost idle connection would end the process.
    client.on('error', () => this.discard(client));
    try {
      await client.connect();
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    this.connectedClient = client;
    return client;
  }

  /** Lets go of a client; one that was replaced already must not take its successor with it. */
  private discard(client: Client): void {
    if (this.connectedClient === client) {
      this.client = undefined;
      this.connectedClient = undefined;
    }
    void client.end().catch(() => undefined);
  }
}

/** Whatever is asked in this turn of the event loop goes out in one piece: by itself each statement costs a system call. */
function sendTogether(client: Client): void {
  const { stream } = client.connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
