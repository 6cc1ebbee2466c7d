import { isNativeError } from 'node:util/types';
import { DatabaseError } from 'pg';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import type { DomainError } from '../errors/domain-error';
import { unavailable } from '../errors/unavailable';

/**
 * What a failed statement means for the caller that sent it:
 *
 * - `repeat`: a deadlock or a serialisation failure; send the whole transaction again at once.
 * - `contended`: another transaction holds a lock for too long; only the rows concerned fail.
 * - `data`: PostgreSQL refuses one of the rows.
 * - `away`: the connection or the server is gone, full or read-only, or refuses the service; the outcome may be unknown.
 * - `bug`: anything else.
 */
export type DatabaseFailure = 'repeat' | 'contended' | 'data' | 'away' | 'bug';

const REPEATABLE = new Set(['40001', '40P01']);
const LOCK_NOT_AVAILABLE = '55P03';
/** Data exception, integrity constraint violation. */
const DATA_CLASSES = new Set(['22', '23']);
/**
 * Connection exception, invalid transaction state, invalid authorization, unknown database, insufficient resources, operator
 * intervention, system error. A transaction is in an invalid state when the server is read-only (a failover, a full disk of some
 * providers), or when it has ended a slow session. A new session is refused while a password is changed, say.
 */
const AWAY_CLASSES = new Set(['08', '25', '28', '3D', '53', '57', '58']);
/**
 * Citus has no state of its own for a worker node that is lost while a transaction commits, whose words of libpq it hands on, nor
 * for a shard that it does not know any more, as after a split.
 */
export const INTERNAL_ERROR = 'XX000';
const LOST_NODE = [
  'could not commit transaction',
  'failure on connection marked as essential',
  'server closed the connection unexpectedly',
  'SSL connection has been closed unexpectedly',
  'SSL SYSCALL error',
  'could not receive data from server',
];
/** A statement that ran for longer than its limit. A server that shuts down uses the same code. */
export const QUERY_CANCELED = '57014';
/** A table is not there, or not under this name. */
export const UNDEFINED_TABLE = '42P01';
/** The server of the session is read-only: a standby, or by its settings. */
export const READ_ONLY = '25006';
const SOCKET_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
]);
/** The server did not take a connection in time. `pg` and `pg-pool` both watch the time, and either may be the first. */
const LATE_CONNECTION = ['timeout expired', 'Connection terminated due to connection timeout'];
/** A query had no answer within its `query_timeout`. */
export const NO_ANSWER = 'Query read timeout';
/** `pg` and `pg-pool` throw these as plain errors without a code. */
const PLAIN_MESSAGES = [
  ...LATE_CONNECTION,
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed',
  NO_ANSWER,
  'timeout exceeded when trying to connect',
  'Cannot use a pool after calling end',
];

/** The SQLSTATE of an error that PostgreSQL answered, through TypeORM's wrapping too. */
export function sqlStateOf(error: unknown): string | undefined {
  return databaseErrorOf(error)?.code;
}

/** The kind of failure of an error from `pg` or TypeORM; undefined for other errors. */
export function databaseFailure(error: unknown): DatabaseFailure | undefined {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  const state = sqlStateOf(error);
  if (state === undefined) return isConnectionLoss(cause) ? 'away' : undefined;
  if (REPEATABLE.has(state)) return 'repeat';
  if (state === LOCK_NOT_AVAILABLE) return 'contended';
  const stateClass = state.slice(0, 2);
  if (DATA_CLASSES.has(stateClass)) return 'data';
  return AWAY_CLASSES.has(stateClass) || isLostNode(error) ? 'away' : 'bug';
}

/** Whether the server did not take a connection in time, as one under load does. */
export function isLateConnection({ message }: Error): boolean {
  return LATE_CONNECTION.includes(message);
}

/** Whether the server of this connection is read-only, such as a new standby. A new connection may reach a writable server. */
export function isReadOnly(error: unknown): boolean {
  return sqlStateOf(error) === READ_ONLY;
}

/** The error for a session on a read-only server, as that server would answer a write. */
export function readOnlyServer(): DatabaseError {
  return Object.assign(new DatabaseError('The server takes no writes', 0, 'error'), { code: READ_ONLY });
}

/** The refusal that a client gets when the database cannot answer; undefined for errors that are not temporary. */
export function databaseRefusal(error: unknown): DomainError | undefined {
  const failure = databaseFailure(error);
  if (failure === undefined || failure === 'bug' || failure === 'data') return undefined;
  return unavailable(error);
}

function isLostNode(error: unknown): boolean {
  const cause = databaseErrorOf(error);
  return cause?.code === INTERNAL_ERROR && LOST_NODE.some((message) => cause.message.startsWith(message));
}

function databaseErrorOf(error: unknown): DatabaseError | undefined {
  const cause: unknown = error instanceof QueryFailedError ? error.driverError : error;
  return cause instanceof DatabaseError ? cause : undefined;
}

function isConnectionLoss(error: unknown): boolean {
  // Not instanceof: errors of Node.js may come from another realm.
  if (!isNativeError(error)) return false;
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.some(isConnectionLoss);
  if (isOfLostSession(error)) return true;
  if ('code' in error && typeof error.code === 'string' && SOCKET_CODES.has(error.code)) return true;
  return PLAIN_MESSAGES.some((message) => error.message.startsWith(message));
}

/** TypeORM releases a lost session at once, so the next statement of the transaction fails with this error. */
function isOfLostSession(error: Error): boolean {
  return error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError;
}
