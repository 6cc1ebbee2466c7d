import { runAtOnce, type Steps } from '../values/time-slice';

/*
 * What looks like a way to reach a person. Values: every email address, wherever in a text; and digits that are dialled
 * rather than counted: after a + or 00, with a leading trunk 0, with an area code in brackets, or grouped as in North
 * America. Plain runs of digits, numbers, amounts, dates, times, IP addresses and UUIDs stay readable, as operators
 * need them; a number that only its field's name tells to be a phone number is masked by that name.
 */

/** Stands for what is not shown; always as long, so that it tells no length. */
export const HIDDEN = '***';
const HIDDEN_DIGITS = '*******';
/** With fewer digits, the four that are shown would be half of the number. */
const SHOWN_PHONE_DIGITS_MIN = 9;

const WORDS = /(?:\p{Lu}(?!\p{Ll}))+|\p{Lu}?\p{Ll}+/gu;
const CONTACT_WORDS: ReadonlySet<string> = new Set([
  ...['mail', 'mails', 'phone', 'phones', 'telephone', 'telefon', 'tel', 'mobile', 'mobil', 'cell', 'msisdn', 'fax'],
  ...['contact', 'contacts', 'whatsapp', 'handy'],
]);
// Names in one case have no word boundaries: `useremail`, `phonenumber`, `WORKPHONE`. No headphones, no microphone.
const CONTACT_WORD =
  /e?mail$|^e?mail(?!ing)|^(?:tele)?phone|^mobile|^telefon|^(?:home|work|cell|user|customer|contact)phone/;

