import type { LoggedEvent } from '../../ingest/domain/logged-event';
import type { ReactionRecord } from '../../ingest/queue/processing-record';
import type { Statement, Transaction } from '../../platform/postgres/pipelined-connection';
import type { ErrorCode } from '../../platform/errors/error-codes';
import type { Fault } from '../../platform/errors/fault';
import type { FaultCode } from '../../platform/errors/fault-codes';

export { distinctKinds, kindName, type EventKind } from '../../ingest/store/event-kind';
export type { ReactionRecord };

/**
 * A stored event as views show it (contract section 3), unmasked: its `profileId` is the customer that it belongs to
 * now.
 */
export type StoredEventRecord = LoggedEvent;

/** A stored event on its way out of the queue. */
export interface EventToProcess {
  readonly tenantId: string;
  readonly event: StoredEventRecord;
  /** The event's own profile, which no merge changes. */
  readonly ownProfileId: string;
  /** The customer's EXTERNAL identifier now: the `sub` whose `user` values reactions change; null: none. */
  readonly externalId: string | null;
  /**
   * The reactions in the event's record. Only those that wait for their customer are evaluated again. Empty the first
   * time; a replay leaves out skipped and failed ones.
   */
  readonly recorded: readonly ReactionRecord[];
  /** The reactions that a backfill brought to the event, whatever their outcome: they apply to it from then on. */
  readonly backfilled: readonly ReactionRecord[];
}

/** Why an event could not be processed. */
export interface EffectFailure {
  /** The review area groups failures by it, unless `details` have a finer code. */
  readonly code: ErrorCode | FaultCode;
  /** What is wrong and how to fix it; contains no values of the event. */
  readonly message: string;
  readonly details: readonly Fault[];
}

export interface EffectResult {
  /** Including those of `recorded` that stay. */
  readonly reactions: readonly ReactionRecord[];
  /** Reactions that were applied stay applied. */
  readonly failure?: EffectFailure;
  /** Another attempt may succeed. Absent: it would fail the same way. */
  readonly mayRetry?: true;
}

/**
 * An effect of events that leave the queue, applied in the worker's transaction. Results are in the order of the
 * events. An effect may stop after any event, and must stop after one with `mayRetry`: events of the same customer may
 * follow. It throws errors after which another attempt may succeed.
 *
 * May be called again for an event (a replay, or a customer who was linked): reactions that are `recorded` as applied
 * must not be applied again. An effect blocks the event loop for 50 ms at most, and takes some seconds at most.
 */
export interface EventEffect {
  /**
   * Finds the types of events that this effect subscribes to, in the form that `EventSubscriptions.addQuery` requires.
   * It runs when events are stored; events of other types never reach `apply`.
   */
  readonly concerned: Statement;
  apply(transaction: Transaction, events: readonly EventToProcess[]): Promise<readonly EffectResult[]>;
}
