import { isUtf8 } from 'node:buffer';
import { fieldsOf } from '../foreign-data';
import type { Line } from './lines';

/** An event that can be sent: JSON, as it stands in the file. */
export interface Item {
  readonly line: number;
  readonly text: string;
  readonly bytes: number;
}

/** What a line is; `fault` is its line of the errors file. */
export type ReadLine = 'blank' | { readonly item: Item } | { readonly fault: string };

/** The error that the service answered for an event. */
export interface EventRefusal {
  readonly error_code: string;
  readonly message: string;
  /** As the service sent them. */
  readonly details: readonly unknown[];
}

/** As much as the service takes as one event (contract section 3). */
const EVENT_BYTES_MAX = 256 * 1024;
const START_CHARACTERS_MAX = 200;
/** Texts, and the signs that structure JSON. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],]/g;
const FIELD = /^\s*("[^"\\]*(?:\\.[^"\\]*)*")\s*:([^]*)$/;

/** Reads a line as an event, or as a line of an errors file, whose `event` is sent again. */
export function readLine(line: Line): ReadLine {
  const { number, content } = line;
  if (line.isTooLong) return tooLong(line);
  if (!isUtf8(content)) {
    const message = `Line ${number} is not UTF-8.`;
    return { fault: errorsLine(number, 'invalid_utf8', message, [], { text_base64: content.toString('base64') }) };
  }
  const text = content.toString('utf8').trim();
  if (text === '') return 'blank';
  try {
    const event = eventTextOf(JSON.parse(text), text);
    return event === undefined ? noEvent(number, text) : asItem(line, event);
  } catch {
    const message = `Line ${number} is no JSON. Each line must hold one event, as a JSON object.`;
    return { fault: errorsLine(number, 'malformed_json', message, [], { text }) };
  }
}

/** The line of the errors file for an event that the service refused; its paths begin at the event. */
export function refusedLine({ line, text }: Item, { error_code, message, details }: EventRefusal): string {
  const beginning = errorsLine(line, error_code, withoutIndex(message), details.map(withoutIndexInFault), {});
  // As it came, to the letter: parsing it and writing it again would make 1.0 of it 1.
  return `${beginning.slice(0, -1)},"event":${text}}`;
}

function errorsLine(
  line: number,
  errorCode: string,
  message: string,
  details: readonly unknown[],
  content: object,
): string {
  return JSON.stringify({ line, error_code: errorCode, message, details, ...content });
}

function asItem(line: Line, text: string): ReadLine {
  const bytes = Buffer.byteLength(text);
  return bytes > EVENT_BYTES_MAX ? tooLong(line) : { item: { line: line.number, text, bytes } };
}

/**
 * The line itself, or what stands in the `event` of a line of an errors file, to the letter: numbers that JSON.parse cannot keep
 * are the service's to refuse. Undefined: a line of an errors file without an event.
 */
function eventTextOf(parsed: unknown, text: string): string | undefined {
  const fields = fieldsOf(parsed);
  const isOfErrorsFile = typeof fields['error_code'] === 'string' && typeof fields['line'] === 'number';
  return isOfErrorsFile ? textOfField(text, 'event') : text;
}

/** The text of a field of an object that is JSON; of two equal keys the last one's, as for JSON.parse. */
function textOfField(json: string, name: string): string | undefined {
  let found: string | undefined;
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of json.matchAll(TOKENS)) {
    if (token.startsWith('"')) continue;
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth === 1) start = index + 1;
      continue;
    }
    if (depth === 1) {
      found = fieldText(json.slice(start, index), name) ?? found;
      start = index + 1;
    }
    if (token !== ',') depth -= 1;
  }
  return found;
}

function fieldText(member: string, field: string): string | undefined {
  const [, name = '""', text] = FIELD.exec(member) ?? [];
  return JSON.parse(name) === field ? text?.trim() : undefined;
}

function noEvent(number: number, text: string): ReadLine {
  const message = `Line ${number} is of an errors file and holds no event. Put the corrected event into "event".`;
  return { fault: errorsLine(number, 'no_event', message, [], { text }) };
}

/** The line is too long to be copied to the errors file, which gets its number and its beginning. */
function tooLong({ number, content }: Line): ReadLine {
  const message = `Line ${number} has more than the ${EVENT_BYTES_MAX / 1024} KiB that an event may have.`;
  const start = content.subarray(0, START_CHARACTERS_MAX).toString('utf8');
  return { fault: errorsLine(number, 'line_too_long', message, [], { start }) };
}

/** Without the place in the batch, which the file does not show. */
function withoutIndex(words: string): string {
  return words.replaceAll(/\bitems\[\d+\]\.?/g, '');
}

function withoutIndexInFault(fault: unknown): unknown {
  const words = Object.entries(fieldsOf(fault)).map(([name, value]) => [
    name,
    typeof value === 'string' && (name === 'path' || name === 'message') ? withoutIndex(value) : value,
  ]);
  return Object.fromEntries(words);
}
