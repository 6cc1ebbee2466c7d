/** Room at first, and kept for the next time; what was unusually much is given back. */
const ROOM_BYTES = 256 * 1024;
/** Up to here a loop writes ASCII faster than a call into the runtime does. */
const SHORT_TEXT = 48;
const UTF8_BYTES_MAX = 3;
const ASCII_MAX = 0x7f;
const NO_DIGIT = 0x80;
const HEX_DIGITS = hexDigits();

/** Puts bytes one after the other, numbers with the highest first; `take` answers a copy of them and begins anew. */
export class ByteWriter {
  private room = Buffer.allocUnsafeSlow(ROOM_BYTES);
  private at = 0;

  take(): Buffer {
    const taken = Buffer.allocUnsafe(this.at);
    this.room.copy(taken, 0, 0, this.at);
    this.drop();
    return taken;
  }

  /** Forgets what was written. */
  drop(): void {
    this.at = 0;
    if (this.room.length > ROOM_BYTES) this.room = Buffer.allocUnsafeSlow(ROOM_BYTES);
  }

  addInt16(value: number): void {
    const at = this.reserve(2);
    this.room[at] = value >> 8;
    this.room[at + 1] = value;
  }

  addInt32(value: number): void {
    this.putInt32(this.reserve(4), value);
  }

  addBytes(bytes: Uint8Array): void {
    this.room.set(bytes, this.reserve(bytes.length));
  }

  /** The bytes whose two hexadecimal digits begin at these places of a text; false where there is something else. */
  addHex(text: string, places: Uint8Array): boolean {
    const from = this.reserve(places.length);
    const { room } = this;
    let seen = 0;
    for (let index = 0; index < places.length; index += 1) {
      const place = places[index] ?? 0;
      const high = HEX_DIGITS[text.charCodeAt(place)] ?? NO_DIGIT;
      const low = HEX_DIGITS[text.charCodeAt(place + 1)] ?? NO_DIGIT;
      seen |= high | low;
      room[from + index] = (high << 4) | low;
    }
    return seen < NO_DIGIT;
  }

  /** UTF-8 behind its length, of which `lead`, a byte of something else before it, is a part. */
  addCounted(text: string, lead?: number): void {
    const leads = lead === undefined ? 0 : 1;
    const at = this.reserve(4 + leads + text.length * UTF8_BYTES_MAX);
    if (lead !== undefined) this.room[at + 4] = lead;
    const from = at + 4 + leads;
    const end = from + (this.putShortAscii(text, from) ? text.length : this.room.write(text, from));
    this.putInt32(at, end - at - 4);
    this.at = end;
  }

  /** False where some of the text is not ASCII, or there is much of it. */
  private putShortAscii(text: string, from: number): boolean {
    const { length } = text;
    if (length > SHORT_TEXT) return false;
    const { room } = this;
    for (let index = 0; index < length; index += 1) {
      const code = text.charCodeAt(index);
      if (code > ASCII_MAX) return false;
      room[from + index] = code;
    }
    return true;
  }

  private putInt32(at: number, value: number): void {
    const { room } = this;
    room[at] = value >> 24;
    room[at + 1] = value >> 16;
    room[at + 2] = value >> 8;
    room[at + 3] = value;
  }

  private reserve(bytes: number): number {
    const { at } = this;
    this.at += bytes;
    if (this.at > this.room.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(this.at, this.room.length * 2));
      this.room.copy(larger, 0, 0, at);
      this.room = larger;
    }
    return at;
  }
}

/** What a digit is worth, by its code. */
function hexDigits(): Uint8Array {
  const worth = new Uint8Array(ASCII_MAX + 1).fill(NO_DIGIT);
  for (let value = 0; value < 16; value += 1) {
    const digit = value.toString(16);
    worth[digit.charCodeAt(0)] = value;
    worth[digit.toUpperCase().charCodeAt(0)] = value;
  }
  return worth;
}
