import type { ReviewStage, ReviewStatus } from '../../review/domain/review-entry';

/** `queued` until the first piece is done; `failed` when it cannot go on. */
export const REPLAY_STATES = ['queued', 'running', 'done', 'failed'] as const;
export type ReplayState = (typeof REPLAY_STATES)[number];

/** Which entries a bulk replay sends: all that fit when it is asked for. */
export interface ReplayFilter {
  readonly status: ReviewStatus;
  readonly stage?: ReviewStage;
  readonly reason?: string;
  readonly source?: string;
  readonly eventType?: string;
}

/** What has become of entries; each of them is one of the three. */
export interface ReplayCounts {
  /** Stored now, or processed now that were stored before. */
  readonly accepted: number;
  /** Their events were stored, or processed, already. */
  readonly duplicate: number;
  /** Refused again, or nothing was there to send. */
  readonly failed: number;
}
