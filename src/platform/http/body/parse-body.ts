import { isUtf8 } from 'node:buffer';
import { BYTES_PER_TURN, byteTurns } from '../../async/byte-turns';
import { excessFault, tooManyItemsFault } from '../../errors/fault-words';
import { JsonEntries, UnparsedEntry } from '../../values/json/json-entries';
import { JsonScan, mayNestDeeper, type JsonExcess, type JsonLimits } from '../../values/json/json-scan';
import { parseExactly } from '../../values/json/parse-exactly';
import { BodyRefusal, malformedBody } from './body-refusal';

/** Contract section 3. */
export const JSON_DEPTH_MAX = 64;
/**
 * An event may have 300 keys in its properties and a dozen beside them, an event type 300 properties with seven keys each.
 * Parsing so many that all differ takes 2 ms, and checking them as long.
 */
const KEYS_MAX = 4_000;
/** What an event has beside its properties, and what may be wrong in it. */
const VALUES_BESIDE_PROPERTIES = 1_000;
/** `[],` makes two of these signs in three bytes, and nothing makes more. */
const VALUES_PER_BYTE = 2 / 3;
/** Bodies up to this size are parsed whole: the worst of them takes 20 ms. */
const WHOLE_BYTES_MAX = BYTES_PER_TURN;
/** Entries of a large list that are parsed in one go. */
const PIECE_BYTES = 32 * 1024;
/** Walking over so many bytes takes some milliseconds, whatever they are. */
const SCANNED_BYTES = 256 * 1024;
const BYTE_ORDER_MARK_BYTES = 3;
/** V8's messages end like this when they quote nothing. Its others quote the text and are never shown. */
const POSITION = / in JSON at position (\d+)(?: \(line \d+ column \d+\))?$/;

/** What is known of the bodies of a route before they are parsed. */
export interface BodyForm {
  /** Bytes that the JSON text of an event's properties may have; more values than fit into them are in no right body. */
  readonly propertiesBytesMax?: number;
  /** How many entries the list of a batch may have. */
  readonly entriesMax?: number;
}

export interface ParsedBody {
  /** Of two equal keys the last one wins, as everywhere where JSON.parse reads. A number that no double keeps is Infinity. */
  readonly value: unknown;
  /** Of a large body with a list of entries. An entry over a limit is not parsed: an `UnparsedEntry` stands in its place. */
  readonly entries?: JsonEntries | undefined;
}

/**
 * Parses a body without holding the event loop: a small one at once, a large one in turns. Nesting over 64 levels is refused
 * before anything is parsed, and so are more values or keys than a right body could have. `entriesOf` names the top-level
 * list of a batch, whose entries are taken one by one.
 *
 * Throws BodyRefusal: 400 `malformed_json`, 422 `validation_failed` (too many values or keys), 422 `batch_too_large`.
 */
export function parseBody(raw: Buffer, form: BodyForm, entriesOf?: string): ParsedBody | Promise<ParsedBody> {
  if (raw.length === 0) throw malformedBody('The body is empty. Send one JSON value.', raw);
  if (!isUtf8(raw)) throw malformedBody('The body is not valid UTF-8.', raw);
  if (entriesOf !== undefined && isLargeBatch(raw, entriesOf)) return new EntriesParser(raw, form, entriesOf).parse();
  const turn = byteTurns.take(raw.length);
  if (turn === undefined) return { value: parseAtOnce(raw, form) };
  return turn.then(() => ({ value: parseAtOnce(raw, form) }));
}

/** Whether its entries are parsed some at a time. */
export function isLargeBatch(raw: Buffer, entriesOf: string | undefined): boolean {
  return raw.length > WHOLE_BYTES_MAX && entriesOf !== undefined;
}

/** Where the text begins behind a byte order mark, which JSON.parse does not take. */
export function textStart(raw: Buffer): number {
  return raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? BYTE_ORDER_MARK_BYTES : 0;
}

function parseAtOnce(raw: Buffer, form: BodyForm): unknown {
  const isSmall = raw.length <= WHOLE_BYTES_MAX;
  if (!isSmall || mayNestDeeper(raw, JSON_DEPTH_MAX)) {
    const scan = new JsonScan(raw, limitsOf(form));
    scan.run();
    // Of a small body the other limits do not matter: its checks say more about it.
    if (scan.excess?.code === 'too_deep' || (!isSmall && scan.excess !== undefined)) throw tooMuch(raw, scan.excess);
  }
  try {
    return parseExactly(raw.toString('utf8', textStart(raw)));
  } catch (error) {
    throw malformedBody(describeSyntaxError(error), raw);
  }
}

/** Parses a large body by the entries of its list: what stands around them, and they themselves some at a time. */
class EntriesParser {
  private readonly scan: JsonScan;
  private readonly all: JsonEntries;
  private readonly values: unknown[] = [];

  constructor(
    private readonly raw: Buffer,
    private readonly form: BodyForm,
    private readonly entriesOf: string,
  ) {
    this.scan = new JsonScan(raw, limitsOf(form), entriesOf);
    this.all = new JsonEntries(raw, this.scan);
  }

