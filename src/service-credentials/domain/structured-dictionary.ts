import { parseDictionary, serializeDictionary, type Dictionary } from 'structured-headers';
import { credentialRefused } from '../../platform/errors/challenges';
import type { DomainError } from '../../platform/errors/domain-error';

/** How `Signature-Input`, `Signature` and `Content-Digest` are written: as dictionaries of RFC 9651. */
export type { Dictionary };

const WHITE_SPACE = /[ \t]+/g;

/**
 * Reads a header that is a dictionary; white space is free. Throws `invalid_signature` when the header is missing, or has
 * anything in a second spelling: of two equal keys the library lets the last one win, and takes 5.0 for the integer 5, so
 * that what is checked would not be what was sent.
 */
export function readDictionary(name: string, header: string | undefined): Dictionary {
  if (header === undefined) throw signatureRefused(`The header ${name} is missing; a signed request needs it.`);
  const dictionary = parsed(header);
  if (dictionary === undefined) {
    throw signatureRefused(`The header ${name} is not a dictionary as RFC 9651 writes it, with every key once.`);
  }
  return dictionary;
}

function parsed(header: string): Dictionary | undefined {
  try {
    const dictionary = parseDictionary(header);
    return squeezed(serializeDictionary(dictionary)) === squeezed(header) ? dictionary : undefined;
  } catch {
    // The library throws errors of several kinds for text that is none.
    return undefined;
  }
}

function squeezed(text: string): string {
  return text.replace(WHITE_SPACE, '');
}

/** 401 `invalid_signature`; `words` say what is wrong with the signature and never repeat a part of it. */
export function signatureRefused(words: string): DomainError {
  return credentialRefused('invalid_signature', words);
}
