import { maskContacts } from '../privacy/contact-data';
import type { JsonExcess } from '../values/json/json-scan';
import type { TimestampFaultCode } from '../values/timestamp';
import type { Fault } from './fault';

/** The longest field name that an answer repeats, in UTF-16 units. */
const NAME_LENGTH_MAX = 64;
/** The longest path that an answer shows, in UTF-16 units: eight usual names inside one another are much shorter. */
const PATH_LENGTH_MAX = 256;
const CUT_OFF = '…';
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
/** C0 and C1 controls, line and paragraph separators, and what turns the writing direction of a terminal. */
const UNSAFE_TO_SHOW = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/**
 * A field's name in the form that an answer may show: shortened, without characters that could disturb a log or a terminal,
 * and without contact data, which some clients send as field names.
 */
export function shownName(name: string): string {
  const start = name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX)}…` : name;
  return maskContacts(start.replace(UNSAFE_TO_SHOW, '\uFFFD'));
}

/** The path of a field below `parent`, written as in JavaScript: `identity.type`, `attributes["odd key"]`. */
export function fieldPath(parent: string, name: string): string {
  const shown = shownName(name);
  if (!IDENTIFIER.test(shown)) return bounded(parent, `[${JSON.stringify(shown)}]`);
  return parent === '' ? shown : bounded(parent, `.${shown}`);
}

/** The path of a list's entry: `items[3]`. */
export function itemPath(parent: string, index: number): string {
  return bounded(parent, `[${index}]`);
}

/** Cuts a long path. Deeper fields then have the path of their parent. */
function bounded(parent: string, step: string): string {
  if (parent.endsWith(CUT_OFF)) return parent;
  const path = `${parent}${step}`;
  return path.length > PATH_LENGTH_MAX ? `${path.slice(0, PATH_LENGTH_MAX).toWellFormed()}${CUT_OFF}` : path;
}

/** The subject of a message about `path`. */
export function subject(path: string): string {
  return path === '' ? 'The body' : path;
}

/** Absent or null. */
export function requiredFault(path: string): Fault {
  return { path, code: 'required', message: `${subject(path)} is required.` };
}

/** `expected` with its article: `a string`, `a list`. */
export function typeFault(path: string, expected: string): Fault {
  return { path, code: 'type', message: `${subject(path)} must be ${expected}.` };
}

/** Text without a visible character. */
export function emptyFault(path: string): Fault {
  return { path, code: 'empty', message: `${subject(path)} is empty.` };
}

/** Characters are Unicode code points. */
export function tooLongFault(path: string, charactersMax: number): Fault {
  return { path, code: 'too_long', message: `${subject(path)} is longer than ${counted(charactersMax, 'character')}.` };
}

/** Characters are Unicode code points. */
export function tooShortFault(path: string, charactersMin: number): Fault {
  const message = `${subject(path)} is shorter than ${counted(charactersMin, 'character')}.`;
  return { path, code: 'too_short', message };
}

/** `allowed` are constants of the service, never sent values. */
export function enumFault(path: string, allowed: readonly unknown[]): Fault {
  return { path, code: 'enum', message: `${subject(path)} must be one of ${allowed.map(String).join(', ')}.` };
}

/** `limit` goes on after "must be": `a number from 1 to 10`. */
export function rangeFault(path: string, limit: string): Fault {
  return { path, code: 'range', message: `${subject(path)} must be ${limit}.` };
}

/** A number that a double cannot represent exactly (docs/adr/0050). */
export function inexactFault(path: string): Fault {
  return { path, code: 'range', message: `${subject(path)} cannot be stored exactly as a number; send it as text.` };
}

/** `form` goes on after the field's name: `is not a UUID`. */
export function formatFault(path: string, form: string): Fault {
  return { path, code: 'format', message: `${subject(path)} ${form}.` };
}

/** Text that PostgreSQL cannot store. */
export function invalidCharactersFault(path: string): Fault {
  const message = `${subject(path)} contains U+0000 or a lone surrogate, which cannot be stored; remove it.`;
  return { path, code: 'invalid_characters', message };
}

/** A time without an offset is ambiguous. */
export function missingOffsetFault(path: string): Fault {
  const message = `${subject(path)} has no offset; end it in Z or in an offset such as +02:00.`;
  return { path, code: 'missing_offset', message };
}

export function tooManyItemsFault(path: string, itemsMax: number): Fault {
  const message = `${subject(path)} has more than ${counted(itemsMax, 'entry', 'entries')}.`;
  return { path, code: 'too_many_items', message };
}

export function tooFewItemsFault(path: string, itemsMin: number): Fault {
  const message = `${subject(path)} must have at least ${counted(itemsMin, 'entry', 'entries')}.`;
  return { path, code: 'too_few_items', message };
}

/** An object with more fields than it may have. */
export function tooManyKeysFault(path: string, keysMax: number): Fault {
  return { path, code: 'too_many_keys', message: `${subject(path)} has more than ${counted(keysMax, 'key')}.` };
}

/** Excessive structure, which is refused before the body is parsed. */
export function excessFault(path: string, { code, max }: JsonExcess): Fault {
  if (code === 'too_many_keys') return tooManyKeysFault(path, max);
  const message =
    code === 'too_deep'
      ? `${subject(path)} nests objects and lists more than ${max} levels deep; flatten it.`
      : `${subject(path)} has more than ${max} values; send less at once.`;
  return { path, code, message };
}

/** `whole` is the object without this field: `this body`, `this query`. `meant` is a similar field that it has. */
export function unknownFieldFault(path: string, whole: string, meant?: string): Fault {
  return withSuggestion({ path, code: 'unknown_field', message: `${path} is not a field of ${whole}.` }, meant);
}

/** Adds a suggestion to the message of a fault, if there is one. */
export function withSuggestion(fault: Fault, meant: string | undefined): Fault {
  return meant === undefined ? fault : { ...fault, message: `${fault.message}${didYouMean(meant)}` };
}

/** The end of a message, beginning with a space; empty without a suggestion. */
export function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : ` Did you mean ${shownName(meant)}?`;
}

/** The last fault of a list that was cut; see `capFaults`. */
export function tooManyFaultsFault(more: number): Fault {
  const message = `There are ${counted(more, 'more fault')} that are not listed; correct these first.`;
  return { path: '', code: 'too_many_faults', message };
}

function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The fault at `path` for text that `parseTimestamp` refused. */
export function timestampFault(code: TimestampFaultCode, path: string): Fault {
  if (code === 'missing_offset') return missingOffsetFault(path);
  return formatFault(path, 'is not an ISO 8601 date-time with an offset; write it like 2026-01-02T03:04:05Z');
}
