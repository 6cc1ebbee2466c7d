/** How much structure a JSON text may have. Counted on its bytes, before anything of it is parsed. */
export interface JsonLimits {
  /** Objects and lists inside one another. */
  readonly depthMax: number;
  /** Values of one entry, and of everything outside of entries. */
  readonly valuesMax: number;
  /** Keys of one entry, and of everything outside of entries. */
  readonly keysMax: number;
  /** The most entries whose limits are recorded. */
  readonly entriesMax: number;
}

/** A limit that is exceeded: `too_large` counts values. */
export interface JsonExcess {
  readonly code: 'too_deep' | 'too_large' | 'too_many_keys';
  readonly max: number;
}

const QUOTE = 1;
const OPENING = 2;
const CLOSING = 3;
const COMMA = 4;
const COLON = 5;
const DOUBLE_QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LEFT_BRACKET = 0x5b;
const LEFT_BRACE = 0x7b;
const SPACE = 0x20;
/** A longer key is not the one that is looked for, however its letters are escaped. */
const KEY_CHARACTERS_MAX = 256;

/** What each byte means outside of a string. No byte of a longer UTF-8 sequence is one of these. */
const SIGNS = new Uint8Array(256);
for (const [kind, signs] of ['', '"', '{[', '}]', ',', ':'].entries()) {
  for (const sign of signs) SIGNS[sign.charCodeAt(0)] = kind;
}

/**
 * A first look at small bodies, which costs a tenth of a walk over them: text with so few brackets nests no deeper, whatever
 * stands in its strings.
 */
export function mayNestDeeper(json: Buffer, depthMax: number): boolean {
  let openings = 0;
  for (const bracket of [LEFT_BRACE, LEFT_BRACKET]) {
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1)) {
      openings += 1;
      if (openings > depthMax) return true;
    }
  }
  return false;
}

/**
 * Walks once over the bytes of a JSON text without parsing it, and counts what would make parsing it slow. It finds where the
 * entries of the top-level list `entriesOf` begin and end. The text need not be valid JSON: the parser finds that.
 * A step can be cut short (`run`), so that a large text does not hold the event loop.
 */
export class JsonScan {
  /** Where each entry begins and ends, in bytes, with the white space around it. */
  readonly starts: number[] = [];
  readonly ends: number[] = [];
  /** Entries over a limit, by their index. */
  readonly excesses = new Map<number, JsonExcess>();
  /** What is wrong with the text as a whole. */
  excess: JsonExcess | undefined;
  /** Whether there are more than `entriesMax`. Further entries are not recorded. */
  hasMoreEntries = false;

  private at = 0;
  private depth = 0;
  private values = 0;
  private keys = 0;
  private valuesOutside = 0;
  private keysOutside = 0;
  private memberStart = 0;
  /** Of malformed text a member may have any number; the key is looked for once. */
  private hasMemberValue = false;
  /** How many entries stand in lists before the last one. */
  private lastListStart = 0;
  /** Where the entry that is walked over begins; -1 outside of the list. */
  private entryStart = -1;

  constructor(
    private readonly json: Buffer,
    private readonly limits: JsonLimits,
    private readonly entriesOf?: string,
  ) {}

  /** The entries of the last list of that name alone: it is the one that JSON.parse answers. */
  get lastList(): Pick<JsonScan, 'starts' | 'ends' | 'excesses'> {
    const from = this.lastListStart;
    const excesses = new Map([...this.excesses].map(([index, excess]) => [index - from, excess]));
    return { starts: this.starts.slice(from), ends: this.ends.slice(from), excesses };
  }

  /** Whether a string, list or object is still open at the end. */
  get endsEarly(): boolean {
    return this.depth > 0 || this.at > this.json.length;
  }

  /** Goes on for about so many bytes; false once the end is reached, or a limit of the whole text is exceeded. */
  run(bytes = this.json.length): boolean {
    const { json, limits } = this;
    const until = Math.min(json.length, this.at + bytes);
    let at = this.at;
    while (at < until && this.excess === undefined) {
      const kind = SIGNS[json[at] ?? 0] ?? 0;
      if (kind === QUOTE) at = stringEnd(json, at);
      else if (kind === OPENING) {
        this.values += 1;
        this.depth += 1;
        if (this.depth > limits.depthMax) this.excess = { code: 'too_deep', max: limits.depthMax };
        else if (this.depth <= 2) this.opened(at);
      } else if (kind === CLOSING) {
        if (this.depth === 2) this.endEntry(at, false);
        this.depth -= 1;
      } else if (kind === COMMA) {
        this.values += 1;
        if (this.depth <= 2) this.separated(at);
      } else if (kind === COLON) this.keys += 1;
      at += 1;
    }
    this.at = at;
    if (at >= json.length && this.entryStart === -1) this.checkOutside();
    return at < json.length && this.excess === undefined;
  }

  private opened(at: number): void {
    if (this.depth === 1) {
      this.beginMember(at + 1);
      return;
    }
    if (this.hasMemberValue) return;
    this.hasMemberValue = true;
    if (this.json[at] === LEFT_BRACKET && this.entriesOf !== undefined && this.keyBefore(at) === this.entriesOf) {
      this.valuesOutside = this.values;
      this.keysOutside = this.keys;
      this.lastListStart = this.starts.length;
      this.beginEntry(at + 1);
    }
  }

  private separated(at: number): void {
    if (this.depth === 1) this.beginMember(at + 1);
    else if (this.depth === 2) this.endEntry(at, true);
  }

  private beginMember(start: number): void {
    this.memberStart = start;
    this.hasMemberValue = false;
  }

  private beginEntry(start: number): void {
    this.entryStart = start;
    this.values = 0;
    this.keys = 0;
  }

  private endEntry(end: number, goesOn: boolean): void {
    if (this.entryStart === -1) return;
    if (!isBlank(this.json, this.entryStart, end)) this.note(end);
    if (goesOn) {
      this.beginEntry(end + 1);
      return;
    }
    this.entryStart = -1;
    this.values = this.valuesOutside;
    this.keys = this.keysOutside;
  }

  private note(end: number): void {
    if (this.starts.length >= this.limits.entriesMax) {
      this.hasMoreEntries = true;
      return;
    }
    const excess = this.excessOf();
    if (excess !== undefined) this.excesses.set(this.starts.length, excess);
    this.starts.push(this.entryStart);
    this.ends.push(end);
  }

  private checkOutside(): void {
    this.excess ??= this.excessOf();
  }

  private excessOf(): JsonExcess | undefined {
    const { keysMax, valuesMax } = this.limits;
    if (this.keys > keysMax) return { code: 'too_many_keys', max: keysMax };
    return this.values > valuesMax ? { code: 'too_large', max: valuesMax } : undefined;
  }

  /** The key of the member of which the value begins at `at`. */
  private keyBefore(at: number): unknown {
    const member = this.json.toString('utf8', this.memberStart, at);
    const colon = member.lastIndexOf(':');
    if (colon === -1 || colon > KEY_CHARACTERS_MAX) return undefined;
    try {
      return JSON.parse(member.slice(0, colon));
    } catch {
      return undefined;
    }
  }
}

/** At the quote that closes the string which begins at `start`; the end of the text where none does. */
function stringEnd(json: Buffer, start: number): number {
  for (let at = start + 1; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === DOUBLE_QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  return json.length;
}

/** JSON's white space is the only thing outside of strings that is not above the space. */
function isBlank(json: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if ((json[at] ?? 0) > SPACE) return false;
  }
  return true;
}
