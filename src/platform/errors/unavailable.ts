import { DomainError } from './domain-error';

/** `unavailable` with a message that invites a safe retry (contract section 1, 503). Reads have their own message. */
export function unavailable(cause?: unknown): DomainError {
  return new DomainError(
    'unavailable',
    'The service cannot store this now. Send the same again after the time in Retry-After; it takes effect once.',
    {
      retryAfterSeconds: 1,
      messageOfRead: 'The service cannot read this now. Send the same request again after the time in Retry-After.',
      cause,
    },
  );
}
