import { parseDictionary, serializeDictionary, type Dictionary } from 'structured-headers';
import { credentialRefused } from '../../platform/errors/challenges';
import type { DomainError } from '../../platform/errors/domain-error';

/** Of UTF-16. Ten times what a signature needs; reading the 16 KiB of all headers takes 6 ms, before anything is verified. */
const CHARACTERS_MAX = 4_096;
const WHITE_SPACE = /[ \t]+/g;

/**
 * Reads a header that is a dictionary of RFC 9651, such as `Signature-Input`. White space is free. Throws
 * `invalid_signature` when the header is missing, too long or not in canonical form: the library takes the last of two equal
 * keys, and 5.0 for the integer 5, so that the checked value would differ from the sent one.
 */
export function readDictionary(name: string, header: string | undefined): Dictionary {
  if (header === undefined) throw signatureRefused(`The header ${name} is missing; a signed request needs it.`);
  if (header.length > CHARACTERS_MAX) {
    throw signatureRefused(`The header ${name} is longer than ${CHARACTERS_MAX} characters.`);
  }
  const dictionary = parsed(header);
  if (dictionary === undefined) {
    throw signatureRefused(`The header ${name} is not a dictionary as RFC 9651 writes it, with every key once.`);
  }
  return dictionary;
}

function parsed(header: string): Dictionary | undefined {
  try {
    const dictionary = parseDictionary(header);
    return withoutSpaces(serializeDictionary(dictionary)) === withoutSpaces(header) ? dictionary : undefined;
  } catch {
    // The library throws several kinds of errors for invalid text.
    return undefined;
  }
}

function withoutSpaces(text: string): string {
  return text.replace(WHITE_SPACE, '');
}

/** 401 `invalid_signature`. `words` say what is wrong with the signature and never repeat a part of it. */
export function signatureRefused(words: string): DomainError {
  return credentialRefused('invalid_signature', words);
}
