import type { Participant, Principal } from './principal';

/**
 * The key that a rate limit counts by: a backend's credential, or a participant, so that a new token changes nothing. The
 * console has a limit of its own, so that who works there takes nothing from the backends with the same key.
 */
export function rateLimitSubjectOf(verified: Principal | Participant): string {
  if ('subject' in verified) return `${verified.credentialId}/${verified.subject}`;
  return verified.session === undefined ? verified.credentialId : `${verified.credentialId}/console`;
}
