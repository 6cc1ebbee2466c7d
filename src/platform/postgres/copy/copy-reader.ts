import { createHash } from 'node:crypto';
import { CopyError, END_OF_ROWS } from './copy-format';

const NEWLINE = 0x0a;
const END_AT_ONCE = Buffer.from(END_OF_ROWS);
const END_AFTER_ROWS = Buffer.from(`\n${END_OF_ROWS}`);
/** The line of a table has some hundred bytes; the first line names every migration and partition. */
const LINE_BYTES_MAX = 16 * 1024 * 1024;
const CUT_SHORT = 'The copy is cut short: its end is missing.';

/** Parses a copy in constant memory and computes its checksum. */
export class CopyReader {
  private readonly hash = createHash('sha256');
  private readonly pieces: AsyncIterator<Buffer>;
  /** Bytes that were read and not yet returned. */
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.pieces = source[Symbol.asyncIterator]();
  }

  /** The next line of JSON; `checksum` is that of all before it. */
  async readLine(): Promise<{ readonly content: unknown; readonly checksum: string }> {
    const checksum = this.hash.copy().digest('hex');
    for (let at = this.rest.indexOf(NEWLINE); ; at = this.rest.indexOf(NEWLINE)) {
      if (at >= 0) return { content: parse(this.take(at + 1)), checksum };
      if (this.rest.length > LINE_BYTES_MAX) throw new CopyError('This is no copy that the service has written.');
      await this.readMore();
    }
  }

  /** The rows of a table, in chunks of whole lines. */
  async *rows(): AsyncGenerator<Buffer> {
    for (;;) {
      const lines = this.rest.subarray(0, this.rest.lastIndexOf(NEWLINE) + 1);
      const end = endOfRowsIn(lines);
      const rows = this.take(end ?? lines.length);
      if (rows.length > 0) yield rows;
      if (end !== undefined) {
        this.take(END_OF_ROWS.length);
        return;
      }
      await this.readMore();
    }
  }

  /** Throws when anything follows. */
  async expectEnd(): Promise<void> {
    const next = this.rest.length > 0 ? { done: false } : await this.pieces.next();
    if (next.done !== true) throw new CopyError('The copy goes on behind its end.');
  }

  private take(length: number): Buffer {
    const taken = this.rest.subarray(0, length);
    this.rest = this.rest.subarray(length);
    this.hash.update(taken);
    return taken;
  }

  private async readMore(): Promise<void> {
    const next = await this.pieces.next();
    if (next.done === true) throw new CopyError(CUT_SHORT);
    this.rest = this.rest.length === 0 ? next.value : Buffer.concat([this.rest, next.value]);
  }
}

/** Position of the line that ends the rows. Backslashes in values are doubled, so no row looks like it. */
function endOfRowsIn(lines: Buffer): number | undefined {
  if (lines.subarray(0, END_AT_ONCE.length).equals(END_AT_ONCE)) return 0;
  const at = lines.indexOf(END_AFTER_ROWS);
  return at < 0 ? undefined : at + 1;
}

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8')) as unknown;
  } catch {
    throw new CopyError('This is no copy that the service has written, or it is damaged.');
  }
}
