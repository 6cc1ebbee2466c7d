import { Injectable } from '@nestjs/common';
import { IdentityService, type RecalledIdentities } from '../../identity/identity.service';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { newId } from '../../platform/values/ids';
import { ReviewService } from '../../review/review.service';
import type { Event, ResolvedEvent } from '../domain/event';
import type { OnQueued } from '../queue/queue-signal';
import { Backoff } from './backoff';
import { distinctKinds } from './event-kind';
import { EventLog } from './event-log';
import { EventSubscriptions } from './event-subscriptions';
import { claimOf } from './resolve-events';
import { acceptedResult, type Results } from './store-results';

/** What this node remembers of a batch. */
export interface RecalledBatch {
  readonly batch: readonly Event[];
  /** Events that can be stored as they are remembered. */
  readonly known: readonly ResolvedEvent[];
  readonly identities: RecalledIdentities;
  /** Events whose customers this node does not know. */
  readonly unresolved: readonly Event[];
  /** All that are not known: unresolved ones, and those that store more than an event. */
  readonly rest: readonly Event[];
}

/** A batch of which a part is stored. */
export interface StoredPart {
  readonly results: Results;
  readonly rest: readonly Event[];
}

/** A further transaction costs as much as looking so many events up. */
const WORTH_A_TRANSACTION = 100;

/**
 * The fast path: stores events that are new and right, and whose customers this node remembers, as most are. The transaction
 * confirms all that is remembered while it stores: one round trip instead of two. Where anything has changed it stores nothing,
 * and `StoreTransaction` runs the same events again under the same batch id (docs/adr/0033).
 */
@Injectable()
export class StoreFromMemory {
  private readonly storing = new Backoff();
  private readonly lookingUp = new Backoff();

  constructor(
    private readonly identity: IdentityService,
    private readonly log: EventLog,
    private readonly subscriptions: EventSubscriptions,
    private readonly review: ReviewService,
  ) {}

  /** Undefined where too little is known, or where memory was often wrong lately. */
  recall(batch: readonly Event[]): RecalledBatch | undefined {
    if (!this.storing.isOver()) return undefined;
    const recalled = this.sort(batch);
    return standsAlone(recalled) || (shouldLookUp(recalled) && this.lookingUp.isOver()) ? recalled : undefined;
  }

  /**
   * Stores what is known, along with the unresolved events where they are few and their customers exist. The function that it
   * returns, called after the commit, has the results, or undefined where all of the batch is to be run again: a part of it
   * may be stored.
   */
  async store(
    transaction: Transaction,
    recalled: RecalledBatch,
    batchId: string,
    queued: OnQueued,
  ): Promise<() => StoredPart | undefined> {
    if (standsAlone(recalled)) return this.storeKnown(transaction, recalled, batchId, queued);
    this.lookingUp.begin();
    await this.identity.read(transaction, recalled.unresolved.map(claimOf));
    const lookedUp = this.sort(recalled.batch);
    if (lookedUp.rest.length > 0) return () => undefined;
    this.lookingUp.end();
    return this.storeKnown(transaction, lookedUp, batchId, queued);
  }

  private sort(batch: readonly Event[]): RecalledBatch {
    const identities = this.identity.recall(batch);
    const known: ResolvedEvent[] = [];
    const unresolved: Event[] = [];
    const rest: Event[] = [];
    const bundleId = newId();
    batch.forEach((event, index) => {
      const resolution = identities.resolutions[index];
      const hasSubscribers = this.subscriptions.hasSubscribers(event);
      if (resolution === undefined || hasSubscribers === undefined || storesMore(event)) {
        if (resolution === undefined) unresolved.push(event);
        return rest.push(event);
      }
      const { profileId, rootId } = resolution;
      return known.push({ event, profileId, rootId, queueBundleId: hasSubscribers ? null : bundleId });
    });
    return { batch, known, identities, unresolved, rest };
  }

  private storeKnown(
    transaction: Transaction,
    { known, identities, rest }: RecalledBatch,
    batchId: string,
    queued: OnQueued,
  ): () => StoredPart | undefined {
    this.storing.begin();
    let stored = 0;
    const events = known.map(({ event }) => event);
    this.identity.confirmRecalled(transaction, identities);
    this.review.assertNoRefusals(transaction, events);
    const bundled = known.filter(isBundled).map(({ event }) => event);
    this.subscriptions.assertNoSubscribers(transaction, distinctKinds(bundled));
    queued(this.log.storeLast(transaction, known, batchId, { stored: (count) => void (stored = count) }));
    return () => {
      if (stored < known.length) return undefined;
      this.storing.end();
      return { results: new Map(events.map((event) => [event, acceptedResult(event)])), rest };
    };
  }
}

/** Whether to store what is known without the rest: subscribed events must not overtake the rest in the queue. */
function standsAlone({ known, rest }: RecalledBatch): boolean {
  return rest.length === 0 || (known.length >= WORTH_A_TRANSACTION && known.every(isBundled));
}

/** Whether a look at the customers of the unresolved events may be enough, which it is unless they are new. */
function shouldLookUp({ known, unresolved, rest }: RecalledBatch): boolean {
  return unresolved.length === rest.length && unresolved.length <= known.length;
}

function isBundled({ queueBundleId }: ResolvedEvent): boolean {
  return queueBundleId !== null;
}

/** Whether a warning or the end of a review entry is stored with the event. */
function storesMore({ submission, warnings }: Event): boolean {
  return submission.replay !== undefined || warnings.length > 0;
}
