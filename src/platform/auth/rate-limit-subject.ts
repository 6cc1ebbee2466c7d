import type { Participant, Principal } from './principal';

/** Whom a rate limit counts: a backend's credential, or a participant, whose next token does not start anew. */
export function rateLimitSubjectOf(verified: Principal | Participant): string {
  return 'subject' in verified ? `${verified.credentialId}/${verified.subject}` : verified.credentialId;
}
