import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import type { Traces } from '../../platform/privacy/personal-data';
import type { Identifier, IdentifierKind } from './identifier';

/** Shorter runs of digits occur in too many other numbers. */
const DIGITS_MIN = 6;

/** The texts by which a search finds a person with these identifiers, for example in a refused payload. */
export function tracesOf(identifiers: readonly Identifier[]): Traces {
  const valuesOf = (form: keyof Traces): string[] =>
    identifiers.filter(({ kind }) => FORM_OF_KIND[kind] === form).map(({ value }) => value);
  return {
    quoted: spellings(valuesOf('quoted')),
    within: spellings(valuesOf('within')).map((text) => text.toLowerCase()),
    digits: unique(valuesOf('digits').flatMap(digitsOf)),
  };
}

/**
 * How each kind is searched. EXTERNAL and DEVICE identifiers may be short or common texts, so that only whole values
 * count.
 */
const FORM_OF_KIND: Readonly<Record<IdentifierKind, keyof Traces>> = {
  EXTERNAL: 'quoted',
  EMAIL: 'within',
  PHONE: 'digits',
  DEVICE: 'quoted',
};

/** Each value as it is, escaped as in JSON, and escaped as in ASCII-only JSON. */
function spellings(values: readonly string[]): string[] {
  return unique(
    values.flatMap((value) => {
      const json = JSON.stringify(value).slice(1, -1);
      return [value, json, inAscii(json)];
    }),
  );
}

function inAscii(json: string): string {
  // Without the u flag, so that each half of a surrogate pair is escaped separately, as in JSON.
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The digits with the country code, and the national number. */
function digitsOf(phone: string): string[] {
  const national = parsePhoneNumberFromString(phone)?.nationalNumber ?? '';
  return [phone.replace(/\D/g, ''), national].filter((digits) => digits.length >= DIGITS_MIN);
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
