import { isPersonalName } from './mask-text';
import type { Traces } from './personal-data';

/** A shorter number is an identifier only if the name of its field says so. */
const BARE_DIGITS_MIN = 6;
/** How many characters next to a value are examined. Names of fields are shorter. */
const CONTEXT_CHARACTERS_MAX = 256;

// A run of backslashes counts as one, because a JSON string may contain JSON. The look-behind makes the match linear.
const ESCAPE = /(?<!\\)\\+(?:u([0-9a-f]{4})|(["/bfnrt]))/gi;
const CONTROLS = 'bfnrt';
const AT_SIGNS = /%40|\uff20/gi;
/** What ingest takes between the digits of a phone number: all kinds of dashes, brackets and invisible marks, too. */
const BETWEEN_DIGITS = /[\s()[\]./~\p{Pd}\p{Cf}\u2053\u2212\u223c\u30fc\uff08\uff09\uff0e\uff0f\uff3b\uff3d\uff5e]+/gu;
/** Digits of other scripts in which ingest takes phone numbers: of full width, Arabic, Persian. The last bits are the value. */
const OTHER_DIGITS = /[\uff10-\uff19\u0660-\u0669\u06f0-\u06f9]/g;
/** The first and last code points of the planes of Unicode that have dashes or invisible marks. */
const PLANES_WITH_MARKS = [
  [0x0, 0x1_ffff],
  [0xe_0000, 0xe_0fff],
] as const;
/** An integer in another notation of JSON: 4917612345.0, 4.917612345e9. */
const ODD_NUMBER = /(?<![\w.])\d{1,40}(?:\.\d{1,40}(?:e\+?\d{1,2})?|e\+?\d{1,2})(?![\w.])/gi;
const WORD = /[\p{L}\p{N}_.+$-]/u;
const NAME = /[\p{L}\p{N}_$-]/u;
/** Characters as forms and URLs write them, in a row, as UTF-8 may need several bytes for one. */
const PERCENT_ENCODED = /(?:%[0-9a-f]{2})+/gi;
/** What `trimBlank` leaves out, and backslashes. */
const SPACE_OR_ESCAPE = /[\p{White_Space}\u200b\u2060\ufeff\\]/u;

/**
 * Searches refused text for a person. The text is JSON of any shape, or invalid JSON, so it is searched as text, with
 * its JSON escapes decoded. Takes time linear in the text. docs/adr/0041 says what it finds and what it cannot find.
 */
export class TraceSearch {
  /** Values without a character that JSON escapes. */
  private readonly exact: readonly string[];
  /** The spellings of the other values, each run of backslashes as one. */
  private readonly escaped: readonly string[];

  constructor(private readonly traces: Traces) {
    this.exact = traces.quoted.filter((text) => !/["\\]/.test(text));
    this.escaped = traces.quoted.filter((text) => /["\\]/.test(text)).map(withSingleBackslashes);
  }

  /** Whether the text contains an identifier of the person. */
  isNamedIn(text: string): boolean {
    const plain = unescaped(text);
    if (this.isNamedPlainly(text, plain)) return true;
    const ofForm = percentDecoded(plain);
    return ofForm !== plain && this.isNamedPlainly(ofForm, ofForm);
  }

  private isNamedPlainly(text: string, plain: string): boolean {
    return (
      this.hasContact(plain) ||
      this.exact.some((value) => hasExactly(plain, value)) ||
      this.hasEscaped(text, plain) ||
      this.hasOddNumber(plain)
    );
  }

  /** Whether a path, in JSON text with paths of fields, has a field whose whole name is an identifier: `items[0].c_4711`. */
  isNamedInPaths(text: string): boolean {
    return this.exact.some((value) => hasField(text, value));
  }

  private hasEscaped(text: string, plain: string): boolean {
    if (this.escaped.length === 0) return false;
    const searched = [withSingleBackslashes(text), withSingleBackslashes(plain)];
    return this.escaped.some((value) => searched.some((each) => hasExactly(each, value)));
  }

  private hasContact(plain: string): boolean {
    const { within, digits } = this.traces;
    if (within.length > 0) {
      const lower = plain.replace(AT_SIGNS, '@').toLowerCase();
      if (within.some((text) => lower.includes(text))) return true;
    }
    if (digits.length === 0) return false;
    const dialled = asDialled(plain);
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

/** The text with numbers as a telephone takes them: digits of other scripts as ASCII ones, and nothing between digits. */
function asDialled(text: string): string {
  return text.replace(BETWEEN_DIGITS, '').replace(OTHER_DIGITS, (digit) => String(digit.charCodeAt(0) & 0xf));
}

/** What the SQL function `translate` takes to search texts for phone numbers as `TraceSearch` does. */
export interface DialledCharacters {
  readonly from: string;
  /** Shorter than `from`: the characters without a counterpart are left out. */
  readonly to: string;
}

let dialledCharacters: DialledCharacters | undefined;

/** Made when it is asked for first: it takes some milliseconds. */
export function dialled(): DialledCharacters {
  dialledCharacters ??= findDialled();
  return dialledCharacters;
}

function findDialled(): DialledCharacters {
  let characters = '';
  for (const [first, last] of PLANES_WITH_MARKS) {
    for (let code = first; code <= last; code += 1) characters += String.fromCodePoint(code);
  }
  const allOf = (kind: RegExp): string => (characters.match(kind) ?? []).join('');
  const digits = allOf(OTHER_DIGITS);
  return { from: digits + allOf(BETWEEN_DIGITS), to: asDialled(digits) };
}

/** Decodes JSON escapes, also those of JSON within JSON strings. Leaves out U+0000, which UTF-16 has beside each letter. */
function unescaped(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(ESCAPE, (_all, code: string | undefined, letter: string | undefined) =>
    code === undefined ? decodedLetter(letter ?? '') : decodedCode(Number.parseInt(code, 16)),
  );
}

function decodedCode(code: number): string {
  return code === 0 ? '' : String.fromCharCode(code);
}

/** The text of a form or URL. In another one a percent sign seldom stands before two hexadecimal digits. */
function percentDecoded(text: string): string {
  if (!text.includes('%')) return text;
  return text
    .replaceAll('+', ' ')
    .replace(PERCENT_ENCODED, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'));
}

/** JSON within JSON strings doubles each backslash once more. */
function withSingleBackslashes(text: string): string {
  return text.replace(/\\+/g, '\\');
}

function decodedLetter(letter: string): string {
  return CONTROLS.includes(letter.toLowerCase()) ? ' ' : letter;
}

/** Whether the text contains the value as a whole: between quotes, or bare where `isIdentifier`. */
function hasExactly(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + 1)) {
    const end = at + value.length;
    if (isQuoted(text, at, end)) return true;
    const isWhole = !WORD.test(text.charAt(at - 1)) && !WORD.test(text.charAt(end));
    if (isWhole && isIdentifier(text, value, at)) return true;
  }
  return false;
}

function hasField(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (/["'.]/.test(text.charAt(at - 1)) && /["'.[]/.test(text.charAt(at + name.length))) return true;
  }
  return false;
}

function isQuoted(text: string, start: number, end: number): boolean {
  const [before, after] = [text.charAt(back(text, start) - 1), text.charAt(forth(text, end))];
  return isQuote(before) && isQuote(after);
}

const isQuote = (character: string): boolean => character === '"' || character === "'";

/**
 * Whether a bare value is an identifier: a long number always, other values by the name of their field, as in `userId:
 * 42`.
 */
function isIdentifier(text: string, value: string, at: number): boolean {
  if (/^\d+$/.test(value) && value.length >= BARE_DIGITS_MIN) return true;
  let end = back(text, at);
  if (isQuote(text.charAt(end - 1))) end = back(text, end - 1);
  if (!/[:=]/.test(text.charAt(end - 1))) return false;
  end = back(text, end - 1);
  if (isQuote(text.charAt(end - 1))) end -= 1;
  while (text.charAt(end - 1) === '\\') end -= 1;
  // A form calls it identity[email].
  if (text.charAt(end - 1) === ']') end -= 1;
  let start = end;
  while (end - start < CONTEXT_CHARACTERS_MAX && start > 0 && NAME.test(text.charAt(start - 1))) start -= 1;
  return isPersonalName(text.slice(start, end));
}

/** `back` and `forth` skip white space, and backslashes that remain of JSON within JSON. */
function back(text: string, from: number): number {
  let at = from;
  while (from - at < CONTEXT_CHARACTERS_MAX && at > 0 && SPACE_OR_ESCAPE.test(text.charAt(at - 1))) at -= 1;
  return at;
}

function forth(text: string, from: number): number {
  let at = from;
  while (at - from < CONTEXT_CHARACTERS_MAX && at < text.length && SPACE_OR_ESCAPE.test(text.charAt(at))) at += 1;
  return at;
}
