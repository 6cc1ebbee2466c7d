import { fieldsOf } from './foreign-data';
import { ClientFailure } from './running-service';

/** A failed write to standard output in words; any other error as it is. */
export function standardOutputFailure(error: unknown): unknown {
  const { code, syscall } = fieldsOf(error);
  if (typeof code !== 'string' || typeof syscall !== 'string') return error;
  // As with `| head`. The exit code is that of a program that SIGPIPE ends.
  if (code === 'EPIPE') return new ClientFailure('Nobody reads the output any more.', 141);
  return new ClientFailure(`Standard output cannot be written (${code}).`);
}