  async parse(): Promise<ParsedBody> {
    const { raw, scan, form, entriesOf } = this;
    do await byteTurns.take(BYTES_PER_TURN);
    while (scan.run(SCANNED_BYTES));
    if (scan.excess !== undefined) throw tooMuch(raw, scan.excess);
    if (scan.hasMoreEntries) throw tooManyEntries(raw, entriesOf, form);
    if (scan.endsEarly) throw malformedBody(ENDS_EARLY, raw);
    const envelope = this.parseEnvelope();
    while (this.values.length < this.all.count) {
      const end = this.pieceEnd(this.values.length);
      await byteTurns.take(this.all.end(end - 1) - this.all.start(this.values.length));
      this.parsePiece(end);
    }
    return { value: this.filled(envelope), entries: new JsonEntries(raw, scan.lastList) };
  }

  /** The body with the number of each entry in its place: with right entries it is right if and only if this is. */
  private parseEnvelope(): unknown {
    const { raw, all } = this;
    let from = textStart(raw);
    let text = '';
    for (let index = 0; index < all.count; index += 1) {
      text += `${raw.toString('utf8', from, all.start(index))}${index}`;
      from = all.end(index);
    }
    text += raw.toString('utf8', from);
    try {
      return JSON.parse(text) as unknown;
    } catch (error) {
      throw malformedBody(
        describeSyntaxError(error, (position) => this.characterOf(position)),
        raw,
      );
    }
  }

  /** The entries from `start` on that are parsed together: neighbours of some kilobytes, or a single one. */
  private pieceEnd(start: number): number {
    const { all } = this;
    let end = start + 1;
    if (all.excess(start) !== undefined) return end;
    while (end < all.count && all.excess(end) === undefined && all.start(end) === all.end(end - 1) + 1) {
      if (all.end(end) - all.start(start) > PIECE_BYTES) break;
      end += 1;
    }
    return end;
  }

  private parsePiece(end: number): void {
    const { raw, all, values } = this;
    const start = values.length;
    const excess = all.excess(start);
    if (excess !== undefined) {
      values.push(new UnparsedEntry(excess));
      return;
    }
    const from = all.start(start);
    try {
      const piece = parseExactly(`[${raw.toString('utf8', from, all.end(end - 1))}]`) as unknown[];
      for (const value of piece) values.push(value);
    } catch (error) {
      const before = charactersBefore(raw, from) - 1;
      throw malformedBody(
        describeSyntaxError(error, (position) => before + position),
        raw,
      );
    }
  }

  private filled(envelope: unknown): unknown {
    const { entriesOf } = this;
    if (typeof envelope !== 'object' || envelope === null || !Object.hasOwn(envelope, entriesOf)) return envelope;
    const fields = envelope as Record<string, unknown>;
    const numbers = fields[entriesOf];
    if (Array.isArray(numbers)) fields[entriesOf] = numbers.map((index) => this.values[Number(index)]);
    return fields;
  }

  /** Where in the body a character of the envelope stands. */
  private characterOf(position: number): number {
    const { raw, all } = this;
    let from = textStart(raw);
    let left = position;
    for (let index = 0; index < all.count; index += 1) {
      const characters = raw.toString('utf8', from, all.start(index)).length;
      if (left < characters) break;
      left -= characters + String(index).length;
      from = all.end(index);
    }
    return charactersBefore(raw, from) + Math.max(0, left);
  }
}

function limitsOf({ propertiesBytesMax = 0, entriesMax = Infinity }: BodyForm): JsonLimits {
  const bytes = Math.max(propertiesBytesMax, BYTES_PER_TURN);
  const valuesMax = Math.ceil(bytes * VALUES_PER_BYTE) + VALUES_BESIDE_PROPERTIES;
  return { depthMax: JSON_DEPTH_MAX, valuesMax, keysMax: KEYS_MAX, entriesMax };
}

function charactersBefore(raw: Buffer, byte: number): number {
  return raw.toString('utf8', textStart(raw), byte).length;
}

function tooMuch(raw: Buffer, excess: JsonExcess): BodyRefusal {
  const fault = excessFault('', excess);
  const code = excess.code === 'too_deep' ? 'malformed_json' : 'validation_failed';
  return new BodyRefusal(code, fault.message, raw, { details: [fault] });
}

function tooManyEntries(raw: Buffer, entriesOf: string, { entriesMax = 0 }: BodyForm): BodyRefusal {
  const fault = tooManyItemsFault(entriesOf, entriesMax);
  return new BodyRefusal('batch_too_large', fault.message, raw, { details: [fault] });
}

const ENDS_EARLY = 'The body is not valid JSON: it ends too early.';

function describeSyntaxError(error: unknown, characterOf = (position: number): number => position): string {
  const message = error instanceof Error ? error.message : '';
  const position = POSITION.exec(message)?.[1];
  if (position !== undefined) {
    return `The body is not valid JSON: character ${characterOf(Number(position))} is not expected there.`;
  }
  return message === 'Unexpected end of JSON input' ? ENDS_EARLY : 'The body is not valid JSON.';
}