// Every way to write an @: plain, full width, in a URL, in JSON text.
const AT_SIGN = /[@＠]|%40|\\u0040/gi;
// Outside of an address as RFC 5322 has it, save what may stand in a local part without quotes.
const NOT_IN_ADDRESS = /[\s\p{Cc}@＠"<>()[\],;:\\]/u;
const DOMAIN_BEGIN = /[\p{L}\p{M}\p{N}\p{Surrogate}_*%+]/u;
const IN_DOMAINS = /[\p{L}\p{M}\p{N}\p{Surrogate}_*%+.!@＠-]/u;
const NOT_AT_DOMAIN_END = /[.!@＠-]/;
const isOutsideAddress = looker(NOT_IN_ADDRESS);
const isInDomains = looker(IN_DOMAINS);
const TOP_LEVEL_DOMAIN = /^[A-Za-z]{2,6}$/;

const GAP = String.raw`[ ().\/\u00a0\u2010-\u2015-]{0,3}`;
const DIGIT = String.raw`\p{Nd}`;
// Not inside a word, an id or a decimal number; but after an escape of JSON text (\n0170…).
const BEGIN = String.raw`(?<=^|[^\p{L}\p{Nd}_#\/-]|\\[bfnrt])(?<!${DIGIT}[.,])`;
const END = String.raw`(?![\p{L}\p{Nd}_]|-[\p{L}\p{Nd}])`;
const DATE = String.raw`${DIGIT}{2}[.\/-]${DIGIT}{2}[.\/-](?:19|20)${DIGIT}{2}(?!${DIGIT})`;
// Every repetition is bounded or takes characters that nothing after it can take: linear in the text.
const PHONES = new RegExp(
  [
    String.raw`(?:[+＋]|%2B|\\u002b)${GAP}${DIGIT}(?:${GAP}${DIGIT}){6,}`,
    // 12 digits and more: shorter ones are ids padded with zeros.
    `${BEGIN}00[1-9](?:${GAP}${DIGIT}){9,14}${END}`,
    String.raw`${BEGIN}\(?(?!${DATE})0[1-9](?:${GAP}${DIGIT}){7,10}${END}`,
    String.raw`${BEGIN}\(${DIGIT}{2,5}\)[ -]?${DIGIT}(?:${GAP}${DIGIT}){4,9}${END}`,
    `${BEGIN}(?:1[-. ])?${DIGIT}{3}[-. ]${DIGIT}{3}[-. ]${DIGIT}{4}${END}`,
  ].join('|'),
  'giu',
);
const DIGITS = /\p{Nd}/gu;
/** No number that `PHONES` finds has fewer. */
const PHONE_DIGITS_MIN = 7;
const [DIGIT_0, DIGIT_9, LAST_OF_ASCII] = [0x30, 0x39, 0x7f];
/** In each way to write an @ or a + in ASCII, save the + itself. */
const [AT, PERCENT, BACKSLASH] = [0x40, 0x25, 0x5c];

/** About 3 ms of work; a text is masked in pieces of this length where it can be cut. */
const PIECE_CHARACTERS = 16 * 1024;
/** No piece is longer: some 30 ms at the worst. So is no text of an event, as long as `PROPERTIES_BYTES_MAX` is at its default. */
const PIECE_CHARACTERS_MAX = 64 * 1024;
/** Of no address, and of no phone number: neither reaches over one of these. */
const SEPARATOR = /[\n\r\t"<>[\];:]/;
const LETTER = /[A-Za-z]/;

/** Whether a field of this name holds contact data, in camelCase, snake_case, kebab-case or all in one. */
export function isContactName(name: string): boolean {
  return haveContactWord(wordsOf(name));
}

/** The same of a name that is in words already. */
export function haveContactWord(words: readonly string[]): boolean {
  return words.some((word) => CONTACT_WORDS.has(word) || CONTACT_WORD.test(word));
}

/** The words of a field's name, in lower case: `userEMail-address2` has `user`, `e`, `mail` and `address`. */
export function wordsOf(name: string): string[] {
  return name.match(WORDS)?.map((word) => word.toLowerCase()) ?? [];
}

/** Masks every email address and phone number in a text, and leaves the rest of it. */
export function maskContacts(text: string): string {
  return text.length <= PIECE_CHARACTERS ? maskPiece(text) : runAtOnce(contactSteps(text));
}

/**
 * The same in steps of bounded work. A run of more than 64 KiB in which nothing separates words is hidden whole: it is nothing
 * that people read, and could only be looked through in one go.
 */
export function* contactSteps(
  text: string,
  { pieceCharacters, pieceCharactersMax } = {
    pieceCharacters: PIECE_CHARACTERS,
    pieceCharactersMax: PIECE_CHARACTERS_MAX,
  },
): Steps<string> {
  let masked = '';
  for (let from = 0; from < text.length;) {
    const isLast = text.length - from <= pieceCharacters;
    const to = isLast ? text.length : cutAfter(text, from, pieceCharacters);
    masked += to - from > pieceCharactersMax ? HIDDEN + separatorBefore(text, to) : maskPiece(text.slice(from, to));
    from = to;
    yield undefined;
  }
  return masked;
}

/** The first place behind so many characters, else the last one before, at which no address and no number is cut in two. */
function cutAfter(text: string, from: number, characters: number): number {
  let to = from + characters;
  while (to < text.length && !isCut(text, to)) to += 1;
  if (to - from <= 2 * characters) return to;
  for (let sooner = from + characters - 1; sooner > from; sooner -= 1) if (isCut(text, sooner)) return sooner;
  return to;
}

function separatorBefore(text: string, to: number): string {
  return to < text.length ? text.charAt(to - 1) : '';
}

function isCut(text: string, at: number): boolean {
  const before = text.charAt(at - 1);
  return SEPARATOR.test(before) || (before === ' ' && LETTER.test(text.charAt(at)));
}

function maskPiece(text: string): string {
  if (!mayHoldContact(text)) return text;
  return replaceAddresses(text, (between) => between.replace(PHONES, maskPhone));
}

/** False of most texts, after a look at each character: a tenth of what the expressions cost. */
function mayHoldContact(text: string): boolean {
  let digits = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === AT || code === PERCENT || code === BACKSLASH || code > LAST_OF_ASCII) return true;
    if (code >= DIGIT_0 && code <= DIGIT_9) digits += 1;
  }
  return digits >= PHONE_DIGITS_MIN;
}

