import { Injectable } from '@nestjs/common';
import type { CustomerProfile, IdentityDecision } from '../../identity/domain/identity-batch';
import { IdentityService } from '../../identity/identity.service';
import type { RecalledIdentities } from '../../identity/remembered-profiles';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { newId } from '../../platform/values/ids';
import { ReviewService } from '../../review/review.service';
import { isBundled, kindsInBundles, type Event, type ResolvedEvent } from '../domain/event';
import type { OnQueued } from '../queue/queue-signal';
import { EventLog } from './event-log';
import { EventSubscriptions } from './event-subscriptions';
import { acceptedResult, claimOf, type Results } from './store-rules';

/** Steps left out in a row, at most. Where hardly any succeeds, the few that are tried cost some per cent. */
const STEPS_LEFT_OUT_MAX = 64;

/**
 * Whether to try a step that fails at times. After a step that was begun and did not end, one is left out, then two, four and
 * so on, until a step ends well.
 */
export class Backoff {
  private left = 0;
  private next = 1;

  /** Whether to try the next step. To be called once for each step: it counts those that are left out. */
  shouldTry(): boolean {
    if (this.left === 0) return true;
    this.left -= 1;
    return false;
  }

  begun(): void {
    this.left = this.next;
    this.next = Math.min(2 * this.next, STEPS_LEFT_OUT_MAX);
  }

  succeeded(): void {
    this.left = 0;
    this.next = 1;
  }
}

/** How often memory was wrong lately; of each group commit by itself, because these work at the same time. */
export interface MemoryAttempts {
  readonly storing: Backoff;
  readonly creating: Backoff;
  readonly lookingUp: Backoff;
}

/** What this node remembers of a batch. */
export interface RecalledBatch {
  readonly attempts: MemoryAttempts;
  readonly batch: readonly Event[];
  /** Events that can be stored as they are remembered. */
  readonly known: readonly ResolvedEvent[];
  readonly identities: RecalledIdentities;
  /** The customers to create with them, whom nobody has named before. */
  readonly created: IdentityDecision | undefined;
  /** Events whose customers this node does not know. */
  readonly unresolved: readonly Event[];
  /** All that are not known: unresolved ones, and those that store more than an event. */
  readonly rest: readonly Event[];
  /** Whether to look the customers of the unresolved events up, and then to store all of the batch. */
  readonly looksUp: boolean;
}

/** A batch of which a part is stored. */
export interface StoredPart {
  readonly results: Results;
  readonly rest: readonly Event[];
}

/** A further transaction costs as much as looking so many events up. */
const WORTH_A_TRANSACTION = 100;

/**
 * The fast path: stores events that are new and right, and whose customers this node remembers or nobody has named before, as
 * most are. The transaction confirms all of that while it stores: one round trip instead of two. Where anything is different it
 * fails, and `StoreTransaction` runs the same events again under the same batch id (docs/adr/0033).
 */
@Injectable()
export class StoreFromMemory {
  constructor(
    private readonly identity: IdentityService,
    private readonly log: EventLog,
    private readonly subscriptions: EventSubscriptions,
    private readonly review: ReviewService,
  ) {}

  newAttempts(): MemoryAttempts {
    return { storing: new Backoff(), creating: new Backoff(), lookingUp: new Backoff() };
  }

  /** For a session that was lost: the database may lack customers' identifiers that it had stored. */
  forget(): void {
    this.identity.forget();
  }

  /** Undefined where too little is known, or where memory was often wrong lately. */
  recall(batch: readonly Event[], attempts: MemoryAttempts): RecalledBatch | undefined {
    if (!attempts.storing.shouldTry()) return undefined;
    const recalled = this.classify(batch, attempts);
    if (recalled.rest.length === 0) return recalled;
    if (shouldLookUp(recalled) && attempts.lookingUp.shouldTry()) return { ...recalled, looksUp: true };
    const complete = attempts.creating.shouldTry() ? this.withNewCustomers(recalled) : undefined;
    return complete ?? (standsAlone(recalled) ? recalled : undefined);
  }

