import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, lstat, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { syncPath } from '../platform/files/sync-path';
import { writeFailure } from './file-failures';
import { ClientFailure } from './running-service';

export interface OutputFile {
  readonly path: string;
  /** Whether a file that is there may be replaced. */
  readonly mayReplace: boolean;
}

/** Throws `ClientFailure` (exit code 2) for a file that is there and may not be replaced, and for what is no file. */
export async function checkOutput({ path, mayReplace }: OutputFile): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  // The complete file takes the place of what is there: root would lose /dev/null.
  if (found?.isFile() === false) {
    throw new ClientFailure(`${path} is no regular file. Name another one with --output.`, 2);
  }
  if (!mayReplace && (await isThere(path))) throw alreadyThere(path);
}

/** The refusal to replace a file (exit code 2). */
export function alreadyThere(path: string): ClientFailure {
  return new ClientFailure(`${path} is there already. Name another file, or have it replaced with --force.`, 2);
}

/**
 * Writes a file that only its owner can read. It has its name only when it is complete and on disk; a run that is killed leaves a
 * `.part` at most. A file that has come there meanwhile is not replaced either, unless it may be.
 */
export async function writeOutput(
  output: OutputFile,
  chunks: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const part = `${output.path}.${randomUUID()}.part`;
  try {
    await pipeline(chunks, createWriteStream(part, { flags: 'wx', mode: 0o600 }), { signal });
    await syncPath(part);
    await publishPart(part, output);
  } catch (error) {
    await rm(part, { force: true });
    throw writeFailure(output.path, error);
  }
}

/** Gives a part that is complete and on disk its name. May be repeated after a kill: a part that is not there has it already. */
export async function publishPart(part: string, { path, mayReplace }: OutputFile): Promise<void> {
  try {
    if (!(await isThere(part))) return;
    if (mayReplace) await rename(part, path);
    else if (!(await isSameFile(part, path))) await link(part, path);
    await rm(part, { force: true });
    await syncPath(dirname(path));
  } catch (error) {
    throw writeFailure(path, error);
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined;
}

/** Whether the part has its name beside its own one: a kill came between the two steps. */
async function isSameFile(part: string, path: string): Promise<boolean> {
  const [one, other] = await Promise.all([part, path].map((each) => lstat(each).catch(() => undefined)));
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}
