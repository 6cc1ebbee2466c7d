import type { Participant, Principal } from './principal';

/** The key that a rate limit counts by: a backend's credential, or a participant, so that a new token changes nothing. */
export function rateLimitSubjectOf(verified: Principal | Participant): string {
  return 'subject' in verified ? `${verified.credentialId}/${verified.subject}` : verified.credentialId;
}
