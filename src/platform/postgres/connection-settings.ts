/** The address of PostgreSQL, as `pg` and TypeORM take it. */
export interface ConnectionSettings {
  /** A `postgresql://` address; a unix socket is named in its query (`?host=/folder`). */
  readonly url: string;
  /**
   * Statements of a hot path, and transactions, are of one workspace each: the way of a distributed database, where each
   * workspace is on one node (docs/adr/0062), and may share them with others of its shard only (docs/adr/0093). Otherwise
   * those of many workspaces share them.
   */
  readonly isOneWorkspace?: boolean;
  /** The tables of workspaces are on the worker nodes of a Citus cluster (contract section 17). */
  readonly isDistributed?: boolean;
}

/** Connections of one process at most, with those of live events in the console (docs/operations.md lists them). */
export const CONNECTIONS_PER_PROCESS_MAX = 26;

/** Injection token of the `ConnectionSettings` in force. */
export const CONNECTION_SETTINGS = Symbol('connection settings');
