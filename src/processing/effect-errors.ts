import { databaseFailure, sqlStateOf } from '../platform/postgres/database-errors';
import { DomainError } from '../platform/errors/domain-error';
import { describeError } from '../platform/errors/error-summary';
import { isPassing } from '../platform/group-commit/persist-batch';
import type { EffectFailure } from './domain/event-effects';
import { ATTEMPTS_MAX } from './domain/retry-delay';

/** A statement that ran for too long: the fault of who sent it, although the server ends it as it ends all when it stops. */
const QUERY_CANCELED = '57014';

/** Whether the database is away: nobody's attempt then, and everybody waits. */
export function isDatabaseAway(error: unknown): boolean {
  return databaseFailure(error) === 'away' && sqlStateOf(error) !== QUERY_CANCELED;
}

/** Insufficient resources, system error. */
const SHORTAGES: ReadonlySet<string> = new Set(['53', '58']);

/**
 * Whether the session was lost in the middle: then nobody knows whether what was being done has ended it. A database that has
 * no room says so, and is nobody's attempt.
 */
export function isSessionLost(error: unknown): boolean {
  return isDatabaseAway(error) && !SHORTAGES.has(sqlStateOf(error)?.slice(0, 2) ?? '');
}

/** Of an attempt of which nothing was heard any more. */
export const INTERRUPTED: EffectFailure = {
  code: 'interrupted',
  message: 'The event could not be processed: the process or its database session ended in the middle.',
  details: [],
};

/** Why an attempt has failed, in words that may be read. */
export function failureOf(error: unknown): EffectFailure {
  if (error instanceof DomainError) return { code: error.code, message: error.message, details: error.details };
  const { line } = describeError(error);
  const code = isPassing(error) || sqlStateOf(error) === QUERY_CANCELED ? 'unavailable' : 'internal';
  return { code, message: `The event could not be processed (${line}).`, details: [] };
}

/** The same once nobody tries again. */
export function finalFailureOf({ message, ...rest }: EffectFailure): EffectFailure {
  return { ...rest, message: `${message} It was tried ${ATTEMPTS_MAX} times; replay it when the cause is mended.` };
}
