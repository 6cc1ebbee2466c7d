import type { IdentityWarning } from '../../identity/domain/resolve-profile';
import type { ErrorCode } from '../../platform/errors/error-codes';
import type { Fault } from '../../platform/errors/fault';

/** Why an event is not taken, as the answer and the review area say it. */
export interface Refusal {
  readonly code: Extract<
    ErrorCode,
    'validation_failed' | 'source_not_allowed' | 'identity_conflict' | 'profile_erased' | 'unavailable'
  >;
  readonly message: string;
  readonly details: readonly Fault[];
}

/** What is odd about an event that is taken all the same (contract section 7). */
export type WarningReason = 'payload_mismatch' | IdentityWarning | 'clock_skew' | 'event_type_deprecated';

/** An event that is stored: now, or before. */
export interface StoredResult {
  readonly status: 'accepted' | 'duplicate';
  readonly eventId: string;
  readonly warnings: readonly WarningReason[];
  /** What the stored event says, so that further copies can be compared with it. */
  readonly storedHash: string;
  /** True for a copy that no transaction has seen (`unseenDuplicateResult`): its warnings are not in the review area yet. */
  readonly hasUnrecordedWarnings?: boolean;
}

export interface RefusedResult {
  readonly status: 'error';
  readonly refusal: Refusal;
}

/** What becomes of one event (specification, event ingest result). */
export type IngestResult = StoredResult | RefusedResult;

/** Whether the event could only not be stored now: its sender sends it again, and it is no problem of the event. */
export function isUnavailable({ refusal }: { readonly status: string; readonly refusal?: Refusal }): boolean {
  return refusal?.code === 'unavailable';
}
