import { credentialRefused } from '../../platform/errors/challenges';
import type { DomainError } from '../../platform/errors/domain-error';

/** 401 `invalid_signature`; `words` say what is wrong with the signature and never repeat a part of it. */
export function signatureRefused(words: string): DomainError {
  return credentialRefused('invalid_signature', words);
}
