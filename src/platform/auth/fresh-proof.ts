import { DomainError } from '../errors/domain-error';
import type { Principal } from './principal';

/**
 * Holds a caller from the console to a proof of the last minutes (contract section 10); a call with a key is a proof itself.
 * Throws `proof_required`.
 */
export function assertFreshProof({ session }: Principal, now: Date): void {
  if (session === undefined || (session.provenUntil !== null && session.provenUntil > now.getTime())) return;
  throw proofRequired('This needs a proof of the last 5 minutes. Prove again who you are, then send it again.');
}

/** 403: the request may be sent again after a proof. */
export function proofRequired(message: string): DomainError {
  return new DomainError('proof_required', message);
}
