import { Injectable } from '@nestjs/common';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import { isAnyWaiting } from '../ingest/queue/processing-record';
import { EventQueue } from '../ingest/queue/event-queue';
import { IdentityService } from '../identity/identity.service';
import { Clock } from '../platform/values/clock';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { Tracing } from '../platform/observability/tracing';
import { ReviewService } from '../review/review.service';
import type { EffectResult } from './domain/event-effects';
import { erasedReactions, finishedRecord, processingProblems } from './domain/processing-outcome';
import { EventEffects } from './effects';
import { QueueLeases } from './queue-leases';
import type { ReadyEntry } from './queue-order';
import { WaitingEvents } from './waiting-events';

/** An entry that leaves the queue: processed, or failed for good. */
export interface FinishedEntry {
  readonly entry: ReadyEntry;
  readonly result: EffectResult;
  readonly attempts: number;
}

/** Applies effects and stores the results of events, in a transaction that has the lease of their partition. */
@Injectable()
export class EventProcessor {
  constructor(
    private readonly effects: EventEffects,
    private readonly queue: EventQueue,
    private readonly leases: QueueLeases,
    private readonly waiting: WaitingEvents,
    private readonly identity: IdentityService,
    private readonly review: ReviewService,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
  ) {}

  /**
   * Returns results in the order of the entries, possibly for the first ones only. Events of erased persons have no
   * effects. Customers that a reaction waits for stay unlinked until the transaction ends; throws LostRaceError when
   * one was linked meanwhile, and the caller repeats the transaction.
   */
  async apply(transaction: Transaction, entries: readonly ReadyEntry[]): Promise<EffectResult[]> {
    const living = entries.filter(({ isErased }) => !isErased);
    const events = living.map(({ toProcess }) => toProcess);
    const ids = living.map(({ eventId }) => eventId);
    const results =
      living.length === 0
        ? []
        : await this.tracing.process('process events', ids, () => this.effects.apply(transaction, events));
    const all: EffectResult[] = [];
    let applied = 0;
    for (const { isErased, before } of entries) {
      const result = isErased ? { reactions: erasedReactions(before?.reactions ?? []) } : results[applied];
      if (result === undefined) break;
      all.push(result);
      if (!isErased) applied += 1;
    }
    const waiting = entries.filter((_entry, index) => isAnyWaiting(all[index]?.reactions ?? []));
    const tenantId = waiting[0]?.toProcess.tenantId;
    if (tenantId !== undefined) {
      await this.identity.holdUnlinked(transaction, tenantId, new Set(waiting.map(({ rootId }) => rootId)));
    }
    return all;
  }

  /** Along with COMMIT: the processing records, the count of the partition, and a review entry for each failure. */
  finish(transaction: Transaction, partition: QueuePartition, finished: readonly FinishedEntry[]): void {
    const { tenantId } = partition;
    const records = finished.map(({ entry, attempts, result }) => finishedRecord(entry, attempts, result));
    this.queue.writeRecords(transaction, tenantId, records);
    const waiting = finished.filter(({ result }) => isAnyWaiting(result.reactions));
    this.waiting.add(
      transaction,
      tenantId,
      waiting.map(({ entry }) => entry),
    );
    this.leases.count(transaction, [
      { ...partition, count: records.filter(({ state }) => state === 'processed').length },
    ]);
    this.review.recordWithin(transaction, processingProblems(tenantId, finished, this.clock.now().getTime()));
  }
}
