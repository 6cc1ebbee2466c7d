// The smallest metadata set. For 400,000 random numbers and each country's example it gave the same E.164 text and the
// same "possible" as the largest set, which adds only validity and the type of a number.
import { isSupportedCountry, parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/min';
import type { Fault } from '../../platform/errors/fault';
import { formatFault, invalidCharactersFault, tooLongFault } from '../../platform/errors/fault-words';
import { hasMoreCharacters, isStorable, trimBlank } from '../../platform/values/text/text-rules';

/** In order of strength, the strongest first (contract section 5). */
export const IDENTIFIER_KINDS = ['EXTERNAL', 'EMAIL', 'PHONE', 'DEVICE'] as const;
export type IdentifierKind = (typeof IDENTIFIER_KINDS)[number];

/** A normalised identifier. Equal identifiers belong to the same person. */
export interface Identifier {
  readonly kind: IdentifierKind;
  readonly value: string;
}

/** An identifier of one workspace. A batch mixes workspaces. */
export interface TenantIdentifier extends Identifier {
  readonly tenantId: string;
}

/** A text that is unique to an identifier within a workspace: no kind contains a colon. */
export function identifierKey(kind: IdentifierKind, value: string): string {
  return `${kind}:${value}`;
}

/** A text that is unique to an identifier of a workspace: every workspace id is a UUID and has the same length. */
export function tenantIdentifierKey({ tenantId, kind, value }: TenantIdentifier): string {
  return `${tenantId}${identifierKey(kind, value)}`;
}

/** The operator's settings for identifiers. */
export interface IdentityRules {
  /** ISO 3166-1 alpha-2: the region of phone numbers without `+`. Absent: such numbers are refused. */
  readonly defaultPhoneRegion?: CountryCode;
  /** Lower-cased values and E.164 numbers that are refused, because unrelated persons share them. */
  readonly placeholders: ReadonlySet<string>;
}

/** Characters (code points) of a normalised identifier. */
export const IDENTIFIER_CHARACTERS_MAX = 256;

const PLACEHOLDERS = [
  '',
  'null',
  'undefined',
  'none',
  'nil',
  'nan',
  'n/a',
  'na',
  'anonymous',
  'guest',
  'unknown',
  '0',
  '-1',
  'true',
  'false',
  '[object object]',
  '00000000-0000-0000-0000-000000000000',
];

// local@domain, without what RFC 5322 reserves for lists, comments, names and routes: `J <j@x.de>` or `a@x.de,b@x.de`
// is no address. No neighbours share a character, so matching is linear.
const EMAIL = /^[^\s\p{Cc}@<>()[\],;:"\\]+@[^\s\p{Cc}@<>()[\],;:"\\.]+(?:\.[^\s\p{Cc}@<>()[\],;:"\\.]+)*$/u;
// Address books wrap numbers in invisible marks for the writing direction.
const INVISIBLE = /\p{Cf}/gu;
/** What shows nothing wherever it stands: marks and fillers, control characters, the empty Braille pattern. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const BEYOND_ASCII_TEXT = /[^ -~]/;

/**
 * The rules with `PLACEHOLDER_IDENTITIES` added to the built-in placeholders. An added phone number is refused in every
 * spelling: a form that fills in the shop's own number may write it in its own way.
 *
 * Throws a RangeError for a region that the phone library does not know; the library itself ignores it silently.
 */
export function identityRules(phoneRegion: string | undefined, additions: Iterable<string>): IdentityRules {
  const placeholders = new Set(PLACEHOLDERS);
  const defaultPhoneRegion = phoneRegion?.toUpperCase();
  if (defaultPhoneRegion !== undefined && !isSupportedCountry(defaultPhoneRegion)) {
    throw new RangeError('The default phone region is no ISO 3166-1 alpha-2 code of a country with a numbering plan');
  }
  for (const addition of additions) {
    const text = trimBlank(addition);
    placeholders.add(seenOf(text).toLowerCase());
    const phone = toE164(dialledIn(text), defaultPhoneRegion);
    if (phone !== undefined) placeholders.add(phone);
  }
  return { placeholders, ...(defaultPhoneRegion === undefined ? {} : { defaultPhoneRegion }) };
}

/**
 * Normalises an identifier (contract section 5), or returns the fault at `path`: `invalid_characters`,
 * `placeholder_identity`, `too_long`, `format` (EMAIL) or `invalid_phone`.
 *
 * Normalising twice has no effect. Lower-casing uses Unicode's default mapping, independent of the locale, so that all
 * nodes agree. Letters that are equal only in some languages (ß and ss, dotless i) stay different.
 */
export function normaliseIdentifier(
  kind: IdentifierKind,
  raw: string,
  path: string,
  rules: IdentityRules,
): { readonly identifier: Identifier } | { readonly fault: Fault } {
  const text = trimBlank(raw);
  const fault = faultOfText(text, path, rules);
  if (fault !== undefined) return { fault };
  switch (kind) {
    case 'EXTERNAL':
    case 'DEVICE':
      return { identifier: { kind, value: text } };
    case 'EMAIL':
      return normaliseEmail(text, path);
    case 'PHONE':
      return normalisePhone(text, path, rules);
  }
}

function faultOfText(text: string, path: string, rules: IdentityRules): Fault | undefined {
  if (!isStorable(text)) return invalidCharactersFault(path);
  if (hasMoreCharacters(text, IDENTIFIER_CHARACTERS_MAX)) return tooLongFault(path, IDENTIFIER_CHARACTERS_MAX);
  return rules.placeholders.has(seenOf(text).toLowerCase()) ? placeholderFault(path) : undefined;
}

/** A text as people see it: what shows nothing makes no other person of a placeholder, and nothing else is a person either. */
function seenOf(text: string): string {
  return BEYOND_ASCII_TEXT.test(text) ? trimBlank(text.replace(UNSEEN, '')) : text;
}

function placeholderFault(path: string): Fault {
  const message = `${path} is a placeholder that many persons share; leave it out or send the person's own.`;
  return { path, code: 'placeholder_identity', message };
}

function normaliseEmail(text: string, path: string): { identifier: Identifier } | { fault: Fault } {
  const value = text.toLowerCase();
  // Lower-casing can make text longer (İ becomes two characters).
  if (hasMoreCharacters(value, IDENTIFIER_CHARACTERS_MAX))
    return { fault: tooLongFault(path, IDENTIFIER_CHARACTERS_MAX) };
  if (!EMAIL.test(value)) return { fault: formatFault(path, 'is not an email address; write it as local@domain') };
  return { identifier: { kind: 'EMAIL', value } };
}

function normalisePhone(
  text: string,
  path: string,
  rules: IdentityRules,
): { identifier: Identifier } | { fault: Fault } {
  const dialled = dialledIn(text);
  const value = toE164(dialled, rules.defaultPhoneRegion);
  // For a local number (Canada's 555-0100) or a second trunk zero the library may return a number that it does not read
  // as the same number again. Such a number has no unique form and is refused.
  if (value !== undefined && (value === dialled || toE164(value, undefined) === value)) {
    if (rules.placeholders.has(value)) return { fault: placeholderFault(path) };
    return { identifier: { kind: 'PHONE', value } };
  }
  const hint =
    rules.defaultPhoneRegion === undefined
      ? 'write it with + and the country code'
      : `write it with + and the country code, or as dialled within ${rules.defaultPhoneRegion}`;
  return { fault: { path, code: 'invalid_phone', message: `${path} is not a possible phone number; ${hint}.` } };
}

/** NFKC turns full-width digits and plus signs into those that the library reads. */
function dialledIn(text: string): string {
  return text.normalize('NFKC').replace(INVISIBLE, '');
}

function toE164(text: string, region: CountryCode | undefined): string | undefined {
  // The whole text must be the number: a number found within other text may be anybody's.
  const parsed = parsePhoneNumberFromString(text, {
    extract: false,
    ...(region === undefined ? {} : { defaultCountry: region }),
  });
  // E.164 has no extensions. Without the extension, everybody behind one switchboard would be one person.
  if (parsed === undefined || parsed.ext !== undefined || !parsed.isPossible()) return undefined;
  return parsed.number;
}
