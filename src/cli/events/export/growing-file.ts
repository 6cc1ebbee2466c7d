import { createHash } from 'node:crypto';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { writeFailure } from '../../file-failures';
import { ClientFailure } from '../../running-service';

/** By which the end of a file is known again. */
const TAIL_BYTES = 64 * 1024;

/** The part of a file that is on disk, and its last 64 KiB. */
export interface WrittenPart {
  readonly bytes: number;
  readonly tailSha256: string;
}

/** A file that only its owner can read, written from its beginning to its end by one process. */
export class GrowingFile {
  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
    private bytes: number,
  ) {}

  /** An empty one, in place of any that is there. Throws `ClientFailure` (exit code 2). */
  static async create(path: string): Promise<GrowingFile> {
    return new GrowingFile(path, await opened(path, 'w+'), 0);
  }

  /** That of an interrupted run, without what it wrote after `written`. Throws `ClientFailure` (exit code 2). */
  static async resume(path: string, { bytes, tailSha256 }: WrittenPart): Promise<GrowingFile> {
    const handle = await opened(path, 'r+');
    const file = new GrowingFile(path, handle, bytes);
    const { size } = await handle.stat();
    if (size < bytes || (await file.written()).tailSha256 !== tailSha256) {
      await handle.close();
      throw new ClientFailure(
        `${path} is not as the interrupted run has left it. Put it back as it was, or begin anew with --restart.`,
        2,
      );
    }
    await handle.truncate(bytes);
    return file;
  }

  /** Throws `ClientFailure`, also when another process has changed the file: two runs must not mix. */
  async append(content: Uint8Array): Promise<void> {
    await this.writing(async () => {
      const { size } = await this.handle.stat();
      if (size !== this.bytes) throw new ClientFailure(`${this.path} is being written by another run.`);
      for (let done = 0; done < content.length;) {
        done += (await this.handle.write(content, done, content.length - done, this.bytes + done)).bytesWritten;
      }
      this.bytes += content.length;
    });
  }

  async written(): Promise<WrittenPart> {
    const length = Math.min(this.bytes, TAIL_BYTES);
    const { buffer, bytesRead } = await this.handle.read(Buffer.alloc(length), 0, length, this.bytes - length);
    const tail = buffer.subarray(0, bytesRead);
    return { bytes: this.bytes, tailSha256: createHash('sha256').update(tail).digest('hex') };
  }

  /** Before what counts on its content. */
  sync(): Promise<void> {
    return this.writing(() => this.handle.sync());
  }

  async close(): Promise<void> {
    await this.handle.close();
  }

  async discard(): Promise<void> {
    await this.handle.close();
    await rm(this.path, { force: true });
  }

  private async writing(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw writeFailure(this.path, error);
    }
  }
}

async function opened(path: string, flags: 'w+' | 'r+'): Promise<FileHandle> {
  try {
    return await open(path, flags, 0o600);
  } catch (error) {
    throw writeFailure(path, error, 2);
  }
}
