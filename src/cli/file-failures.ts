import { fieldsOf } from './foreign-data';
import { ClientFailure } from './running-service';

/** A failed write in words; any other error as it is. */
export function writeFailure(path: string, error: unknown, exitCode: 1 | 2 = 1): unknown {
  return failureOfFile(`${path} cannot be written`, error, exitCode);
}

/** What only a file system answers, so that an error of a connection is not taken for one of a file. */
const DISK_ERRORS: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS']);

/** A write that the disk has refused in words, where the error may also be of a connection; any other error as it is. */
export function diskFailure(path: string, error: unknown): unknown {
  return DISK_ERRORS.has(fieldsOf(error).code) ? writeFailure(path, error) : error;
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
