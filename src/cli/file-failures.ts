import { fieldsOf } from './foreign-data';
import { ClientFailure } from './running-service';

/** A failed write in words; any other error as it is. */
export function writeFailure(path: string, error: unknown, exitCode: 1 | 2 = 1): unknown {
  return failureOfFile(`${path} cannot be written`, error, exitCode);
}

/** A failed read in words; any other error as it is. */
export function readFailure(path: string, error: unknown, exitCode: 1 | 2 = 1): unknown {
  return failureOfFile(`${path} cannot be read`, error, exitCode);
}

function failureOfFile(words: string, error: unknown, exitCode: 1 | 2): unknown {
  const { code, syscall } = fieldsOf(error);
  if (typeof code !== 'string' || typeof syscall !== 'string') return error;
  return new ClientFailure(`${words} (${code}).`, exitCode);
}
