import { Client } from 'pg';
import type { ConnectionSettings } from './connection-settings';
import { databaseFailure, isReadOnly, sqlStateOf, UNDEFINED_TABLE } from './database-errors';
import { Pipeline } from './pipeline';
import { applySessionSettings, type SessionSettings } from './database-options';
import type { WorkspaceShards } from './shard-names';
import { isLostRace } from './precondition';
import type { Row, Statement } from './statement';
import {
  byCitus,
  isShardGone,
  TO_ALL_WORKSPACES,
  toOneWorkspace,
  toShards,
  type StatementRoute,
} from './statement-route';

const COMMIT: Statement = { name: 'COMMIT', text: 'COMMIT' };
const ROLLBACK: Statement = { name: 'ROLLBACK', text: 'ROLLBACK' };

/** Sends statements of one transaction. They go out at once and run in the order of the calls; nothing waits for an answer. */
export interface Transaction {
  /** Whether its statements are sent in their form for one workspace (`Statement.oneWorkspace`). */
  readonly usesOneWorkspaceForms: boolean;
  send<T = Row>(statement: Statement, values: readonly unknown[]): Promise<readonly T[]>;
  /**
   * Sends a statement that shares the round trip of COMMIT, which fails if it fails. `answered` gets its rows when it is too late
   * to send anything more, before the transaction resolves.
   */
  sendLast(statement: Statement, values: readonly unknown[], answered?: (rows: readonly Row[]) => void): void;
  /** Runs steps that need answers between them, once the work of the transaction is done and before COMMIT is sent. */
  beforeCommit(steps: () => Promise<void>): void;
  /** Calls `listener` once what the transaction has stored is there for others. It must not throw. */
  afterCommit(listener: () => void): void;
}

/**
 * Nothing of the transaction is stored, and it may be run again: PostgreSQL answered ROLLBACK to our COMMIT, because something in
 * the transaction had failed, or its precondition does not hold, or another transaction was faster.
 */
export class RolledBackError extends Error {}

/** Nothing was sent: the workspaces of the transaction are not all in one shard that is known to be here. Each by itself can be. */
export class SeveralShardsError extends RolledBackError {}

/** A piece of the work of a transaction. */
export interface OfWorkspace {
  readonly tenantId: string;
}

export interface PipelinedConnectionOptions {
  readonly applicationName: string;
  /** How long a statement may wait for somebody else's lock. */
  readonly lockTimeoutMs: number;
  /** How long a statement may run. */
  readonly statementTimeoutMs: number;
  /** False: a commit is answered before it is on the disk, and a crash of the server may lose the last second of them. */
  readonly waitsForDisk?: false;
  /** Called when a session is lost. After a failover the database may lack what was read and written by it. */
  readonly onLost?: () => void;
  /** On the node of a distributed database: where that has the rows of a workspace, as far as that is known. */
  readonly shardsOf?: (tenantId: string) => WorkspaceShards | undefined;
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

/** How a session works on a distributed database: Citus plans with parameters known, and hands SET LOCAL on. */
const DISTRIBUTED_SESSION = {
  // Each time: of a plan that is kept, Citus 13.2 keeps some 30 KB more for each execution until the session ends.
  plan_cache_mode: 'force_custom_plan',
  'citus.propagate_set_commands': 'local',
  // Of the coordinator to a node: its default of 30 seconds is longer than any caller waits.
  'citus.node_connection_timeout': 1_000,
} as const;

interface Session {
  readonly client: Client;
  readonly pipeline: Pipeline;
}

const CONNECT_TIMEOUT_MS = 1_000;
/** On top of the statement's own limit: beyond it the server or the network is gone, and the connection is dropped. */
const ANSWER_GRACE_MS = 500;

/**
 * One connection of a hot path, with pipelined, named statements; opened at first use and again after a loss. It takes
 * one transaction at a time: its owner is a `GroupCommit`, which never has more than one batch under way.
 */
export class PipelinedConnection {
  private opening: Promise<Session> | undefined;
  private session: Session | undefined;

  constructor(
    private readonly settings: ConnectionSettings,
    private readonly options: PipelinedConnectionOptions,
  ) {}

