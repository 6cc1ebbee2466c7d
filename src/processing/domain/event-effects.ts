import type { LoggedEvent } from '../../ingest/domain/logged-event';
import type { ReactionRecord } from '../../ingest/domain/processing-record';
import type { Statement, Transaction } from '../../platform/database/pipelined-connection';
import type { ErrorCode } from '../../platform/errors/error-codes';
import type { Fault } from '../../platform/errors/fault';
import type { FaultCode } from '../../platform/errors/fault-codes';

export { distinctKinds, kindName, type EventKind } from '../../ingest/domain/event-kind';
export type { ReactionRecord };

/** A stored event as views show it (contract section 3), unmasked: its `profileId` is the customer that it belongs to now. */
export type StoredEventRecord = LoggedEvent;

/** A stored event on its way out of the queue. */
export interface EventToProcess {
  readonly tenantId: string;
  readonly event: StoredEventRecord;
  /** The customer's EXTERNAL identifier now: the `sub` whose user state reactions change; null: none. */
  readonly externalId: string | null;
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
  readonly reactions: readonly ReactionRecord[];
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
   * Finds which types of events have anything that may be done with their events, as `EventAudience.askBy` wants it. Asked when
   * events are stored; those of other types never come to `apply`.
   */
  readonly concerned: Statement;
  apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]>;
}
