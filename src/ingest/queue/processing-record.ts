/** How far an event has come after it was taken. */
export const PROCESSING_STATES = ['queued', 'processed', 'failed'] as const;
export type ProcessingState = (typeof PROCESSING_STATES)[number];

/** `waiting_for_customer`: until the customer has an EXTERNAL identifier. The event is processed meanwhile. */
export const REACTION_OUTCOMES = ['applied', 'skipped', 'failed', 'waiting_for_customer'] as const;

/** What one reaction did with an event; no text in it repeats a value. */
export interface ReactionRecord {
  readonly campaignId: string;
  readonly name: string;
  readonly outcome: (typeof REACTION_OUTCOMES)[number];
  readonly reason?: string;
  /**
   * Set when a backfill brought the reaction to an event that was received before the reaction applied: when that
   * backfill was requested, by the database's clock.
   */
  readonly backfilledAt?: string;
}

/** What became of an event, as views show it. */
export interface ProcessingView {
  readonly state: ProcessingState;
  readonly attempts: number;
  readonly processedAt: Date | null;
  /** A code and words, never a value. */
  readonly lastError: string | null;
  readonly reactions: readonly ReactionRecord[];
}

/** What became of an event, as it is written down: `queued` after an attempt that failed and will be followed by another. */
export interface ProcessingRecord extends Omit<ProcessingView, 'processedAt'> {
  readonly eventId: string;
}

/**
 * A record to be written. `isFirst`: the event had none when it was read. If it has one since, somebody else has
 * processed the event, and the transaction fails: so a reaction is applied once, even without the lease.
 */
export interface RecordToWrite extends ProcessingRecord {
  readonly isFirst: boolean;
}

/** Whether a reaction to the event waits for its customer. */
export function isAnyWaiting(reactions: readonly ReactionRecord[]): boolean {
  return reactions.some(({ outcome }) => outcome === 'waiting_for_customer');
}
