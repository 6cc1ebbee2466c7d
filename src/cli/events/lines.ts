/** Where reading begins: how many lines, and how many bytes of them, lie before it. */
export interface Position {
  readonly lines: number;
  readonly bytes: number;
}

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without its end (LF or CRLF) and without a byte order mark; of a line that is too long the beginning only. */
  readonly content: Buffer;
  readonly isTooLong: boolean;
  /** The position of the next line in the file. */
  readonly endByte: number;
}

const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');
/** More than an event may have, because a line of an errors file holds what is wrong with it too. */
const LINE_BYTES_MAX = 1024 * 1024;

/** Cuts a file into lines as it comes, holding no more of it than one line of at most 1 MiB. */
export class LineSplitter {
  private parts: Buffer[] = [];
  private held = 0;
  private length = 0;
  private lines: number;
  private bytes: number;

  constructor({ lines, bytes }: Position) {
    this.lines = lines;
    this.bytes = bytes;
  }

  /** The lines that end in `chunk`. */
  *push(chunk: Buffer): Generator<Line> {
    let from = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, from)) {
      this.hold(chunk.subarray(from, end));
      yield this.take(1);
      from = end + 1;
    }
    this.hold(chunk.subarray(from));
  }

  /** The last line, if nothing ends it. */
  *end(): Generator<Line> {
    if (this.length > 0) yield this.take(0);
  }

  private hold(part: Buffer): void {
    this.length += part.length;
    const room = LINE_BYTES_MAX - this.held;
    if (part.length === 0 || room === 0) return;
    const kept = part.subarray(0, room);
    this.parts.push(kept);
    this.held += kept.length;
  }

  private take(endBytes: number): Line {
    const [only] = this.parts;
    const whole = this.parts.length === 1 && only !== undefined ? only : Buffer.concat(this.parts);
    const isTooLong = this.length > this.held;
    this.lines += 1;
    this.bytes += this.length + endBytes;
    [this.parts, this.held, this.length] = [[], 0, 0];
    return { number: this.lines, content: this.trimmed(whole), isTooLong, endByte: this.bytes };
  }

  private trimmed(line: Buffer): Buffer {
    const marked = this.lines === 1 && line.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    return line.subarray(marked ? BYTE_ORDER_MARK.length : 0, line.at(-1) === CR ? -1 : undefined);
  }
}
