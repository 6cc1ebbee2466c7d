import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { newId } from '../../platform/values/ids';
import { IdentityService, type RecalledIdentities } from '../../identity/identity.service';
import { ReviewService } from '../../review/review.service';
import type { IngestWork, Settled } from './store-results';
import { distinctKinds } from './event-kind';
import { Backoff } from './backoff';
import { EventSubscriptions } from './event-subscriptions';
import { claimOf, resolvedEvent, kindOf } from './resolved-event';
import { EventLog, type ResolvedEvent } from './event-log';
import type { OnQueued } from '../queue/queue-signal';

/** What this node remembers of a batch. */
export interface RecalledBatch {
  readonly batch: readonly IngestWork[];
  /** Events of which nothing has to be found out, and where they belong. */
  readonly known: readonly IngestWork[];
  readonly resolved: readonly ResolvedEvent[];
  readonly identities: RecalledIdentities;
  /** Of whose customers too little is known. */
  readonly unresolved: readonly IngestWork[];
  /** All that are not known: unresolved, and what is more than an event to be stored. */
  readonly rest: readonly IngestWork[];
}

/** A batch of which some are stored. */
export interface StoredPart {
  readonly settled: readonly Settled[];
  readonly rest: readonly IngestWork[];
}

/** A transaction more costs as much as looking so many events up. */
const WORTH_A_TRANSACTION = 100;

/**
 * Stores events that look like most do: new and right, and their customer known by all that they name. What this node remembers
 * stands for a look at the database, which confirms all of it as it stores: one round trip instead of two.
 * Where anything is otherwise, `IngestTransaction` runs the same events again under the same batch id (docs/adr/0033).
 */
@Injectable()
export class IngestFromMemory {
  private readonly storing = new Backoff();
  private readonly lookingUp = new Backoff();

  constructor(
    private readonly identity: IdentityService,
    private readonly log: EventLog,
    private readonly subscriptions: EventSubscriptions,
    private readonly review: ReviewService,
  ) {}

  /** Undefined where too little is known, or too much has been otherwise lately. */
  recall(batch: readonly IngestWork[]): RecalledBatch | undefined {
    if (!this.storing.isOver()) return undefined;
    const recalled = this.sort(batch);
    return standsAlone(recalled) || (shouldLookUp(recalled) && this.lookingUp.isOver()) ? recalled : undefined;
  }

  /**
   * Stores what is known as it was remembered, along with the unresolved where they are few and not new. Once this is committed,
   * what it answers tells what became of it, or undefined where all of the batch is to be run again, of which a part may be stored.
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

  private sort(batch: readonly IngestWork[]): RecalledBatch {
    const identities = this.identity.recall(batch.map(namedBy));
    const known: IngestWork[] = [];
    const resolved: ResolvedEvent[] = [];
    const unresolved: IngestWork[] = [];
    const rest: IngestWork[] = [];
    const bundleId = newId();
    batch.forEach((work, index) => {
      const resolution = identities.resolutions[index];
      const hasSubscribers = this.subscriptions.hasSubscribers(kindOf(work));
      if (resolution === undefined || hasSubscribers === undefined || leavesTraces(work)) {
        if (resolution === undefined) unresolved.push(work);
        return rest.push(work);
      }
      resolved.push(resolvedEvent(work, resolution, hasSubscribers ? null : bundleId));
      return known.push(work);
    });
    return { batch, known, resolved, identities, unresolved, rest };
  }

  private storeKnown(
    transaction: Transaction,
    { known, resolved, identities, rest }: RecalledBatch,
    batchId: string,
    queued: OnQueued,
  ): () => StoredPart | undefined {
    this.storing.begin();
    let stored = 0;
    this.identity.holdRecalled(transaction, identities);
    this.review.expectNoRefusals(transaction, known);
    this.subscriptions.assertNoSubscribers(transaction, distinctKinds(resolved.filter(isBundled).map(kindOf)));
    queued(this.log.storeLast(transaction, resolved, batchId, (count) => (stored = count)));
    return () => {
      if (stored < known.length) return undefined;
      this.storing.end();
      const settled = known.map((work): Settled => ({
        work,
        outcome: { status: 'accepted', warnings: [], storedHash: work.contentHash },
      }));
      return { settled, rest };
    };
  }
}

/** Whether to store what is known without the others, if any: those that are subscribed must not overtake them in the queue. */
function standsAlone({ known, resolved, rest }: RecalledBatch): boolean {
  return rest.length === 0 || (known.length >= WORTH_A_TRANSACTION && resolved.every(isBundled));
}

/** Whether it may be enough to look at who the unresolved are, who are known then unless they are new. */
function shouldLookUp({ known, unresolved, rest }: RecalledBatch): boolean {
  return unresolved.length === rest.length && unresolved.length <= known.length;
}

function isBundled({ queueBundleId }: ResolvedEvent): boolean {
  return queueBundleId !== null;
}

/** Whether more is to be written down than the event. */
function leavesTraces({ replay, warnings }: IngestWork): boolean {
  return replay !== undefined || warnings.length > 0;
}

function namedBy({ tenantId, event: { identifiers } }: IngestWork) {
  return { tenantId, identifiers };
}
