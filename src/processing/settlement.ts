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
import { processingProblem } from './domain/processing-problem';
import { erasedReactions, finishedRecord } from './domain/settled-entry';
import { EventEffects } from './effects';
import { QueueLeases } from './queue-leases';
import type { ReadyEntry } from './queue-order';
import { WaitingEvents } from './waiting-events';

/** An entry that is through: processed, or failed for good. */
export interface FinishedEntry {
  readonly entry: ReadyEntry;
  readonly result: EffectResult;
  readonly attempts: number;
}

/** Applies effects, and writes down what became of events, in the transaction of whoever has their place. */
@Injectable()
export class Settlement {
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
   * One result an entry, in their order, or for the first of them. Events of erased persons have no effects: nothing of them
   * comes back. Customers that anything waits for stay unlinked until the transaction ends; throws LostRaceError where one has
   * been linked meanwhile, and the same is to be done again.
   */
  async apply(transaction: Transaction, entries: readonly ReadyEntry[]): Promise<EffectResult[]> {
    const living = entries.filter(({ isErased }) => !isErased);
    const events = living.map(({ toProcess }) => toProcess);
    const ids = living.map(({ eventId }) => eventId);
    const results =
      living.length === 0
        ? []
        : await this.tracing.process('process events', ids, () => this.effects.apply(transaction, events));
    const settled: EffectResult[] = [];
    let applied = 0;
    for (const { isErased, before } of entries) {
      const result = isErased ? { reactions: erasedReactions(before?.reactions ?? []) } : results[applied];
      if (result === undefined) break;
      settled.push(result);
      if (!isErased) applied += 1;
    }
    const waiting = entries.filter((_entry, index) => isAnyWaiting(settled[index]?.reactions ?? []));
    await this.holdUnlinked(transaction, waiting);
    return settled;
  }

  /** Along with COMMIT: the records, the count of the place, and a review entry for each that failed. */
  finish(transaction: Transaction, place: QueuePartition, finished: readonly FinishedEntry[]): void {
    const { tenantId } = place;
    const records = finished.map(({ entry, attempts, result }) => finishedRecord(entry, attempts, result));
    this.queue.writeDown(transaction, tenantId, records);
    const waiting = finished.filter(({ result }) => isAnyWaiting(result.reactions));
    this.waiting.add(
      transaction,
      tenantId,
      waiting.map(({ entry }) => entry),
    );
    this.leases.count(transaction, [{ ...place, count: records.filter(({ state }) => state === 'processed').length }]);
    const at = this.clock.now().getTime();
    const problems = finished.flatMap(({ entry: { toProcess }, result: { failure } }) =>
      failure === undefined ? [] : [processingProblem(tenantId, toProcess.event, failure, at)],
    );
    this.review.recordWithin(transaction, problems);
  }

  private async holdUnlinked(transaction: Transaction, entries: readonly ReadyEntry[]): Promise<void> {
    const [first] = entries;
    if (first === undefined) return;
    const { tenantId } = first.toProcess;
    await this.identity.holdUnlinked(transaction, tenantId, [...new Set(entries.map(({ rootId }) => rootId))]);
  }
}
