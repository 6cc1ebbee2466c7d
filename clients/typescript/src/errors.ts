import type { components } from './schema.js';
import type { EventResult, Fault } from './types.js';

/** A code of the service (its `docs/errors.md`), or of a failure on the way to it. */
export type CampaignDataErrorCode =
  components['schemas']['ProblemDetails']['error_code'] | 'network_error' | 'timeout' | 'unexpected_answer';

export interface ErrorFields {
  readonly message: string;
  readonly status: number;
  readonly errorCode: CampaignDataErrorCode;
  readonly details?: readonly Fault[];
  readonly requestId?: string | undefined;
  readonly path?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
  readonly results?: readonly (EventResult | undefined)[] | undefined;
}

/**
 * A call that did not succeed, after all attempts. Neither its message nor its fields hold a credential, and the service never
 * repeats the values of identities or properties.
 */
export class CampaignDataError extends Error {
  override readonly name = 'CampaignDataError';
  /** The HTTP status; 0 when there was no answer. */
  readonly status: number;
  readonly errorCode: CampaignDataErrorCode;
  /** Every fault that the service has found. */
  readonly details: readonly Fault[];
  /** The `X-Request-Id` of the answer, by which the service's logs name the request. */
  readonly requestId: string | undefined;
  /** The state path of a refused mutation. */
  readonly path: string | undefined;
  /** Milliseconds that the service asked to wait. */
  readonly retryAfterMs: number | undefined;
  /**
   * Of `events.batch`: the results of the events before it failed, each at its place in the list. Undefined: the event
   * was not sent, or its result is unknown; sending it again is safe.
   */
  readonly results: readonly (EventResult | undefined)[] | undefined;

  constructor(fields: ErrorFields) {
    const { message, status, errorCode, details = [], requestId, path, retryAfterMs, cause, results } = fields;
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.errorCode = errorCode;
    this.details = details;
    this.requestId = requestId;
    this.path = path;
    this.retryAfterMs = retryAfterMs;
    this.results = results;
  }

  /** The same failure with the results of the events before it. */
  withResults(results: readonly (EventResult | undefined)[]): CampaignDataError {
    const { message, status, errorCode, details, requestId, path, retryAfterMs, cause } = this;
    return new CampaignDataError({
      message,
      status,
      errorCode,
      details,
      requestId,
      path,
      retryAfterMs,
      cause,
      results,
    });
  }
}
