import type { IncomingMessage, ServerResponse } from 'node:http';

/** What the service notes about a request. `AuthenticatedRequest` adds who is calling. */
export interface RequestState {
  /** Made when it is first asked for (`requestIdOf`). */
  requestId?: string;
  /** The prefix that was taken off its path; logs, metrics and traces show it. */
  mountPath?: string;
  /** Its answer, while the client waits for 100 Continue before it sends the body. */
  awaitingContinue?: ServerResponse | undefined;
  /** Digests that a signature covers. The signature is verified before the body is read. */
  expectedDigests?: readonly ExpectedDigest[];
  /** Throws unless the credential is still valid (`checkAgainLater`). */
  checkCredential?: () => unknown;
  /** One for each rate limit that has admitted it. */
  rateLimitMeters?: readonly RateLimitMeter[];
}

export type ServiceRequest = IncomingMessage & RequestState;

/**
 * Keeps how the credential is checked once more: behind a body that took time, and while a streamed answer is read
 * (`whileAdmitted`). A client decides how long both take: requests that were begun before a revocation and held open must not
 * use the credential behind it. The first check stays: a session of the console is checked before the guard of the API,
 * which takes its word.
 */
export function checkAgainLater(request: ServiceRequest, check: () => unknown): void {
  request.checkCredential ??= check;
}

/** A digest (RFC 9530) that a signature covers and that the body must have. */
export interface ExpectedDigest {
  readonly algorithm: 'sha256' | 'sha512';
  readonly value: Buffer;
}

/** What a request has cost by one of its limits. */
export interface RateLimitMeter {
  spent: number;
  /** Spends further units of the limit. */
  readonly spend: (units: number) => void;
}
