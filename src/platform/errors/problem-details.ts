import { FORBIDDEN_CHALLENGE } from './challenges';
import type { DomainError } from './domain-error';
import { ERROR_CODES, type ErrorCode } from './error-codes';
import type { Fault } from './fault';
import { statusOf, type StatusPolicy } from './status-policy';

/** The media type of every error (RFC 9457). It is JSON, hence UTF-8, and defines no `charset` parameter. */
export const PROBLEM_MEDIA_TYPE = 'application/problem+json';

/** The body of every error (RFC 9457, contract section 1). */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly error_code: ErrorCode;
  readonly message: string;
  readonly details: readonly Fault[];
  readonly request_id: string;
  /** The state path of a refused mutation. */
  readonly path?: string;
}

/** The body of a refusal. `detail` and `message` are the same text; see `DomainError` for what it may contain. */
export function problemDetails(error: DomainError, requestId: string, policy: StatusPolicy = {}): ProblemDetails {
  return {
    type: problemType(error.code),
    title: ERROR_CODES[error.code].title,
    status: statusOf(error.code, policy),
    detail: error.message,
    error_code: error.code,
    message: error.message,
    details: error.details,
    request_id: requestId,
    ...(error.extras.path === undefined ? {} : { path: error.extras.path }),
  };
}

/**
 * The problem's `type`: a relative reference that stays the same on every host and in every version. It names the
 * problem and need not resolve to a page.
 */
export function problemType(code: ErrorCode): string {
  return `/problems/${code}`;
}

/** The headers of a refusal, beside those of every answer. */
export function problemHeaders(error: DomainError, policy: StatusPolicy = {}): Record<string, string> {
  const status = statusOf(error.code, policy);
  // A refusal holds for this time and this caller only, so caches must not store it.
  const headers: Record<string, string> = { 'Content-Type': PROBLEM_MEDIA_TYPE, 'Cache-Control': 'no-store' };
  // RFC 9110 requires a challenge on every 401, RFC 6750 on every 403. Code that knows the credential sends a better one.
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (status === 403) Object.assign(headers, FORBIDDEN_CHALLENGE);
  const retryAfterSeconds = error.extras.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
  Object.assign(headers, error.extras.headers);
  // A challenge is about credentials. It does not belong on a 409, the status that an operator may choose instead of 403.
  if (status === 409) delete headers['WWW-Authenticate'];
  return headers;
}
