import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/database/pipelined-connection';
import { newId } from '../platform/ids/ids';
import { IdentityService, type IdentityDecision, type TenantClaim } from '../identity/identity.service';
import type { ReplayAttempt, ReplayedEntry } from '../review/domain/resolution';
import { ReviewService } from '../review/review.service';
import { saysTheSame } from './domain/content-hash';
import { kindName, type EventKind } from './domain/event-kind';
import type { Outcome, WarningReason } from './domain/outcome';
import { warningProblem } from './domain/warning-entry';
import { EventAudience } from './event-audience';
import { EventLog, type EventToStore, type HomedEvent, type StoredEvent } from './event-log';
import type { Queued } from './queue-signal';

/** An event in the lane. */
export interface IngestWork extends EventToStore {
  /** The JSON text it came as, for the review area. */
  readonly text: () => string;
  /** What is odd about the event itself, whoever it belongs to. */
  readonly warnings: readonly WarningReason[];
  /** The review entry that the event was kept in before, and who sends it again. */
  readonly replay?: { readonly entryId: string; readonly attempt: ReplayAttempt };
}

interface Settled {
  readonly work: IngestWork;
  readonly outcome: Outcome;
}

/**
 * Stores one batch in one transaction: events, identities, queue entries and warnings, or nothing of it. Three round
 * trips, four when an identifier is new. No two pieces of work of a batch have the same event id.
 */
@Injectable()
export class IngestTransaction {
  constructor(
    private readonly identity: IdentityService,
    private readonly log: EventLog,
    private readonly audience: EventAudience,
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
    queued: (queued: Queued) => void,
  ): Promise<Outcome[]> {
    const claims = batch.map(claimOf);
    const [stored, reading, awaited] = await Promise.all([
      this.log.find(transaction, batch),
      this.identity.read(transaction, claims),
      this.audience.of(transaction, batch.map(kindOf)),
    ]);
    const fresh = batch.filter((work) => !stored.has(work.eventId));
    if (fresh.length === 0) return this.conclude(transaction, batch, repeated(batch, stored, batchId));

    const freshClaims = claims.filter((claim) => !stored.has(claim.eventId));
    const decision = await this.identity.decide(transaction, freshClaims, reading);
    await this.identity.claim(transaction, freshClaims, reading, decision);
    const homed = homedEvents(fresh, decision, awaited);
    const [inserted] = await Promise.all([
      this.log.insert(transaction, homed, batchId),
      this.identity.write(transaction, decision, freshClaims),
    ]);
    const late = homed.filter((event) => !inserted.has(event.eventId));
    // Another node stored these between our look and our insert, which waited for its commit.
    const storedLate = late.length === 0 ? stored : await this.log.find(transaction, late);
    const accepted = homed.filter((event) => inserted.has(event.eventId));
    if (accepted.length > 0) queued(this.log.enqueue(transaction, accepted));
    const known = new Map([...stored, ...storedLate]);
    return this.conclude(transaction, batch, [
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
  private conclude(transaction: Transaction, batch: readonly IngestWork[], settled: readonly Settled[]): Outcome[] {
    const warnings = settled.flatMap(({ work, outcome }) =>
      outcome.status === 'refused' ? [] : outcome.warnings.map((reason) => warningProblem(work, reason)),
    );
    const right = settled.filter(({ outcome }) => cameInRight(outcome));
    this.review.closeReplayed(transaction, right.flatMap(replayedEntries));
    this.review.supersede(
      transaction,
      right.map(({ work }) => work),
    );
    this.review.recordWithin(transaction, warnings);
    return inOrder(batch, settled);
  }
}

function cameInRight(outcome: Outcome): boolean {
  return outcome.status !== 'refused' && !outcome.warnings.includes('payload_mismatch');
}

function replayedEntries({ work, outcome: { status } }: Settled): ReplayedEntry[] {
  const { tenantId, eventId, replay } = work;
  if (replay === undefined || status === 'refused') return [];
  return [{ tenantId, id: replay.entryId, eventId, resolution: { ...replay.attempt, outcome: status, eventId } }];
}

/** No event was stored by it. */
const NO_BATCH = '';

function inOrder(batch: readonly IngestWork[], settled: readonly Settled[]): Outcome[] {
  const outcomes = new Map(settled.map(({ work, outcome }) => [work.eventId, outcome]));
  return batch.flatMap((work) => outcomes.get(work.eventId) ?? []);
}

class EventClaim implements TenantClaim {
  readonly tenantId: string;
  readonly eventId: string;
  readonly identifiers: TenantClaim['identifiers'];
  readonly at: number;
  private profileId: string | undefined;

  constructor({ tenantId, eventId, event, receivedAt }: IngestWork) {
    this.tenantId = tenantId;
    this.eventId = eventId;
    this.identifiers = event.identifiers;
    this.at = receivedAt;
    this.profileId = undefined;
  }

  /** Made when it is asked for: most customers are known, and an id costs more than parsing the event. */
  get newProfileId(): string {
    return (this.profileId ??= newId());
  }
}

function claimOf(work: IngestWork): TenantClaim {
  return new EventClaim(work);
}

/** Events that were there before: duplicates, unless an earlier attempt of this very batch has stored them. */
function repeated(batch: readonly IngestWork[], stored: ReadonlyMap<string, StoredEvent>, batchId: string): Settled[] {
  return batch.flatMap((work): Settled[] => {
    const found = stored.get(work.eventId);
    if (found === undefined) return [];
    const { contentHash: storedHash } = found;
    if (found.batchId === batchId) return [{ work, outcome: { status: 'accepted', warnings: [], storedHash } }];
    const warnings = saysTheSame(storedHash, work.contentHash) ? [] : (['payload_mismatch'] as const);
    return [{ work, outcome: { status: 'duplicate', warnings, storedHash } }];
  });
}

function kindOf({ tenantId, event: { eventType } }: IngestWork): EventKind {
  return { tenantId, eventType };
}

function homedEvents(
  fresh: readonly IngestWork[],
  { homes }: IdentityDecision,
  awaited: ReadonlySet<string>,
): HomedEvent[] {
  const sharedId = newId();
  return fresh.flatMap((work, index): HomedEvent[] => {
    const home = homes[index];
    if (home?.outcome !== 'resolved') return [];
    const { tenantId, eventId, event, contentHash, receivedAt } = work;
    const { profileId, rootId } = home;
    const queueBundleId = awaited.has(kindName(kindOf(work))) ? null : sharedId;
    return [{ tenantId, eventId, event, contentHash, receivedAt, profileId, rootId, queueBundleId }];
  });
}

function settledFresh(
  fresh: readonly IngestWork[],
  { homes }: IdentityDecision,
  inserted: ReadonlySet<string>,
): Settled[] {
  return fresh.flatMap((work, index): Settled[] => {
    const home = homes[index];
    if (home === undefined) return [];
    if (home.outcome !== 'resolved') return [{ work, outcome: { status: 'refused', code: home.outcome } }];
    if (!inserted.has(work.eventId)) return [];
    const warnings = [...work.warnings, ...home.warnings];
    return [{ work, outcome: { status: 'accepted', warnings, storedHash: work.contentHash } }];
  });
}
