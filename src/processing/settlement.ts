import { Injectable } from '@nestjs/common';
import type { QueuePlace } from '../ingest/domain/queue-place';
import { EventQueue } from '../ingest/event-queue';
import { Clock } from '../platform/clock/clock';
import type { Transaction } from '../platform/database/pipelined-connection';
import { Tracing } from '../platform/observability/tracing';
import { ReviewService } from '../review/review.service';
import type { EffectResult } from './domain/event-effects';
import { processingProblem } from './domain/processing-problem';
import { finishedRecord } from './domain/settled-entry';
import { EventEffects } from './effects';
import { QueueLeases } from './queue-leases';
import type { ReadyEntry } from './queue-order';

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
    private readonly review: ReviewService,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
  ) {}

  /**
   * One result an entry, in their order, or for the first of them. Events of erased persons have no effects: nothing of them
   * comes back.
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
    for (const { isErased } of entries) {
      const result = isErased ? { reactions: [] } : results[applied];
      if (result === undefined) break;
      settled.push(result);
      if (!isErased) applied += 1;
    }
    return settled;
  }

  /** Along with COMMIT: the records, the count of the place, and a review entry for each that failed. */
  finish(transaction: Transaction, place: QueuePlace, finished: readonly FinishedEntry[]): void {
    const { tenantId } = place;
    const records = finished.map(({ entry, attempts, result }) => finishedRecord(entry.eventId, attempts, result));
    this.queue.writeDown(transaction, tenantId, records);
    this.leases.count(transaction, [{ ...place, count: records.filter(({ state }) => state === 'processed').length }]);
    const at = this.clock.now().getTime();
    const problems = finished.flatMap(({ entry: { toProcess }, result: { failure } }) =>
      failure === undefined ? [] : [processingProblem(tenantId, toProcess.event, failure, at)],
    );
    this.review.recordWithin(transaction, problems);
  }
}
