import type { ConnectionSettings } from '../platform/postgres/connection-settings';
import { databaseFailure, QUERY_CANCELED, sqlStateOf } from '../platform/postgres/database-errors';
import { DomainError } from '../platform/errors/domain-error';
import { describeError } from '../platform/errors/error-summary';
import { isPassing } from '../platform/group-commit/persist-batch';
import type { EffectFailure } from './domain/event-effects';
import { ATTEMPTS_MAX } from './domain/processing-outcome';

/**
 * Whether the database is away. The attempt does not count, and all events wait. A statement that ran for too long is the
 * fault of its event.
 */
export function isDatabaseAway(error: unknown): boolean {
  return databaseFailure(error) === 'away' && sqlStateOf(error) !== QUERY_CANCELED;
}

/** Whether only a part of a distributed database may be away: workspaces on other nodes go on. */
export function isPartlyAway(error: unknown, { isDistributed }: Pick<ConnectionSettings, 'isDistributed'>): boolean {
  return isDistributed === true && isDatabaseAway(error);
}

/** SQLSTATE classes: a refused session, insufficient resources, system error. */
const DATABASE_FAULTS: ReadonlySet<string> = new Set(['28', '3D', '53', '58']);

/**
 * Whether the session was lost during the work, possibly because of the event. A shortage of the database, or one that accepts
 * no connection, is not the event's fault, and the attempt does not count.
 */
export function isSessionLost(error: unknown): boolean {
  return isDatabaseAway(error) && !DATABASE_FAULTS.has(sqlStateOf(error)?.slice(0, 2) ?? '');
}

/** The failure of an attempt that never ended. */
export const INTERRUPTED: EffectFailure = {
  code: 'interrupted',
  message: 'The event could not be processed: the process or its database session ended in the middle.',
  details: [],
};

/** Why an attempt failed; the message contains no values. */
export function failureOf(error: unknown): EffectFailure {
  if (error instanceof DomainError) return { code: error.code, message: error.message, details: error.details };
  const { line } = describeError(error);
  const code = isPassing(error) || sqlStateOf(error) === QUERY_CANCELED ? 'unavailable' : 'internal';
  return { code, message: `The event could not be processed (${line}).`, details: [] };
}

/** The failure after the last attempt. */
export function finalFailureOf({ message, ...rest }: EffectFailure): EffectFailure {
  return { ...rest, message: `${message} It was tried ${ATTEMPTS_MAX} times; replay it when the cause is fixed.` };
}
