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

/** What a refusal looks like on the wire. `detail` and `message` are the same text: see DomainError for what it may say. */
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

/** The headers a refusal brings along, beside those of every answer. */
export function problemHeaders(error: DomainError, policy: StatusPolicy = {}): Record<string, string> {
  const status = statusOf(error.code, policy);
  // A refusal is about this moment and this caller: nobody may keep it for the next one.
  const headers: Record<string, string> = { 'Content-Type': PROBLEM_MEDIA_TYPE, 'Cache-Control': 'no-store' };
  // RFC 9110 wants a challenge on every 401, and RFC 6750 has one for every 403; whoever knows more about the credential sends a better one.
  if (status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (status === 403) Object.assign(headers, FORBIDDEN_CHALLENGE);
  const retryAfterSeconds = error.extras.retryAfterSeconds ?? (status === 503 ? 1 : undefined);
  if (retryAfterSeconds !== undefined) headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
  Object.assign(headers, error.extras.headers);
  // A challenge speaks of credentials; where the operator has made a conflict of the refusal, it has nothing to say.
  if (status === 409) delete headers['WWW-Authenticate'];
  return headers;
}
