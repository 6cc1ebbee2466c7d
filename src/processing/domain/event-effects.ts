import type { HeldCustomer } from '../../identity/domain/known-identities';
import type { LoggedEvent } from '../../ingest/domain/event';
import type { ReactionRecord } from '../../ingest/queue/processing-record';
import type { Statement } from '../../platform/postgres/statement';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import type { ErrorCode } from '../../platform/errors/error-codes';
import type { Fault } from '../../platform/errors/fault';
import type { FaultCode } from '../../platform/errors/fault-codes';

/** A stored event on its way out of the queue. */
export interface EventToProcess {
  readonly tenantId: string;
  /** Its `profileId` is the customer that it belongs to now. */
  readonly event: LoggedEvent;
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

/** An event with the customer that it belongs to now. `recorded`: the reactions in its record. */
export function eventToProcess(
  tenantId: string,
  event: LoggedEvent,
  { rootId, externalId }: Pick<HeldCustomer, 'rootId' | 'externalId'>,
  recorded: readonly ReactionRecord[] = [],
): EventToProcess {
  return {
    tenantId,
    event: { ...event, profileId: rootId },
    ownProfileId: event.profileId,
    externalId,
    recorded,
    backfilled: recorded.filter(({ backfilledAt }) => backfilledAt !== undefined),
  };
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

/** What an effect has decided about the first events of a turn, before anything is written. */
export interface EffectPlan {
  /** It takes so many of the events, from the first one on; at least one, unless that one must be tried again. */
  readonly count: number;
  /** Why the event behind these must be tried again. Absent: that one is left for another turn, if there is one. */
  readonly retry?: EffectFailure;
  /**
   * Applies the effect to the first `count` events, which are planned. Returns their results in order. Throws errors
   * after which another attempt may succeed.
   */
  readonly apply: (count: number) => Promise<readonly EffectResult[]>;
}

/**
 * An effect of events that leave the queue, applied in the worker's transaction. It decides first, and writes nothing
 * meanwhile: another effect may take fewer events, and those behind them stay in the queue.
 *
 * It may come to an event again (a replay, or a customer who was linked): reactions that are `recorded` as applied must
 * not be applied again. An effect blocks the event loop for 50 ms at most, and takes some seconds at most.
 */
export interface EventEffect {
  /**
   * Finds the types of events that this effect subscribes to, in the form that `EventSubscriptions.addQuery` requires.
   * It runs when events are stored; events of other types are never planned.
   */
  readonly concerned: Statement;
  plan(transaction: Transaction, events: readonly EventToProcess[]): Promise<EffectPlan>;
}
