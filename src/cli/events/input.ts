import { createHash } from 'node:crypto';
import { open, stat, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readFailure } from '../file-failures';
import { ClientFailure } from '../running-service';

/** By which a file is known again: a changed one is another file. */
export interface Fingerprint {
  readonly bytes: number;
  /** When its content was last written, in milliseconds since 1970. */
  readonly writtenAtMs: number;
  /** Of its first and its last 64 KiB. */
  readonly sha256: string;
}

/** What is to be sent. */
export interface Input {
  /** Undefined for standard input and pipes, which cannot be read a second time. */
  readonly file: { readonly fingerprint: Fingerprint } | undefined;
  /** Its text from byte `from` on, unpacked. `bytesRead` gets how much of the file, as it lies there, has been read. */
  read(from: number, bytesRead: (count: number) => void): AsyncGenerator<Buffer>;
  /** Ends reading, also while it waits for more. */
  stop(): void;
}

const FINGERPRINT_BYTES = 64 * 1024;
const CHUNK_BYTES = 256 * 1024;
/** Of a packed file. Unpacked, it has at most a thousand times as much. */
const SLICE_BYTES = 16 * 1024;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** Opens FILE, or `-`. Throws `ClientFailure` (exit code 2) when there is nothing to read. */
export async function openInput(path: string, standardInput: Readable): Promise<Input> {
  if (path === '-') return new Source(standardInput, undefined, false);
  try {
    const found = await stat(path);
    if (found.isDirectory())
      throw new ClientFailure(`${path} is a folder. Name a file; send each of several by itself.`, 2);
    const isFile = found.isFile();
    const handle = await open(path, 'r');
    const file = isFile ? { fingerprint: await fingerprintOf(handle) } : undefined;
    const isPacked = isFile && (await read(handle, 0, GZIP_MAGIC.length)).equals(GZIP_MAGIC);
    return new Source(handle, file, isPacked);
  } catch (error) {
    throw readFailure(path, error, 2);
  }
}

/**
 * By size, by the time of the last write and by what stands at both ends: whether the file is the one that an interrupted run has
 * read.
 */
export function isSameFile(one: Fingerprint, other: Fingerprint): boolean {
  return one.bytes === other.bytes && one.writtenAtMs === other.writtenAtMs && one.sha256 === other.sha256;
}

async function fingerprintOf(handle: FileHandle): Promise<Fingerprint> {
  const { size, mtimeMs } = await handle.stat();
  const hash = createHash('sha256').update(await read(handle, 0, FINGERPRINT_BYTES));
  hash.update(await read(handle, Math.max(0, size - FINGERPRINT_BYTES), FINGERPRINT_BYTES));
  return { bytes: size, writtenAtMs: mtimeMs, sha256: hash.digest('hex') };
}

async function read(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

class Source implements Input {
  private stream: Readable | undefined;

  constructor(
    private readonly from: Readable | FileHandle,
    readonly file: Input['file'],
    private readonly isPackedFile: boolean,
  ) {}

  async *read(from: number, bytesRead: (count: number) => void): AsyncGenerator<Buffer> {
    // What is not packed need not be read again to get to where it goes on.
    const start = this.file === undefined || this.isPackedFile ? 0 : from;
    const stream = this.open(start);
    this.stream = stream;
    let skip = from - start;
    for await (const chunk of unpacked(counted(stream, start, bytesRead))) {
      const rest = chunk.subarray(Math.min(skip, chunk.length));
      skip -= chunk.length - rest.length;
      if (rest.length > 0) yield rest;
    }
  }

  stop(): void {
    this.stream?.destroy();
  }

  private open(start: number): Readable {
    if (!('createReadStream' in this.from)) return this.from;
    return this.from.createReadStream({ highWaterMark: CHUNK_BYTES, ...(this.file === undefined ? {} : { start }) });
  }
}

async function* counted(stream: Readable, start: number, bytesRead: (count: number) => void): AsyncGenerator<Buffer> {
  let count = start;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    count += chunk.length;
    bytesRead(count);
    yield chunk;
  }
}

/** Unpacks gzip, which is known by its first two bytes: a name proves nothing, and standard input has none. */
async function* unpacked(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let beginning = Buffer.alloc(0);
  while (beginning.length < GZIP_MAGIC.length) {
    const next = await chunks.next();
    if (next.done === true) break;
    beginning = Buffer.concat([beginning, next.value]);
  }
  const all = async function* (): AsyncGenerator<Buffer> {
    if (beginning.length > 0) yield beginning;
    yield* chunks;
  };
  if (beginning.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)) yield* gunzip(all());
  else yield* all();
}

/**
 * Unpacks slice by slice, and hands over all that a slice holds before it takes the next one: of a broken file,
 * everything that stands before the break. zlib drops what it has unpacked of the slice that is broken. So a second
 * one, which is a slice behind, takes that slice byte by byte.
 */
async function* gunzip(packed: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const [ahead, behind] = [new Gunzip(), new Gunzip()];
  for await (const slice of slicesOf(packed)) {
    const { state, unpacked } = await ahead.write(slice);
    if (state instanceof Error) {
      yield* beginningOf(slice, behind);
      throw brokenGzip(state);
    }
    yield* unpacked;
    // What follows the end of the gzip is not read.
    if (state === 'end') return;
    await behind.write(slice);
  }
  const { state, unpacked } = await ahead.end();
  yield* unpacked;
  if (state instanceof Error) throw brokenGzip(state);
}

/** What is unpacked of a slice before it breaks. */
async function* beginningOf(slice: Buffer, behind: Gunzip): AsyncGenerator<Buffer> {
  for (let at = 0; at < slice.length; at += 1) {
    const { state, unpacked } = await behind.write(slice.subarray(at, at + 1));
    yield* unpacked;
    if (state instanceof Error) return;
  }
}

interface Gunzipped {
  /** `end`: also before all of the file is written. */
  readonly state: Error | 'end' | 'more';
  readonly unpacked: readonly Buffer[];
}

/** Streams that are connected would lose what they hold when one of them fails. */
class Gunzip {
  private readonly stream = createGunzip({ chunkSize: CHUNK_BYTES });
  private readonly unpacked: Buffer[] = [];
  private readonly ended: Promise<Error | 'end'>;

  constructor() {
    this.stream.on('data', (chunk: Buffer) => this.unpacked.push(chunk));
    this.ended = new Promise((resolve) => this.stream.once('end', () => resolve('end')).once('error', resolve));
  }

  async write(packed: Buffer): Promise<Gunzipped> {
    const written = new Promise<'more'>((resolve) => this.stream.write(packed, () => resolve('more')));
    return this.after(Promise.race([this.ended, written]));
  }

  async end(): Promise<Gunzipped> {
    this.stream.end();
    return this.after(this.ended);
  }

  private async after(work: Promise<Gunzipped['state']>): Promise<Gunzipped> {
    const state = await work;
    return { state, unpacked: this.unpacked.splice(0) };
  }
}

async function* slicesOf(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += SLICE_BYTES) yield chunk.subarray(from, from + SLICE_BYTES);
  }
}

function brokenGzip(error: Error): Error {
  const code = 'code' in error ? String(error.code) : '';
  if (!code.startsWith('Z_')) return error;
  return new ClientFailure(`The gzip of the file is broken (${code}); the complete lines before that were sent.`);
}