  /**
   * Runs `work` in one transaction (READ COMMITTED) and commits. On any failure the transaction is rolled back and the
   * error passed on; where the connection was lost during COMMIT the outcome is unknown to the caller. `of`: what the
   * transaction is of; all of one workspace where each has one (`ConnectionSettings.isOneWorkspace`), of several if they are in
   * one shard of a distributed database (`shardOf`).
   */
  async transaction<T>(work: (transaction: Transaction) => Promise<T>, of: readonly OfWorkspace[] = []): Promise<T> {
    const session = await this.connected();
    const route = this.routeTo(of);
    let isOver = false;
    const send = async (statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> => {
      if (isOver) throw new Error('This transaction is over');
      return (await session.pipeline.send(...route.form(statement, values))).rows;
    };
    const last: Promise<unknown>[] = [];
    const before: (() => Promise<void>)[] = [];
    const after: (() => void)[] = [];
    // What is sent behind it fails with it, so that nobody needs its answer before the end.
    const begun = heard(open(session, route, route.opening));
    try {
      const result = await work({
        usesOneWorkspaceForms: route.usesOneWorkspaceForms,
        send: async <R>(statement: Statement, values: readonly unknown[]) =>
          (await heard(send(statement, values))) as R[],
        sendLast: (statement, values, answered) => {
          last.push(heard(send(statement, values).then((rows) => answered?.(rows))));
        },
        beforeCommit: (steps) => void before.push(steps),
        afterCommit: (listener) => void after.push(listener),
      });
      for (const steps of before) await steps();
      isOver = true;
      const [committed] = await Promise.all([session.pipeline.send(COMMIT, []), begun, ...last]);
      if (committed.command !== 'COMMIT') throw new RolledBackError('COMMIT was answered with ROLLBACK');
      for (const listener of after) listener();
      return result;
    } catch (error) {
      isOver = true;
      // On a lost connection the server rolls back by itself, and the next transaction opens a new one.
      // Alone: behind a statement that fails it would be skipped.
      await session.pipeline.send(ROLLBACK, [], { alone: true }).catch(() => this.discard(session));
      // After a failover the address leads to another server than this session does.
      if (isReadOnly(error)) this.discard(session);
      const isBegun = await begun.then(
        () => true,
        () => false,
      );
      if (!isBegun && isShardGone(error)) throw new RolledBackError('The shard is elsewhere', { cause: error });
      if (sqlStateOf(error) === UNDEFINED_TABLE) route.onGone?.();
      throw route.usesOneWorkspaceForms && isLostRace(error)
        ? new RolledBackError('Another transaction was faster', { cause: error })
        : error;
    }
  }

  /**
   * Runs a statement by itself that may run twice, and once more when the connection turns out to be lost. `of` as of a
   * transaction.
   */
  async query<T = Row>(
    statement: Statement,
    values: readonly unknown[],
    of: readonly OfWorkspace[] = [],
  ): Promise<readonly T[]> {
    const run = async (): Promise<readonly T[]> => {
      const session = await this.connected();
      const route = this.routeTo(of);
      const opening = route.readOpening;
      if (opening === undefined) return this.transaction((open) => open.send<T>(statement, values), of);
      void heard(open(session, route, opening));
      const alone = opening.length === 0;
      return (await session.pipeline.send(...route.form(statement, values), { alone })).rows as T[];
    };
    try {
      return await run();
    } catch (error) {
      const isMoved = of.length > 0 && isLostRace(error);
      if (!isMoved && databaseFailure(error) !== 'away') throw error;
      return run();
    }
  }

  async close(): Promise<void> {
    const session = await this.opening?.catch(() => undefined);
    this.opening = undefined;
    await session?.client.end().catch(() => undefined);
  }

  /** The shard of `events` in which this node is known to have the rows of a workspace. */
  shardOf(tenantId: string): string | undefined {
    return this.options.shardsOf?.(tenantId)?.id;
  }

  private routeTo(of: readonly OfWorkspace[]): StatementRoute {
    const { isDistributed, isOneWorkspace } = this.settings;
    const { shardsOf, lockTimeoutMs } = this.options;
    if (isOneWorkspace !== true) return TO_ALL_WORKSPACES;
    if (isDistributed !== true) return toOneWorkspace(of[0]?.tenantId);
    const tenantIds = [...new Set(of.map(({ tenantId }) => tenantId))];
    const [shards, ...others] = tenantIds.map((tenantId) => shardsOf?.(tenantId));
    if (shards !== undefined && others.every((other) => other?.id === shards.id)) return toShards(shards);
    if (others.length > 0) throw new SeveralShardsError('The workspaces of the transaction are not in one shard');
    return byCitus(tenantIds[0], { lockTimeoutMs, keepsPlans: shardsOf !== undefined });
  }

  private connected(): Promise<Session> {
    if (this.opening !== undefined) return this.opening;
    const opening = this.open();
    this.opening = opening;
    opening.catch(() => {
      if (this.opening === opening) this.opening = undefined;
    });
    return opening;
  }

  private async open(): Promise<Session> {
    const client = new Client({
      connectionString: this.settings.url,
      application_name: this.options.applicationName,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    });
    const pipeline = new Pipeline(client, this.options.statementTimeoutMs + ANSWER_GRACE_MS);
    const session = { client, pipeline };
    // From now on: a session may be lost between its last answer here and the moment when that is read.
    this.session = session;
    // Without a listener a lost idle connection would end the process.
    client.on('error', () => this.discard(session));
    try {
      await client.connect();
      await applySessionSettings(client, this.sessionSettings());
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    return session;
  }

  private sessionSettings(): SessionSettings {
    const { lockTimeoutMs, statementTimeoutMs, waitsForDisk, shardsOf } = this.options;
    return {
      ...(this.settings.isDistributed === true ? DISTRIBUTED_SESSION : HOT_PATH_PLANNING),
      ...(shardsOf === undefined ? {} : HOT_PATH_PLANNING),
      ...(waitsForDisk === false ? { synchronous_commit: 'off' } : {}),
      default_transaction_isolation: 'read committed',
      lock_timeout: lockTimeoutMs,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
    };
  }

  /** Lets go of a session; one that was replaced already must not take its successor with it. */
  private discard(session: Session): void {
    if (this.session === session) {
      this.opening = undefined;
      this.session = undefined;
      this.options.onLost?.();
    }
    void session.client.end().catch(() => undefined);
  }
}

/** Sends what a transaction or a read begins with. */
async function open(
  { pipeline }: Session,
  { onGone }: StatementRoute,
  opening: StatementRoute['opening'],
): Promise<void> {
  try {
    await Promise.all(opening.map(([statement, values]) => pipeline.send(statement, values)));
  } catch (error) {
    if (isShardGone(error)) onGone?.();
    throw error;
  }
}

/** Once one statement has failed nobody waits for those behind it, and their failing must not end the process. */
function heard<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => undefined);
  return answer;
}
