import type { Fault } from '../../platform/errors/fault';
import type { StoredPayloadState, ReviewPayload, ReviewSeverity, ReviewStage, ReviewStatus } from './review-entry';

/** A review entry with what was sent, unmasked: for whoever sends it again, not for views. */
export interface StoredEntry {
  readonly id: string;
  readonly severity: ReviewSeverity;
  readonly stage: ReviewStage;
  readonly status: ReviewStatus;
  readonly family: string;
  readonly source: string | null;
  readonly externalEventId: string | null;
  /** The id that the event has, or would get. */
  readonly eventId: string | null;
  readonly details: readonly Fault[];
  /** Null when its time is over. */
  readonly payload: string | null;
  readonly payloadForm: ReviewPayload['form'];
  readonly payloadState: StoredPayloadState | null;
  readonly firstSeenAt: Date;
  readonly resolution: Readonly<Record<string, unknown>> | null;
}
