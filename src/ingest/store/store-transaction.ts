import { Injectable } from '@nestjs/common';
import {
  changesNoStoredCustomer,
  type IdentityDecision,
  type IdentityReading,
  type TenantClaim,
} from '../../identity/domain/identity-batch';
import { IdentityService } from '../../identity/identity.service';
import { LostRaceError } from '../../platform/group-commit/persist-batch';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { ReviewService } from '../../review/review.service';
import { kindsInBundles, type Event, type ResolvedEvent } from '../domain/event';
import type { IngestResult } from '../domain/ingest-result';
import { warningProblem } from '../domain/review-problems';
import type { OnQueued } from '../queue/queue-signal';
import { EventLog, type StoredEvent } from './event-log';
import { EventSubscriptions } from './event-subscriptions';
import { ReplayedEvents } from './replayed-events';
import {
  addFresh,
  addStored,
  claimOf,
  inOrder,
  isStoredAsSent,
  NO_BATCH,
  replayedEntries,
  resolveEvents,
  type Results,
  saysSomethingElse,
} from './store-rules';

/** The results, in the order of the batch, once it is committed. */
type Conclude = () => readonly IngestResult[];

/** What is known of a batch before anything is locked or written. */
interface Prepared {
  readonly batch: readonly Event[];
  readonly batchId: string;
  readonly stored: ReadonlyMap<string, StoredEvent>;
  /** Whether any of its events was refused before. */
  readonly hasRefusals: boolean;
  /** The events that are not stored, and what they say of customers. */
  readonly fresh: readonly Event[];
  readonly claims: readonly TenantClaim[];
  readonly reading: IdentityReading;
  readonly decision: IdentityDecision;
  /** The fresh events whose customers are known. */
  readonly resolved: readonly ResolvedEvent[];
}

/** How to store a batch. */
interface StoreOptions {
  /** Hears what will be in the queue once this is committed. */
  readonly queued: OnQueued;
  /**
   * Creates new customers in the round trip of COMMIT. That fails where another node has created one of them, or where an
   * identifier is an erased person's; a repetition goes step by step.
   */
  readonly createsAtCommit: boolean;
}

/**
 * The slow, complete path: stores one batch in one transaction, that is events, identities, queue entries and warnings, or
 * nothing of it. Two round trips where no stored customer changes, four where one does. No two events of a batch have the same
 * id.
 */
@Injectable()
export class StoreTransaction {
  constructor(
    private readonly identity: IdentityService,
    private readonly log: EventLog,
    private readonly subscriptions: EventSubscriptions,
    private readonly replayed: ReplayedEvents,
    private readonly review: ReviewService,
  ) {}

  /**
   * May be run again with the same batch id after a failure, also when a commit's outcome is unknown. Subscribed events have
   * entries of their own in the queue, in an order that matters; all others share one.
   */
  async run(
    transaction: Transaction,
    batch: readonly Event[],
    batchId: string,
    { queued, createsAtCommit }: StoreOptions,
  ): Promise<Conclude> {
    const allClaims = batch.map(claimOf);
    const [stored, reading, subscribed, hasRefusals] = await Promise.all([
      this.log.find(transaction, batch),
      this.identity.read(transaction, allClaims),
      this.subscriptions.of(transaction, batch),
      this.review.hasRefusals(transaction, batch),
    ]);
    const fresh = batch.filter((event) => !stored.has(event.eventId));
    if (fresh.length === 0) {
      const results: Results = new Map();
      addStored(results, batch, stored, batchId);
      const concluded = await this.recordForReview(transaction, { batch, stored, reading, hasRefusals }, results);
      return () => concluded;
    }

    const claims = allClaims.filter(({ eventId }) => !stored.has(eventId));
    const decision = await this.identity.decide(transaction, claims, reading);
    const resolved = resolveEvents(fresh, decision, subscribed);
    const prepared = { batch, batchId, stored, hasRefusals, fresh, claims, reading, decision, resolved };
    const mayStoreAtOnce = createsAtCommit
      ? changesNoStoredCustomer(decision)
      : this.identity.changesNothing(claims, reading, decision);
    const expected = mayStoreAtOnce ? this.resultsWithoutReview(prepared) : undefined;
    // If COMMIT finds another node's change, these results are dropped and the batch runs again.
    if (expected !== undefined) return this.storeAtOnce(transaction, prepared, queued, expected);
    const results = await this.storeStepByStep(transaction, prepared, queued);
    return () => {
      this.identity.rememberWritten(decision);
      return results;
    };
  }

  /** What `run` would return now, if `earlier` had just been stored; only reads. */
  async preview(
    transaction: Transaction,
    batch: readonly Event[],
    earlier: readonly Event[],
  ): Promise<readonly IngestResult[]> {
    const [stored, known] = await Promise.all([
      this.log.find(transaction, batch),
      this.identity.read(transaction, [...earlier, ...batch].map(claimOf)),
    ]);
    const fresh = [...earlier, ...batch.filter((event) => !stored.has(event.eventId))];
    const claims = fresh.map(claimOf);
    const reading = await this.identity.readErased(transaction, claims, known);
    const decision = await this.identity.decide(transaction, claims, reading);
    const results: Results = new Map();
    addStored(results, batch, stored, NO_BATCH);
    addFresh(results, fresh, decision, new Set(fresh.map(({ eventId }) => eventId)));
    return inOrder(batch, results);
  }

