import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { LostRaceError } from '../../platform/group-commit/persist-batch';
import type { IdentityDecision, IdentityReading, TenantClaim } from '../../identity/domain/identity-batch';
import { IdentityService } from '../../identity/identity.service';
import { ReviewService } from '../../review/review.service';
import {
  cameInRight,
  hasWarnings,
  inOrder,
  NO_BATCH,
  repeated,
  replayedEntries,
  settledFresh,
  type IngestWork,
  type Settled,
} from './store-results';
import type { Outcome } from '../domain/outcome';
import { warningProblem } from '../domain/warning-entry';
import { EventSubscriptions } from './event-subscriptions';
import { claimOf, resolvedEvents, kindOf } from './resolved-event';
import { EventLog, type ResolvedEvent, type StoredEvent } from './event-log';
import type { OnQueued } from '../queue/queue-signal';

/**
 * The outcomes, in the order of the batch, once it is committed. Throws `LostRaceError` where somebody was faster: then a part of
 * the batch may be stored, and all of it is to be run again.
 */
type Settle = () => readonly Outcome[];

/** What is known of a batch before anything is locked or written. */
interface Prepared {
  readonly batch: readonly IngestWork[];
  readonly batchId: string;
  readonly stored: ReadonlyMap<string, StoredEvent>;
  /** Whether any of its events was refused before. */
  readonly hasRefusals: boolean;
  /** Those that are not stored, and what they say of persons. */
  readonly fresh: readonly IngestWork[];
  readonly claims: readonly TenantClaim[];
  readonly reading: IdentityReading;
  readonly decision: IdentityDecision;
  /** The fresh ones that belong somewhere. */
  readonly resolved: readonly ResolvedEvent[];
}

/**
 * Stores one batch in one transaction: events, identities, queue entries and warnings, or nothing of it. Two round trips where
 * it changes nobody, three or four where it does. No two pieces of work of a batch have the same event id.
 */
@Injectable()
export class IngestTransaction {
  constructor(
    private readonly identity: IdentityService,
    private readonly log: EventLog,
    private readonly subscriptions: EventSubscriptions,
    private readonly review: ReviewService,
  ) {}

  /**
   * May be run again with the same batch id after a failure, also when a commit's outcome is unknown. `queued` hears what will
   * be in the queue, once this is committed. Events that somebody waits for have entries of their own there, in an order that
   * matters; all others share one. Whatever was to be done with events before one of these came in is seen here.
   */
  async run(
    transaction: Transaction,
    batch: readonly IngestWork[],
    batchId: string,
    queued: OnQueued,
  ): Promise<Settle> {
    const all = batch.map(claimOf);
    const [stored, read, subscribed, hasRefusals] = await Promise.all([
      this.log.find(transaction, batch),
      this.identity.read(transaction, all),
      this.subscriptions.of(transaction, batch.map(kindOf)),
      this.review.hasRefusals(transaction, batch),
    ]);
    const fresh = batch.filter((work) => !stored.has(work.eventId));
    if (fresh.length === 0) {
      const outcomes = this.conclude(transaction, { batch, hasRefusals }, repeated(batch, stored, batchId));
      return () => outcomes;
    }

    const claims = all.filter(({ eventId }) => !stored.has(eventId));
    const decision = await this.identity.decide(transaction, claims, read);
    const resolved = resolvedEvents(fresh, decision, subscribed);
    const prepared = { batch, batchId, stored, hasRefusals, fresh, claims, reading: read, decision, resolved };
    const likely = this.withoutTraces(prepared);
    if (likely !== undefined) return this.storeAtOnce(transaction, prepared, queued, likely);
    const outcomes = await this.storeStepByStep(transaction, prepared, queued);
    return () => {
      this.identity.committed(decision);
      return outcomes;
    };
  }

