import type { LoggedEvent } from '../../ingest/domain/logged-event';
import type { ReactionRecord } from '../../ingest/queue/processing-record';
import type { Statement, Transaction } from '../../platform/postgres/pipelined-connection';
import type { ErrorCode } from '../../platform/errors/error-codes';
import type { Fault } from '../../platform/errors/fault';
import type { FaultCode } from '../../platform/errors/fault-codes';

export { distinctKinds, kindName, type EventKind } from '../../ingest/store/event-kind';
export type { ReactionRecord };

/** A stored event as views show it (contract section 3), unmasked: its `profileId` is the customer that it belongs to now. */
export type StoredEventRecord = LoggedEvent;

/** A stored event on its way out of the queue. */
export interface EventToProcess {
  readonly tenantId: string;
  readonly event: StoredEventRecord;
  /** The customer's EXTERNAL identifier now: the `sub` whose user state reactions change; null: none. */
  readonly externalId: string | null;
  /**
   * What the event's record says of reactions to it, and what stands: of these only those that wait for their customer are looked
   * at again. Empty the first time; a replay leaves out what was skipped or failed.
   */
  readonly recorded: readonly ReactionRecord[];
}

/** Why an event could not be processed. */
export interface EffectFailure {
  /** What the review area groups it under, unless `details` name something finer. */
  readonly code: ErrorCode | FaultCode;
  /** What is wrong and how to mend it, without any value. */
  readonly message: string;
  readonly details: readonly Fault[];
}

export interface EffectResult {
  /** Together with those of `recorded` that stand. */
  readonly reactions: readonly ReactionRecord[];
  /** What was applied stays applied. */
  readonly failure?: EffectFailure;
  /** Another attempt may succeed; without it, one that fails can never, as things are. */
  readonly mayRetry?: true;
}

/**
 * What happens to events that leave the queue, inside the worker's transaction. Results in the order of the events; it may stop
 * behind any of them, and has to behind one that may be retried: events of the same customer may follow. Throws what may succeed
 * later. May be called again for an event (a replay, a customer who was linked): what is `recorded` as applied is not repeated.
 *
 * While it works, the event loop is held for 50 ms at most, and the transaction is kept open for some seconds at most.
 */
export interface EventEffect {
  /**
   * Finds which types of events have anything that may be done with their events, as `EventSubscriptions.addQuery` wants it. Asked when
   * events are stored; those of other types never come to `apply`.
   */
  readonly concerned: Statement;
  apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]>;
}
