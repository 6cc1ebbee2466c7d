import { Logger, type LogFunctionFactory } from 'graphile-worker';
import { describeError } from '../errors/error-summary';

type LogMeta = Parameters<ReturnType<LogFunctionFactory>>[2];

/**
 * The job library's trouble in our words: its own lines quote messages of errors, which may hold what nobody must read. What
 * it tells of each job is left out; `Jobs` tells of those that fail.
 */
export function jobLogger(tell: (words: string) => void): Logger {
  return new Logger(() => (level, message, meta) => {
    const isTrouble = (level as string) === 'error' || (level as string) === 'warning';
    if (isTrouble && meta?.['failure'] !== true) tell(wordsOf(message, meta));
  });
}

function wordsOf(message: string, meta: LogMeta): string {
  const error = meta?.['error'] ?? meta?.['fatalError'];
  return error === undefined ? message : describeError(error).line;
}