  /**
   * Stores what is known, along with the unresolved events where they are few. The function that it returns, called after the
   * commit, has the results, or undefined where nothing is stored and all of the batch is to be run again.
   */
  async store(
    transaction: Transaction,
    recalled: RecalledBatch,
    batchId: string,
    queued: OnQueued,
  ): Promise<() => StoredPart | undefined> {
    if (!recalled.looksUp) return this.storeKnown(transaction, recalled, batchId, queued);
    const { attempts } = recalled;
    attempts.lookingUp.begun();
    await this.identity.read(transaction, recalled.unresolved.map(claimOf));
    const lookedUp = this.classify(recalled.batch, attempts);
    const complete = lookedUp.rest.length === 0 ? lookedUp : this.withNewCustomers(lookedUp);
    if (complete === undefined) return () => undefined;
    attempts.lookingUp.succeeded();
    return this.storeKnown(transaction, complete, batchId, queued);
  }

  /** What memory says of each event of the batch. */
  private classify(batch: readonly Event[], attempts: MemoryAttempts): RecalledBatch {
    const identities = this.identity.recall(batch);
    const customers = identities.resolutions.map((customer) => (typeof customer === 'object' ? customer : undefined));
    const nothingNew = { created: undefined, looksUp: false };
    return { attempts, batch, identities, ...nothingNew, ...this.separate(batch, customers) };
  }

  /** The same batch with customers for the unresolved events. Undefined where something would still be left. */
  private withNewCustomers(recalled: RecalledBatch): RecalledBatch | undefined {
    const { batch, identities, unresolved, rest } = recalled;
    if (unresolved.length < rest.length || identities.resolutions.includes('unclear')) return undefined;
    const created = this.identity.planUnknown(unresolved.map(claimOf));
    if (created === undefined) return undefined;
    let next = 0;
    const customers = identities.resolutions.map((customer) => {
      if (typeof customer === 'object') return customer;
      const planned = created.resolutions[next++];
      return planned?.outcome === 'resolved' ? planned : undefined;
    });
    const separated = this.separate(batch, customers);
    return separated.rest.length === 0 ? { ...recalled, created, looksUp: false, ...separated } : undefined;
  }

  /** `customers`: those of the events, in their order. */
  private separate(
    batch: readonly Event[],
    customers: readonly (Pick<CustomerProfile, 'profileId' | 'rootId'> | undefined)[],
  ): Pick<RecalledBatch, 'known' | 'unresolved' | 'rest'> {
    const known: ResolvedEvent[] = [];
    const unresolved: Event[] = [];
    const rest: Event[] = [];
    const bundleId = newId();
    batch.forEach((event, index) => {
      const customer = customers[index];
      const hasSubscribers = this.subscriptions.hasSubscribers(event);
      if (customer === undefined || hasSubscribers === undefined || storesMore(event)) {
        if (customer === undefined) unresolved.push(event);
        return rest.push(event);
      }
      const { profileId, rootId } = customer;
      return known.push({ event, profileId, rootId, queueBundleId: hasSubscribers ? null : bundleId });
    });
    return { known, unresolved, rest };
  }

  private storeKnown(
    transaction: Transaction,
    { attempts, known, identities, created, rest }: RecalledBatch,
    batchId: string,
    queued: OnQueued,
  ): () => StoredPart {
    const attempt = created === undefined ? attempts.storing : attempts.creating;
    attempt.begun();
    const events = known.map(({ event }) => event);
    this.identity.confirmRecalled(transaction, identities);
    if (created !== undefined) this.identity.createAtCommit(transaction, created);
    this.review.assertNoRefusals(transaction, events);
    this.subscriptions.assertNoSubscribers(transaction, kindsInBundles(known));
    queued(this.log.storeLast(transaction, known, batchId));
    return () => {
      attempt.succeeded();
      if (created !== undefined) this.identity.rememberWritten(created);
      return { results: new Map(events.map((event) => [event, acceptedResult(event)])), rest };
    };
  }
}

/** Whether to store what is known without the rest: subscribed events must not overtake the rest in the queue. */
function standsAlone({ known, rest }: RecalledBatch): boolean {
  return rest.length === 0 || (known.length >= WORTH_A_TRANSACTION && known.every(isBundled));
}

/** Whether to look the customers of the unresolved events up first: where these are few, most of their customers exist. */
function shouldLookUp({ known, unresolved, rest }: RecalledBatch): boolean {
  return unresolved.length === rest.length && unresolved.length <= known.length;
}

/** Whether a warning or the end of a review entry is stored with the event. */
function storesMore({ submission, warnings }: Event): boolean {
  return submission.replay !== undefined || warnings.length > 0;
}