/** Whether the text is one email address and nothing else. */
export function isAddress(text: string): boolean {
  let rest = '';
  replaceAddresses(text, (between) => {
    rest += between;
    return between;
  });
  return text !== '' && rest === '';
}

/** `j***@e***.com`; a part of one character is hidden whole. */
export function maskAddress(local: string, domain: string): string {
  const dot = domain.lastIndexOf('.');
  if (dot === -1) return `${initial(local)}${HIDDEN}@${initial(domain)}${HIDDEN}`;
  const top = domain.slice(dot + 1);
  const shownTop = TOP_LEVEL_DOMAIN.test(top) ? top : HIDDEN;
  return `${initial(local)}${HIDDEN}@${initial(domain.slice(0, dot))}${HIDDEN}.${shownTop}`;
}

/** `+49*******12`, whatever the number's length; a short number is hidden whole. */
export function maskPhone(number: string): string {
  const digits = number.replace(/\\u002b|%2B/gi, '+').match(DIGITS) ?? [];
  if (digits.length < SHOWN_PHONE_DIGITS_MIN) return HIDDEN;
  const plus = /^\(?(?:[+＋]|%2B|\\u002b)/i.test(number) ? '+' : '';
  return `${plus}${digits.slice(0, 2).join('')}${HIDDEN_DIGITS}${digits.slice(-2).join('')}`;
}

/** Masks the addresses in a text, and puts what lies between them through `between`. */
function replaceAddresses(text: string, between: (part: string) => string): string {
  let masked = '';
  let done = 0;
  // An address is looked for on both sides of its @, and never across another @ or what is done, so every character is
  // met a few times at most: a pattern that began with the local part would try every start of a long word anew.
  let floor = 0;
  // Where the local part begins that reaches down to the floor: an encoded @ without a domain belongs to it (`x%40@a.de`).
  let joined = 0;
  for (const at of text.matchAll(AT_SIGN)) {
    if (at.index < done) continue;
    const found = localStart(text, at.index, floor);
    const start = found === floor ? joined : found;
    const after = at.index + at[0].length;
    floor = after;
    joined = at[0].length > 1 ? start : after;
    if (start === at.index) continue;
    const end = domainEnd(text, after);
    if (end === after) continue;
    masked += between(text.slice(done, start)) + maskAddress(text.slice(start, at.index), text.slice(after, end));
    done = end;
    floor = end;
    joined = end;
  }
  return masked + between(text.slice(done));
}

function localStart(text: string, at: number, floor: number): number {
  let start = at;
  while (start > floor && !isOutsideAddress(text, start - 1)) start -= 1;
  return start;
}

/** Also over further domains (`a@b@c.de`), or the second half of `b@c.de` would be left. */
function domainEnd(text: string, from: number): number {
  // What is taken back at the end holds no beginning of a domain, so it is not gone over again for the next @.
  if (!DOMAIN_BEGIN.test(text.charAt(from))) return from;
  let end = from + 1;
  while (end < text.length && isInDomains(text, end)) end += 1;
  while (NOT_AT_DOMAIN_END.test(text.charAt(end - 1))) end -= 1;
  return end;
}

/** Whether the character at an index fits, by a table for all that is ASCII: an expression takes ten times as long. */
function looker(expression: RegExp): (text: string, index: number) => boolean {
  const known = Array.from({ length: 128 }, (_unused, code) => expression.test(String.fromCharCode(code)));
  return (text, index) => known[text.charCodeAt(index)] ?? expression.test(text.charAt(index));
}

function initial(part: string): string {
  const [first = '', second] = part.slice(0, 4);
  return second === undefined || first === '*' ? '' : first;
}
