import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import type { Traces } from '../../platform/privacy/personal-data';
import type { Identifier } from './identifier';

/** Shorter runs of digits occur in too many other numbers. */
const DIGITS_MIN = 6;

/** The texts by which a search finds a person with these identifiers, for example in a refused payload. */
export function tracesOf(identifiers: readonly Identifier[]): Traces {
  const valuesOf = (...kinds: Identifier['kind'][]): string[] =>
    identifiers.filter(({ kind }) => kinds.includes(kind)).map(({ value }) => value);
  return {
    quoted: spellings(valuesOf('EXTERNAL', 'DEVICE')),
    within: spellings(valuesOf('EMAIL')).map((text) => text.toLowerCase()),
    digits: unique(valuesOf('PHONE').flatMap(digitsOf)),
  };
}

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
