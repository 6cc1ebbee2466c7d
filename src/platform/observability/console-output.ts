import { describeError } from '../errors/error-summary';
import type { JsonLogger } from './logger';

const METHODS = ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const;
const WORDS = 'A package wrote to the console';

/**
 * Makes what packages write to the console lines of the log. The job library writes errors of the database there, with their
 * messages and details, which may quote values: a line says the class and code of an error, and which code wrote it. Returns
 * what undoes this.
 */
export function logConsoleOutput(logger: JsonLogger): () => void {
  const before = Object.fromEntries(METHODS.map((method) => [method, console[method].bind(console)]));
  for (const method of METHODS) {
    console[method] = (...values: unknown[]) => {
      const error = values.find((value) => value instanceof Error);
      const { line, stack } = describeError(error ?? new Error());
      logger.warn(error === undefined ? `${WORDS}.` : `${WORDS}: ${line}.`, stack, 'Console');
    };
  }
  return () => void Object.assign(console, before);
}
