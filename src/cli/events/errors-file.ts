import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, stat, type FileHandle } from 'node:fs/promises';
import { writeFailure } from '../file-failures';
import { ClientFailure } from '../running-service';

/** The part of the file that the command wrote. */
export interface Written {
  readonly bytes: number;
  readonly sha256: string;
}

export const NOTHING_WRITTEN: Written = { bytes: 0, sha256: createHash('sha256').digest('hex') };

/** The lines that failed, each with why; it never holds a line twice, whatever was interrupted. */
export class ErrorsFile {
  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    private readonly hash: Hash,
    private bytes: number,
  ) {}

  /** A new one. Throws `ClientFailure` (exit code 2) rather than overwrite a file that may be under correction. */
  static async create(path: string, mayReplace: boolean): Promise<ErrorsFile> {
    const found = await sizeOf(path);
    if (found !== undefined && found > 0 && !mayReplace) {
      throw new ClientFailure(
        `${path} is there already, of an earlier run. Correct and send it, move it away, name another file with --errors, or have it replaced with --restart.`,
        2,
      );
    }
    const handle = await openIt(path);
    await writing(path, () => handle.truncate());
    return new ErrorsFile(path, handle, createHash('sha256'), 0);
  }

  /** That of an interrupted run, without the lines that came after its state was saved: their batches are sent again. */
  static async resume(path: string, written: Written): Promise<ErrorsFile> {
    const hash = createHash('sha256');
    const found = await sizeOf(path);
    if (written.bytes > 0 && found !== undefined) {
      const content = createReadStream(path, { end: written.bytes - 1 }) as AsyncIterable<Buffer>;
      for await (const chunk of content) hash.update(chunk);
    }
    if (hash.copy().digest('hex') !== written.sha256) {
      throw new ClientFailure(
        `${path} is not as the interrupted run has left it. Put it back as it was, or begin anew with --restart and another --errors.`,
        2,
      );
    }
    const handle = await openIt(path);
    await writing(path, () => handle.truncate(written.bytes));
    return new ErrorsFile(path, handle, hash, written.bytes);
  }

  get written(): Written {
    return { bytes: this.bytes, sha256: this.hash.copy().digest('hex') };
  }

  /** Throws `ClientFailure` when something else has changed the file: two runs must not mix. */
  async append(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    if (!(await this.isOwn())) {
      throw new ClientFailure(`${this.path} is being written by another run, or was changed.`);
    }
    const content = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    await writing(this.path, async () => {
      try {
        await this.handle.appendFile(content);
      } catch (error) {
        // Part of a line may be there.
        await this.handle.truncate(this.bytes);
        throw error;
      }
    });
    this.hash.update(content);
    this.bytes += content.length;
  }

  /** Before a state that counts its lines. */
  async sync(): Promise<void> {
    await writing(this.path, () => this.handle.datasync());
  }

  /** What it holds is found again. */
  async discard(): Promise<void> {
    await this.end(true);
  }

  /** An empty one says nothing. */
  async close(): Promise<void> {
    await this.end(this.bytes === 0);
  }

  private async end(isUseless: boolean): Promise<void> {
    const mayRemove = isUseless && (await this.isOwn());
    await this.handle.close();
    if (mayRemove) await writing(this.path, () => rm(this.path, { force: true }));
  }

  /** Whether it is as long as this run has left it. */
  private async isOwn(): Promise<boolean> {
    return (await this.handle.stat()).size === this.bytes;
  }
}

async function openIt(path: string): Promise<FileHandle> {
  // What is in it is as personal as the events are.
  return writing(path, () => open(path, 'a', 0o600), 2);
}

/** Undefined when there is none. Throws `ClientFailure` (exit code 2) for a device or a pipe: the file is read again, and removed. */
async function sizeOf(path: string): Promise<number | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() === false) {
    throw new ClientFailure(`${path} is no regular file. Name another one with --errors.`, 2);
  }
  return found?.size;
}

async function writing<Result>(path: string, work: () => Promise<Result>, exitCode: 1 | 2 = 1): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw writeFailure(path, error, exitCode);
  }
}
