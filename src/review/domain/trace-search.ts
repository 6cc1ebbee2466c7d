import { isPersonalName } from '../../platform/privacy/mask-text';
import type { Traces } from '../../platform/privacy/personal-data';

/** Shorter numbers stand for too many other things, unless the name of their field says that they are an identifier. */
const BARE_DIGITS_MIN = 6;
/** White space, quotes and names beside a value are looked at so far; identifiers are trimmed, and names of fields are short. */
const BESIDE_MAX = 256;

// A run of backslashes counts as one: JSON may stand inside a string of JSON. From its beginning, or it is gone over again and again.
const ESCAPE = /(?<!\\)\\+(?:u([0-9a-f]{4})|(["/bfnrt]))/gi;
const CONTROLS = 'bfnrt';
const AT_SIGNS = /%40|\uff20/gi;
/** What may stand between digits that are dialled. */
const BETWEEN_DIGITS = /[\s()./\u2010-\u2015-]+/g;
/** A number that JSON may write in another way: 4917612345.0, 4.917612345e9. */
const ODD_NUMBER = /(?<![\w.])\d{1,40}(?:\.\d{1,40}(?:e\+?\d{1,2})?|e\+?\d{1,2})(?![\w.])/gi;
const WORD = /[\p{L}\p{N}_.+$-]/u;
const NAME = /[\p{L}\p{N}_$-]/u;
const SPACE_OR_ESCAPE = /[\s\\]/;

/**
 * Looks for somebody in text that was refused: JSON of any shape, or what should have been JSON. It is read as it is, not parsed,
 * with the escapes of JSON undone. Linear in the text. What it finds, and what it cannot, is in docs/adr/0041.
 */
export class TraceSearch {
  /** Values that hold no character which JSON escapes. */
  private readonly exact: readonly string[];
  /** Spellings of all others, to be found as they are. */
  private readonly escaped: readonly string[];

  constructor(private readonly traces: Traces) {
    this.exact = traces.quoted.filter((text) => !/["\\]/.test(text));
    this.escaped = traces.quoted.filter((text) => /["\\]/.test(text));
  }

  /** Whether the text names the person by any identifier. */
  isNamedIn(text: string): boolean {
    const plain = unescaped(text);
    return (
      this.hasContact(plain) ||
      this.exact.some((value) => hasExactly(plain, value)) ||
      this.escaped.some((value) => hasExactly(text, value) || hasExactly(plain, value)) ||
      this.hasOddNumber(plain)
    );
  }

  private hasContact(plain: string): boolean {
    const { within, digits } = this.traces;
    if (within.length > 0) {
      const lower = plain.replace(AT_SIGNS, '@').toLowerCase();
      if (within.some((text) => lower.includes(text))) return true;
    }
    if (digits.length === 0) return false;
    const dialled = plain.replace(BETWEEN_DIGITS, '');
    return digits.some((number) => dialled.includes(number));
  }

  private hasOddNumber(plain: string): boolean {
    for (const { 0: text, index } of plain.matchAll(ODD_NUMBER)) {
      const number = Number(text);
      if (!Number.isSafeInteger(number)) continue;
      const digits = String(number);
      if (this.traces.digits.includes(digits)) return true;
      if (this.exact.includes(digits) && isIdentifier(plain, digits, index)) return true;
    }
    return false;
  }
}

/** JSON's escapes undone, however deep JSON stands in strings of JSON. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_all, code: string | undefined, letter: string | undefined) =>
    code === undefined ? writtenFor(letter ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function writtenFor(letter: string): string {
  return CONTROLS.includes(letter.toLowerCase()) ? ' ' : letter;
}

/** Whether a value stands somewhere as a whole: between quotes, or bare and as what it is. */
function hasExactly(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    if (isQuoted(text, at, end)) return true;
    const isWhole = !WORD.test(text.charAt(at - 1)) && !WORD.test(text.charAt(end));
    if (isWhole && isIdentifier(text, value, at)) return true;
  }
  return false;
}

function isQuoted(text: string, start: number, end: number): boolean {
  const [before, after] = [text.charAt(back(text, start) - 1), text.charAt(forth(text, end))];
  return isQuote(before) && isQuote(after);
}

const isQuote = (character: string): boolean => character === '"' || character === "'";

/** A long number by itself; anything else only where the name of its field says so: `userId: 42`. */
function isIdentifier(text: string, value: string, at: number): boolean {
  if (/^\d+$/.test(value) && value.length >= BARE_DIGITS_MIN) return true;
  let end = back(text, at);
  if (isQuote(text.charAt(end - 1))) end = back(text, end - 1);
  if (!/[:=]/.test(text.charAt(end - 1))) return false;
  end = back(text, end - 1);
  if (isQuote(text.charAt(end - 1))) end -= 1;
  while (text.charAt(end - 1) === '\\') end -= 1;
  let start = end;
  while (end - start < BESIDE_MAX && start > 0 && NAME.test(text.charAt(start - 1))) start -= 1;
  return isPersonalName(text.slice(start, end));
}

/** Before white space, and after it; a backslash may be left of JSON inside JSON. */
function back(text: string, from: number): number {
  let at = from;
  while (from - at < BESIDE_MAX && at > 0 && SPACE_OR_ESCAPE.test(text.charAt(at - 1))) at -= 1;
  return at;
}

function forth(text: string, from: number): number {
  let at = from;
  while (at - from < BESIDE_MAX && at < text.length && SPACE_OR_ESCAPE.test(text.charAt(at))) at += 1;
  return at;
}
