import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/pipelined-connection';
import { newId } from '../platform/ids/ids';
import { IdentityService, type RecalledIdentities } from '../identity/identity.service';
import { ReviewService } from '../review/review.service';
import type { IngestWork, Settled } from './batch-outcomes';
import { distinctKinds } from './domain/event-kind';
import { Retreat } from './domain/retreat';
import { EventAudience } from './event-audience';
import { claimOf, homedEvent, kindOf } from './event-claim';
import { EventLog, type HomedEvent } from './event-log';
import type { OnQueued } from './queue-signal';

/** What this node remembers of a batch. */
export interface RecalledBatch {
  readonly batch: readonly IngestWork[];
  /** Events of which nothing has to be found out, and where they belong. */
  readonly known: readonly IngestWork[];
  readonly homed: readonly HomedEvent[];
  readonly identities: RecalledIdentities;
  /** Of whose customers too little is known. */
  readonly strangers: readonly IngestWork[];
  /** All that are not known: strangers, and what is more than an event to be stored. */
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
  private readonly storing = new Retreat();
  private readonly meeting = new Retreat();

  constructor(
    private readonly identity: IdentityService,
    private readonly log: EventLog,
    private readonly audience: EventAudience,
    private readonly review: ReviewService,
  ) {}

  /** Undefined where too little is known, or too much has been otherwise lately. */
  recall(batch: readonly IngestWork[]): RecalledBatch | undefined {
    if (!this.storing.isOver()) return undefined;
    const recalled = this.sort(batch);
    return standsAlone(recalled) || (areWorthMeeting(recalled) && this.meeting.isOver()) ? recalled : undefined;
  }

  /**
   * Stores what is known as it was remembered, along with the strangers where they are few and not new. Once this is committed,
   * what it answers tells what became of it, or undefined where all of the batch is to be run again, of which a part may be stored.
   */
  async store(
    transaction: Transaction,
    recalled: RecalledBatch,
    batchId: string,
    queued: OnQueued,
  ): Promise<() => StoredPart | undefined> {
    if (standsAlone(recalled)) return this.storeKnown(transaction, recalled, batchId, queued);
    this.meeting.begin();
    await this.identity.read(transaction, recalled.strangers.map(claimOf));
    const met = this.sort(recalled.batch);
    if (met.rest.length > 0) return () => undefined;
    this.meeting.end();
    return this.storeKnown(transaction, met, batchId, queued);
  }

  private sort(batch: readonly IngestWork[]): RecalledBatch {
    const identities = this.identity.recall(batch.map(namedBy));
    const known: IngestWork[] = [];
    const homed: HomedEvent[] = [];
    const strangers: IngestWork[] = [];
    const rest: IngestWork[] = [];
    const bundleId = newId();
    batch.forEach((work, index) => {
      const home = identities.homes[index];
      const isAwaited = this.audience.wasAwaited(kindOf(work));
      if (home === undefined || isAwaited === undefined || leavesTraces(work)) {
        if (home === undefined) strangers.push(work);
        return rest.push(work);
      }
      homed.push(homedEvent(work, home, isAwaited ? null : bundleId));
      return known.push(work);
    });
    return { batch, known, homed, identities, strangers, rest };
  }

  private storeKnown(
    transaction: Transaction,
    { known, homed, identities, rest }: RecalledBatch,
    batchId: string,
    queued: OnQueued,
  ): () => StoredPart | undefined {
    this.storing.begin();
    let stored = 0;
    this.identity.holdRecalled(transaction, identities);
    this.review.expectNoRefusals(transaction, known);
    this.audience.expectNobody(transaction, distinctKinds(homed.filter(isBundled).map(kindOf)));
    queued(this.log.storeLast(transaction, homed, batchId, (count) => (stored = count)));
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

/** Whether to store what is known without the others, if any: those that are awaited must not overtake them in the queue. */
function standsAlone({ known, homed, rest }: RecalledBatch): boolean {
  return rest.length === 0 || (known.length >= WORTH_A_TRANSACTION && homed.every(isBundled));
}

/** Whether it may be enough to look at who the strangers are, who are known then unless they are new. */
function areWorthMeeting({ known, strangers, rest }: RecalledBatch): boolean {
  return strangers.length === rest.length && strangers.length <= known.length;
}

function isBundled({ queueBundleId }: HomedEvent): boolean {
  return queueBundleId !== null;
}

/** Whether more is to be written down than the event. */
function leavesTraces({ replay, warnings }: IngestWork): boolean {
  return replay !== undefined || warnings.length > 0;
}

function namedBy({ tenantId, event: { identifiers } }: IngestWork) {
  return { tenantId, identifiers };
}
