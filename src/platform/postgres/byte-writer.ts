/** Size of the buffer at first. A larger one is released after use. */
const BUFFER_BYTES = 256 * 1024;
/** Shorter texts are written by a loop, longer ones by a call into the runtime. */
const SHORT_TEXT = 48;
const UTF8_BYTES_MAX = 3;
const ASCII_MAX = 0x7f;
const NO_DIGIT = 0x80;
const HEX_DIGITS = hexDigits();

/**
 * Appends bytes to a buffer, numbers in big-endian order; `take` returns a copy and empties the buffer.
 *
 * Its loops replace calls of `Buffer.write` and `Buffer.from(…, 'hex')` for short texts and ids. Batches of 200 events then
 * take 0.74 of the service's CPU (bench/NOTES.md).
 */
export class ByteWriter {
  private buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  private at = 0;

  take(): Buffer {
    const taken = Buffer.allocUnsafe(this.at);
    this.buffer.copy(taken, 0, 0, this.at);
    this.drop();
    return taken;
  }

  /** Discards what was written. */
  drop(): void {
    this.at = 0;
    if (this.buffer.length > BUFFER_BYTES) this.buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  }

  addInt16(value: number): void {
    const at = this.reserve(2);
    this.buffer[at] = value >> 8;
    this.buffer[at + 1] = value;
  }

  addInt32(value: number): void {
    this.putInt32(this.reserve(4), value);
  }

  addBytes(bytes: Uint8Array): void {
    this.buffer.set(bytes, this.reserve(bytes.length));
  }

  /** Appends the bytes whose two hexadecimal digits begin at `places` of the text. False: some are no such digits. */
  addHex(text: string, places: Uint8Array): boolean {
    const from = this.reserve(places.length);
    const { buffer } = this;
    let seen = 0;
    for (let index = 0; index < places.length; index += 1) {
      const place = places[index] ?? 0;
      const high = HEX_DIGITS[text.charCodeAt(place)] ?? NO_DIGIT;
      const low = HEX_DIGITS[text.charCodeAt(place + 1)] ?? NO_DIGIT;
      seen |= high | low;
      buffer[from + index] = (high << 4) | low;
    }
    return seen < NO_DIGIT;
  }

  /** Appends a text in UTF-8 after its length in bytes. `lead`: a byte before the text that counts as part of it. */
  addCounted(text: string, lead?: number): void {
    const leads = lead === undefined ? 0 : 1;
    const at = this.reserve(4 + leads + text.length * UTF8_BYTES_MAX);
    if (lead !== undefined) this.buffer[at + 4] = lead;
    const from = at + 4 + leads;
    const end = from + (this.putShortAscii(text, from) ? text.length : this.buffer.write(text, from));
    this.putInt32(at, end - at - 4);
    this.at = end;
  }

  /** Returns false for a text that is not ASCII, or longer than `SHORT_TEXT`. */
  private putShortAscii(text: string, from: number): boolean {
    const { length } = text;
    if (length > SHORT_TEXT) return false;
    const { buffer } = this;
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (code > ASCII_MAX) return false;
      buffer[from + index] = code;
    }
    return true;
  }

  private putInt32(at: number, value: number): void {
    const { buffer } = this;
    buffer[at] = value >> 24;
    buffer[at + 1] = value >> 16;
    buffer[at + 2] = value >> 8;
    buffer[at + 3] = value;
  }

  private reserve(bytes: number): number {
    const { at } = this;
    this.at += bytes;
    if (this.at > this.buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.at, this.buffer.length * 2));
      this.buffer.copy(larger, 0, 0, at);
      this.buffer = larger;
    }
    return at;
  }
}

/** The value of each hexadecimal digit, by its character code. */
function hexDigits(): Uint8Array {
  const values = new Uint8Array(ASCII_MAX + 1).fill(NO_DIGIT);
  for (let value = 0; value < 16; value += 1) {
    const digit = value.toString(16);
    values[digit.charCodeAt(0)] = value;
    values[digit.toUpperCase().charCodeAt(0)] = value;
  }
  return values;
}