  /**
   * The results of a batch that changes nothing in the review area, if no other node comes in between; most are such.
   * Undefined for any other batch.
   */
  private resultsWithoutReview(prepared: Prepared): IngestResult[] | undefined {
    const { batch, batchId, stored, hasRefusals, fresh, decision, resolved } = prepared;
    if (hasRefusals || resolved.length === 0) return undefined;
    const results: Results = new Map();
    addStored(results, batch, stored, batchId);
    addFresh(results, fresh, decision, new Set(resolved.map(({ event }) => event.eventId)));
    const inBatch = inOrder(batch, results);
    const concernsReview =
      batch.some(({ submission }) => submission.replay !== undefined) ||
      inBatch.some((result) => result.status !== 'error' && result.warnings.length > 0);
    return concernsReview ? undefined : inBatch;
  }

  /** Everything in the flush of COMMIT, which fails where another node has stored an event, or erased a customer. */
  private storeAtOnce(
    transaction: Transaction,
    { claims, reading, decision, resolved, batchId }: Prepared,
    queued: OnQueued,
    results: readonly IngestResult[],
  ): Conclude {
    this.identity.writeAtCommit(transaction, claims, reading, decision);
    this.subscriptions.assertNoSubscribers(transaction, kindsInBundles(resolved));
    queued(this.log.storeLast(transaction, resolved, batchId));
    return () => {
      this.identity.rememberWritten(decision);
      return results;
    };
  }

  private async storeStepByStep(
    transaction: Transaction,
    prepared: Prepared,
    queued: OnQueued,
  ): Promise<readonly IngestResult[]> {
    const { batch, batchId, stored, fresh, claims, reading, decision, resolved } = prepared;
    await this.identity.lock(transaction, claims, reading, decision);
    const [inserted, subscribed] = await Promise.all([
      this.log.insert(transaction, resolved, batchId),
      this.subscriptions.of(transaction, kindsInBundles(resolved)),
      this.identity.write(transaction, decision, claims),
    ]);
    if (subscribed.size > 0) throw new LostRaceError('a subscriber was defined behind the look at the events');
    const late = resolved.filter(({ event }) => !inserted.has(event.eventId)).map(({ event }) => event);
    if (dependsOnAny(late, prepared)) throw new LostRaceError('another node has stored an event');
    // Another node stored these between our look and our insert, which waited for its commit.
    const storedLate = late.length === 0 ? stored : await this.log.find(transaction, late);
    const accepted = resolved.filter(({ event }) => inserted.has(event.eventId));
    if (accepted.length > 0) queued(this.log.enqueue(transaction, accepted, batchId));
    this.identity.recordUnlinked(transaction, decision, inserted);
    this.replayed.record(
      transaction,
      accepted.map(({ event }) => event),
    );
    const results: Results = new Map();
    const storedNow = new Map([...stored, ...storedLate]);
    addStored(results, batch, storedNow, batchId);
    addFresh(results, fresh, decision, inserted);
    return this.recordForReview(transaction, { ...prepared, stored: storedNow }, results);
  }

  /**
   * Sends along with COMMIT what the review area must know. An event that is stored as it was sent closes its refusals, also when
   * it was there before: the one that it was replayed from as such, the others as superseded.
   */
  private async recordForReview(
    transaction: Transaction,
    { batch, stored, reading, hasRefusals }: Pick<Prepared, 'batch' | 'stored' | 'reading' | 'hasRefusals'>,
    results: Results,
  ): Promise<readonly IngestResult[]> {
    const entries = [...results];
    const differing = entries.flatMap(([event, result]) => {
      const { tenantId, eventId, identifiers } = event;
      const profileId = stored.get(eventId)?.profileId ?? null;
      return saysSomethingElse(result) ? [{ tenantId, eventId, identifiers, profileId }] : [];
    });
    const aboutErased = await this.identity.aboutErased(transaction, differing, reading);
    const ofErased = new Set([...aboutErased].map(({ eventId }) => eventId));
    const warnings = entries.flatMap(([event, result]) =>
      result.status === 'error'
        ? []
        : result.warnings.map((reason) => warningProblem(event, reason, result, ofErased.has(event.eventId))),
    );
    const asSent = entries.filter(([, result]) => isStoredAsSent(result));
    this.review.closeReplayed(
      transaction,
      asSent.flatMap(([event, result]) => replayedEntries(event, result)),
    );
    this.review.supersede(transaction, hasRefusals ? asSent.map(([event]) => event) : []);
    this.review.recordWithin(transaction, warnings);
    return inOrder(batch, results);
  }
}

/**
 * Whether the decision changes a customer because of what one of these events says. That holds only if
 * the event is stored; the event that links a customer must be queued in the same transaction, too.
 */
function dependsOnAny(events: readonly Event[], { fresh, decision }: Prepared): boolean {
  const given = new Set(events);
  return fresh.some((event, index) => {
    const resolution = decision.resolutions[index];
    return given.has(event) && resolution?.outcome === 'resolved' && resolution.contributes;
  });
}
