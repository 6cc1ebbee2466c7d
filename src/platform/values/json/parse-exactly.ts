import { stringEnd } from './json-text';

const QUOTE = 0x22;
const ZERO = 0x30;
const NINE = 0x39;
/**
 * Stands in every object and list with a number that JSON.parse could change, and in few others: up to 15 digits come back
 * from a double as they were, unless it is too small. Every body is looked through for it; written like this that takes a
 * quarter of the time of parsing.
 */
const LONG_NUMBER = /[:,[ \t\n\r]-?\d(?:[\d.]{15}|[\d.]*[eE]-\d{3})/;
const NUMBER_SIGNS = /[\d.eE+-]*/y;
/** Without its sign. */
const JSON_NUMBER = /^(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/**
 * What a double keeps is written in fewer than 400 characters. A longer number has needless zeros, or is not kept. It is not
 * looked at: the digits of a body of 5 MiB held up the event loop for 0.3 s.
 */
const KEPT_CHARACTERS_MAX = 1_024;

/**
 * JSON.parse, with Infinity for each number in an object or a list that a double does not keep: 0.1234567890123456789, 1e-400,
 * 2^53 + 1. 1e999 is Infinity anyway, so that a check of numbers refuses all of them alike, and no number changes silently
 * (docs/adr/0050). 0.10, 1.0 and 1e2 are kept. A SyntaxError names the same positions.
 */
export function parseExactly(text: string): unknown {
  return JSON.parse(LONG_NUMBER.test(text) ? withInexactTooLarge(text) : text) as unknown;
}

/** The text with `1e999…`, of the same length, in the place of each number that a double does not keep. */
function withInexactTooLarge(text: string): string {
  return replaceNumbers(text, (literal) => (isKept(literal) ? undefined : '1e'.padEnd(literal.length, '9')));
}

/** The text with other text in the place of numbers, which are passed without their signs; undefined leaves one. */
export function replaceNumbers(text: string, replacement: (literal: string) => string | undefined): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code < ZERO || code > NINE) at += 1;
    else {
      const end = numberEnd(text, at);
      const replaced = replacement(text.slice(at, end));
      if (replaced !== undefined) {
        pieces.push(text.slice(from, at), replaced);
        from = end;
      }
      at = end;
    }
  }
  return pieces.join('') + text.slice(from);
}

function numberEnd(text: string, start: number): number {
  NUMBER_SIGNS.lastIndex = start;
  NUMBER_SIGNS.test(text);
  return NUMBER_SIGNS.lastIndex;
}

/** Whether a double keeps a number of JSON, without its sign. What is no number of JSON is for others to refuse. */
export function isKept(literal: string): boolean {
  if (!JSON_NUMBER.test(literal)) return true;
  if (literal.length > KEPT_CHARACTERS_MAX) return false;
  const value = Number(literal);
  return !Number.isFinite(value) || decimalOf(literal) === decimalOf(String(value));
}

/** One text for all spellings of a number: its digits between zeros, and where its point stands. */
function decimalOf(literal: string): string {
  const [mantissa = '', power = '0'] = literal.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  while (start < end && digits.charCodeAt(start) === ZERO) start += 1;
  while (end > start && digits.charCodeAt(end - 1) === ZERO) end -= 1;
  return start === end ? '0' : `${digits.slice(start, end)}e${whole.length - start + Number(power)}`;
}
