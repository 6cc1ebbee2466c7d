import { createWriteStream } from 'node:fs';
import { link, lstat, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ClientFailure } from '../running-service';
import { syncPath } from '../sync-path';

export interface OutputFile {
  readonly path: string;
  /** Whether a file that is there may be replaced. */
  readonly mayReplace: boolean;
}

/** Throws `ClientFailure` (exit code 2) for a file that is there and may not be replaced. */
export async function checkOutput({ path, mayReplace }: OutputFile): Promise<void> {
  if (mayReplace || (await lstat(path).catch(() => undefined)) === undefined) return;
  throw new ClientFailure(`${path} is there already. Name another file, or have it replaced with --force.`, 2);
}

/**
 * Writes a file that only its owner can read. It has its name only when it is complete and on disk; a run that is killed leaves a
 * `.part` at most. A file that has come there meanwhile is not replaced either, unless it may be.
 */
export async function writeOutput(
  { path, mayReplace }: OutputFile,
  chunks: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  try {
    await pipeline(chunks, createWriteStream(part, { flags: 'wx', mode: 0o600 }), { signal });
    await syncPath(part);
    if (mayReplace) await rename(part, path);
    else await link(part, path);
    await rm(part, { force: true });
    await syncPath(dirname(path));
  } catch (error) {
    await rm(part, { force: true });
    throw isOfSystem(error) ? new ClientFailure(`${path} cannot be written (${error.code}).`) : error;
  }
}

function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
