import { parsePhoneNumberFromString } from 'libphonenumber-js/min';
import type { Traces } from '../../platform/privacy/personal-data';
import type { Identifier } from './identifier';

/** Shorter runs of digits are part of too many other numbers. */
const DIGITS_MIN = 6;

/** How text such as a refused payload may show somebody who has these identifiers. */
export function tracesOf(identifiers: readonly Identifier[]): Traces {
  const valuesOf = (...kinds: Identifier['kind'][]): string[] =>
    identifiers.filter(({ kind }) => kinds.includes(kind)).map(({ value }) => value);
  return {
    quoted: spellings(valuesOf('EXTERNAL', 'DEVICE')),
    within: spellings(valuesOf('EMAIL')).map((text) => text.toLowerCase()),
    digits: unique(valuesOf('PHONE').flatMap(digitsOf)),
  };
}

/** As it is, as JSON writes it, and as JSON writes it where all must be ASCII. */
function spellings(values: readonly string[]): string[] {
  return unique(
    values.flatMap((value) => {
      const json = JSON.stringify(value).slice(1, -1);
      return [value, json, inAscii(json)];
    }),
  );
}

function inAscii(json: string): string {
  // Without the u flag, each half of a pair by itself: this is how JSON escapes it.
  return json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** With the country's code, and as it is dialled within the country. */
function digitsOf(phone: string): string[] {
  const national = parsePhoneNumberFromString(phone)?.nationalNumber ?? '';
  return [phone.replace(/\D/g, ''), national].filter((digits) => digits.length >= DIGITS_MIN);
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
