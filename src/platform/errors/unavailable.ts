import { DomainError } from './domain-error';

/** `unavailable` with the words that invite a safe repetition (contract section 1, 503); a read has words of its own. */
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
