import type { EventFamily } from '../../ingest/domain/incoming-event';
import type { Transaction } from '../../platform/database/pipelined-connection';
import type { ErrorCode } from '../../platform/errors/error-codes';
import type { Fault } from '../../platform/errors/fault';
import type { FaultCode } from '../../platform/errors/fault-codes';

/** A stored event as views show it (contract section 3), unmasked. */
export interface StoredEventRecord {
  readonly eventId: string;
  readonly family: EventFamily;
  readonly source: string;
  readonly externalEventId: string;
  readonly eventType: string;
  /** Null in the external-events family. */
  readonly eventTypeVersion: number | null;
  readonly occurredAt: Date;
  readonly receivedAt: Date;
  /** The customer that it belongs to now. */
  readonly profileId: string;
  readonly identity: Readonly<Record<string, string>>;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A stored event on its way out of the queue. */
export interface EventToProcess {
  readonly tenantId: string;
  readonly event: StoredEventRecord;
  /** The customer's EXTERNAL identifier now: the `sub` whose user state reactions change; null: none. */
  readonly externalId: string | null;
}

/** What one reaction did with an event; `reason` is a code or words without any value. */
export interface ReactionOutcome {
  readonly campaignId: string;
  readonly name: string;
  readonly outcome: 'applied' | 'skipped' | 'failed';
  readonly reason?: string;
}

/** Why an event can never be processed as things are. */
export interface EffectFailure {
  /** What the review area groups it under, unless `details` name something finer. */
  readonly code: ErrorCode | FaultCode;
  /** What is wrong and how to mend it, without any value. */
  readonly message: string;
  readonly details: readonly Fault[];
}

export interface EffectResult {
  readonly reactions: readonly ReactionOutcome[];
  /** It can never succeed; the event is failed, what was applied stays applied. */
  readonly failure?: EffectFailure;
}

/**
 * What happens to events that leave the queue, inside the worker's transaction. Results in the order of the events. Throws
 * what may succeed later. Must bear being called again for an event that was applied before (a replay): nothing is applied
 * twice.
 */
export interface EventEffect {
  /**
   * Which of these workspaces have anything that may be done with their events, by what the transaction sees now. Events of
   * the others leave the queue unread.
   */
  concerned(transaction: Transaction, tenantIds: readonly string[]): Promise<ReadonlySet<string>>;
  apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]>;
}
