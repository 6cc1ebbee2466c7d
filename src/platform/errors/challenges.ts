import { DomainError } from './domain-error';
import type { ErrorCode } from './error-codes';
import type { Fault } from './fault';

const REALM = 'campaign-data-service';

/** The RFC 6750 challenge of a refusal; without an error code when no credential was sent (section 3.1 there). */
function challenge(error?: 'invalid_token' | 'insufficient_scope', scope?: string): Record<string, string> {
  const parts = [`realm="${REALM}"`];
  if (error !== undefined) parts.push(`error="${error}"`);
  if (scope !== undefined) parts.push(`scope="${scope}"`);
  return { 'WWW-Authenticate': `Bearer ${parts.join(', ')}` };
}

/** 401 `unauthenticated`: there is no credential, or it is not readable. */
export function credentialNeeded(message: string): DomainError {
  return new DomainError('unauthenticated', message, { headers: challenge() });
}

/** `message` says what is wrong with the credential and never repeats it. */
export function credentialRefused(code: ErrorCode, message: string): DomainError {
  return new DomainError(code, message, { headers: challenge('invalid_token') });
}

/** 403 `insufficient_scope`; the challenge names the scope (RFC 6750, section 3.1), `message` why it is needed. */
export function scopeMissing(scope: string, message?: string, details: readonly Fault[] = []): DomainError {
  return new DomainError('insufficient_scope', message ?? `The credential lacks the scope ${scope}.`, {
    headers: challenge('insufficient_scope', scope),
    details,
  });
}

/** The challenge of a 403 that is not about one scope, such as a source that the credential may not send. */
export const FORBIDDEN_CHALLENGE: Readonly<Record<string, string>> = challenge('insufficient_scope');
