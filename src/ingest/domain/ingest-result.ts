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

/** The refusal of an event of a source that the credential may not send; undefined when it may. `allowed`: null is all. */
export function refuseSource(source: unknown, allowed: ReadonlySet<string> | null): Refusal | undefined {
  if (allowed === null || typeof source !== 'string' || allowed.has(source)) return undefined;
  const message = 'The credential may not send events of this source; use one whose sources name it.';
  return { code: 'source_not_allowed', message, details: [{ path: 'source', code: 'source_not_allowed', message }] };
}

type StoreRefusalCode = Exclude<Refusal['code'], 'source_not_allowed'>;

const STORE_MESSAGES: Readonly<Record<StoreRefusalCode, string>> = {
  identity_conflict:
    'The identifiers belong to two different customers; correct them, or name the EXTERNAL identifier of one.',
  profile_erased:
    'The identifiers belong to a person who was erased; events of them are not taken until the erasure is lifted.',
  validation_failed: 'The event holds a value that cannot be stored.',
  unavailable: 'The event could not be stored now; send it again with the same id, it takes effect once.',
};

/** The result of an event that storing refused. */
export function refusedByStore(code: StoreRefusalCode): RefusedResult {
  const message = STORE_MESSAGES[code];
  const details: Fault[] =
    code === 'identity_conflict' || code === 'profile_erased' ? [{ path: 'identity', code, message }] : [];
  return { status: 'error', refusal: { code, message, details } };
}