  /** The outcomes of a batch that leaves nothing behind but its events, if nobody comes in between; most batches do. */
  private withoutTraces({ batch, batchId, stored, hasRefusals, fresh, claims, reading, decision, resolved }: Prepared) {
    if (hasRefusals || resolved.length === 0 || !this.identity.isSettled(claims, reading, decision)) return undefined;
    const outcomes = inOrder(batch, [
      ...repeated(batch, stored, batchId),
      ...settledFresh(fresh, decision, new Set(resolved.map(({ eventId }) => eventId))),
    ]);
    const hasTraces = batch.some(({ replay }) => replay !== undefined) || outcomes.some(hasWarnings);
    return hasTraces ? undefined : outcomes;
  }

  /** Everything in the flush of COMMIT: what it comes to is heard when it is done. */
  private storeAtOnce(
    transaction: Transaction,
    { claims, decision, resolved, batchId }: Prepared,
    queued: OnQueued,
    outcomes: readonly Outcome[],
  ): Settle {
    this.identity.holdLast(transaction, decision, claims);
    let storedNow = 0;
    queued(this.log.storeLast(transaction, resolved, batchId, (count) => (storedNow = count)));
    return () => {
      if (storedNow < resolved.length)
        throw new LostRaceError('an event was stored, or a customer erased, by somebody else');
      return outcomes;
    };
  }

  private async storeStepByStep(transaction: Transaction, prepared: Prepared, queued: OnQueued): Promise<Outcome[]> {
    const { batch, batchId, stored, fresh, claims, reading, decision, resolved } = prepared;
    await this.identity.claim(transaction, claims, reading, decision);
    const [inserted] = await Promise.all([
      this.log.insert(transaction, resolved, batchId),
      this.identity.write(transaction, decision, claims),
    ]);
    const late = resolved.filter((event) => !inserted.has(event.eventId));
    if (late.length > 0 && decision.plans.some(({ plan }) => plan.linkedRoots.length > 0)) {
      // Whoever is linked here must be linked by an event that is queued here.
      throw new LostRaceError('an event was stored by somebody else');
    }
    // Another node stored these between our look and our insert, which waited for its commit.
    const storedLate = late.length === 0 ? stored : await this.log.find(transaction, late);
    const accepted = resolved.filter((event) => inserted.has(event.eventId));
    if (accepted.length > 0) queued(this.log.enqueue(transaction, accepted, batchId));
    const known = new Map([...stored, ...storedLate]);
    return this.conclude(transaction, prepared, [
      ...repeated(batch, known, batchId),
      ...settledFresh(fresh, decision, inserted),
    ]);
  }

  /** What `run` would answer now, if `earlier` had just been stored; only reads. */
  async preview(
    transaction: Transaction,
    batch: readonly IngestWork[],
    earlier: readonly IngestWork[],
  ): Promise<Outcome[]> {
    const [stored, known] = await Promise.all([
      this.log.find(transaction, batch),
      this.identity.read(transaction, [...earlier, ...batch].map(claimOf)),
    ]);
    const fresh = [...earlier, ...batch.filter((work) => !stored.has(work.eventId))];
    const claims = fresh.map(claimOf);
    const reading = await this.identity.readErased(transaction, claims, known);
    const decision = await this.identity.decide(transaction, claims, reading);
    const inserted = new Set(fresh.map((work) => work.eventId));
    return inOrder(batch, [...repeated(batch, stored, NO_BATCH), ...settledFresh(fresh, decision, inserted)]);
  }

  /**
   * Sends along with COMMIT what the review area must know, and brings the outcomes into the order of the batch. An event
   * that has come in right closes its refusals, also when it was there before: the one that was replayed as such, the
   * others as superseded.
   */
  private conclude(
    transaction: Transaction,
    { batch, hasRefusals }: Pick<Prepared, 'batch' | 'hasRefusals'>,
    pieces: readonly Settled[],
  ): Outcome[] {
    const warnings = pieces.flatMap(({ work, outcome }) =>
      outcome.status === 'refused' ? [] : outcome.warnings.map((reason) => warningProblem(work, reason)),
    );
    const right = pieces.filter(({ outcome }) => cameInRight(outcome));
    this.review.closeReplayed(transaction, right.flatMap(replayedEntries));
    const again = hasRefusals ? right.map(({ work }) => work) : [];
    this.review.supersede(transaction, again);
    this.review.recordWithin(transaction, warnings);
    return inOrder(batch, pieces);
  }
}
