import { runAtOnce, type Steps } from '../values/time-slice';
import {
  contactSteps,
  HIDDEN,
  isContactName,
  wordsOf,
  isAddress,
  maskAddress,
  maskContacts,
  maskPhone,
} from './contact-data';

// Beyond contact data: nothing tells which type a malformed event is of, and so which of its properties are pii.
const PERSONAL_NAMES: ReadonlySet<string> = new Set([
  ...[
    'identity',
    'identities',
    'identifier',
    'value',
    'externaluserid',
    'externalid',
    'devicekey',
    'deviceid',
    'userid',
  ],
  ...['customerid', 'username', 'name', 'firstname', 'lastname', 'fullname', 'surname', 'birthday', 'birthdate'],
  ...['dateofbirth', 'address', 'street', 'iban', 'ssn', 'passport', 'password', 'token', 'secret', 'authorization'],
]);

// In a form the brackets of identity[email] are %5B and %5D, which belong to no name.
const NAME = /%5[BD]|[\p{L}\p{N}_$-]+/giu;
// What may follow a name: the end of its quotes, or of its brackets in a form; white space, a colon, = or =>, white space.
const AFTER_NAME = /(\\*["'`]|(?:\]|%5D)(?==))?\s*([:=]>?)?\s*/iuy;
const OPENING_QUOTE = /(\\*)(["'`])/y;
const BARE_VALUE = /[^,;&{}[\]"'`<>\r\n]+/y;
const NOTHING_PERSONAL = /^(?:true|false|null)$/;
const NUMBER = /^[+-]?[\d.]+(?:e[+-]?\d+)?$/i;
/** No name of a field is longer; a longer word need not be taken apart. */
const NAME_LENGTH_MAX = 128;
/** `tel`, `fax`, `ssn`: no name that tells something personal is shorter. */
const NAME_LENGTH_MIN = 3;
/** Words after which the work can be interrupted; each costs some microseconds. */
const WORDS_PER_STEP = 256;

/**
 * Text that should have been JSON, as views show it (contract section 7): values that follow the name of contact data,
 * of an identifier or of something else personal are masked, objects and lists that follow one are hidden whole, and so
 * are email addresses and phone numbers anywhere. `piiNames` are further names whose values are masked.
 *
 * What is malformed can be anything (a quote or a colon is missing, JSON stands inside a JSON string), so this trusts no
 * quotes and rather masks too much: where an end is missing, everything to the end of the text. Linear in the text.
 */
export function maskText(text: string, piiNames: ReadonlySet<string> = new Set()): string {
  return runAtOnce(textSteps(text, piiNames));
}

/** The same in steps of bounded work. */
export function* textSteps(text: string, piiNames: ReadonlySet<string>): Steps<string> {
  let masked = '';
  let done = 0;
  let words = 0;
  for (const match of text.matchAll(NAME)) {
    words += 1;
    if (words % WORDS_PER_STEP === 0) yield undefined;
    const [name] = match;
    if (match.index < done || name.length > NAME_LENGTH_MAX || !(piiNames.has(name) || isPersonalName(name))) continue;
    const start = valueStart(text, match.index + name.length);
    if (start === undefined) continue;
    const value = maskValueAt(text, start);
    if (value === undefined) continue;
    masked += (yield* contactSteps(text.slice(done, start))) + value.masked;
    done = value.end;
  }
  return masked + (yield* contactSteps(text.slice(done)));
}

/** Whether the name of a field, however it is spelt, says that its value is about who somebody is. */
export function isPersonalName(name: string): boolean {
  if (name.length < NAME_LENGTH_MIN) return false;
  return PERSONAL_NAMES.has(wordsOf(name).join('')) || isContactName(name);
}

/** Where the value of a name that ends at `index` begins; undefined if it is no field's name. */
function valueStart(text: string, index: number): number | undefined {
  AFTER_NAME.lastIndex = index;
  const [all = '', quote, separator] = AFTER_NAME.exec(text) ?? [];
  return quote === undefined && separator === undefined ? undefined : index + all.length;
}

function maskValueAt(text: string, start: number): { readonly masked: string; readonly end: number } | undefined {
  const first = text.charAt(start);
  if (first === '{' || first === '[') return { masked: HIDDEN, end: containerEnd(text, start) };
  OPENING_QUOTE.lastIndex = start;
  const [opening, backslashes = '', quote = ''] = OPENING_QUOTE.exec(text) ?? [];
  if (opening !== undefined) {
    const from = start + opening.length;
    const end = quotedEnd(text, from, quote, backslashes.length);
    return { masked: opening + maskValue(text.slice(from, end)), end };
  }
  BARE_VALUE.lastIndex = start;
  const [bare] = BARE_VALUE.exec(text) ?? [];
  if (bare === undefined || NOTHING_PERSONAL.test(bare.trim())) return undefined;
  return { masked: NUMBER.test(bare.trim()) ? HIDDEN : maskValue(bare), end: start + bare.length };
}

/** Before the quote that closes a text opened by one with so many backslashes before it (JSON inside JSON has some). */
function quotedEnd(text: string, from: number, quote: string, backslashes: number): number {
  let before = 0;
  for (let index = from; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === quote && (before <= backslashes || (backslashes === 0 && before % 2 === 0)))
      return index - before;
    before = character === '\\' ? before + 1 : 0;
  }
  return text.length;
}

/** After the bracket that closes the one at `start`; brackets in quotes do not count. */
function containerEnd(text: string, start: number): number {
  let open = 0;
  let quoted = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '\\') index += 1;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && (character === '{' || character === '[')) open += 1;
    else if (!quoted && (character === '}' || character === ']')) open -= 1;
    if (open === 0) return index + 1;
  }
  return text.length;
}

/** A number as it is dialled, whole. */
const DIALLED = /^\(?(?:[+＋]|0)[\p{Nd} ()./-]*$/u;
const MASKED_PHONE = /^\+?\d{2}\*{7}\d{2}$/;
/** `***`, `ab***`; `j***@e***.com` and `+49*******12`, anywhere in a text. */
const MASK = /^(?:..)?\*{3}$|\*{3}@.?\*{3}|\p{Nd}{2}\*{7}\p{Nd}{2}/su;
/** No address and no number is longer; what is need not be looked through for one. */
const CONTACT_CHARACTERS_MAX = 1_000;
/** What the first characters of a text may tell: of three or fewer nothing. */
const SHOWN_LENGTH_MIN = 4;

/** An identity value as views show it (contract section 6): `j***@e***.com`, `+49*******12`, `ab***`. */
export function maskIdentity(kind: 'EXTERNAL' | 'EMAIL' | 'PHONE' | 'DEVICE', value: string): string {
  if (kind === 'PHONE') return MASKED_PHONE.test(value) ? value : maskPhone(value);
  const at = value.lastIndexOf('@');
  if (kind === 'EMAIL' && at !== -1) return maskAddress(value.slice(0, at), value.slice(at + 1));
  return maskPlain(value);
}

/** A value that must not be shown, in the form that suits it. Of anything but text nothing is shown. */
export function maskValue(value: unknown): string {
  if (typeof value !== 'string') return HIDDEN;
  const text = value.trim();
  if (text.length > CONTACT_CHARACTERS_MAX) return maskPlain(text);
  if (isAddress(text)) return maskContacts(text);
  if (MASKED_PHONE.test(text)) return text;
  return DIALLED.test(text) ? maskPhone(text) : maskPlain(text);
}

/** Whether a text is the mask of a value, or has a masked email address or phone number in it. */
export function looksMasked(text: string): boolean {
  return MASK.test(text);
}

function maskPlain(text: string): string {
  // Code points, so that no pair of surrogates is torn apart.
  const start = Array.from(text.slice(0, 2 * SHOWN_LENGTH_MIN));
  return start.length < SHOWN_LENGTH_MIN ? HIDDEN : `${start.slice(0, 2).join('')}${HIDDEN}`;
}
