import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { QueuePlace } from '../ingest/domain/queue-place';
import { EventQueue } from '../ingest/event-queue';
import type { Transaction } from '../platform/database/pipelined-connection';
import { describeError } from '../platform/errors/error-summary';
import { EVERY_MINUTE, Jobs, type JobPayload } from '../platform/jobs/jobs';
import type { EffectResult } from './domain/event-effects';
import { retryDelayMs } from './domain/retry-delay';
import { waitingRecord } from './domain/settled-entry';
import { failureOf, finalFailureOf, isDatabaseAway } from './effect-errors';
import { withinSavepoint } from './effect-scope';
import { OutOfTurn } from './out-of-turn';
import { ParkedEvents, RETRY_JOB, retryJobOf, type DueEntry } from './parked-events';
import { QueueLeases } from './queue-leases';
import { QueueOrder, type ReadyEntry } from './queue-order';
import { Settlement } from './settlement';

const SWEEP_JOB = 'parked-events-sweep';
const PLACES_PER_SWEEP = 1_000;
/** Of one job, which adds another one for the rest. */
const ENTRIES_PER_JOB = 100;
/** Let go of at a time; should more wait behind one entry, the next of them takes its place. */
const RELEASED_MAX = 500;
/** Until it is looked again whether earlier entries of a merged customer are done. */
const LOOK_AGAIN_MS = 250;

/**
 * Tries again what has failed and may succeed (contract section 8): the first parked entry of a profile, under the lease of
 * its place. Once that is through, either way, those behind it go back into the queue, to where they were.
 */
@Injectable()
export class ParkedRetry implements OnModuleInit {
  private readonly logger = new Logger(ParkedRetry.name);

  constructor(
    private readonly database: DataSource,
    private readonly jobs: Jobs,
    private readonly outOfTurn: OutOfTurn,
    private readonly leases: QueueLeases,
    private readonly queue: EventQueue,
    private readonly order: QueueOrder,
    private readonly parked: ParkedEvents,
    private readonly settlement: Settlement,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(RETRY_JOB, (payload) => this.work(placeOf(payload)));
    this.jobs.handle(SWEEP_JOB, () => this.sweep(), { cron: EVERY_MINUTE });
  }

  /** Tries what is due in a place, each entry once. What cannot be settled costs the others nothing, and is thrown behind them. */
  async retry(place: QueuePlace): Promise<void> {
    const due = await this.outOfTurn.transaction((open) => this.parked.due(open, place, ENTRIES_PER_JOB));
    const unsettled: unknown[] = [];
    for (const entry of due) {
      try {
        await this.outOfTurn.transaction((open) => this.attempt(open, place, entry));
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        unsettled.push(error);
      }
    }
    if (unsettled.length > 0) throw unsettled[0];
  }

  private async work(place: QueuePlace): Promise<void> {
    await this.retry(place);
    if (await this.parked.isAnyLeft(place)) {
      await this.outOfTurn.transaction((open) => {
        this.parked.retryLater(open, place);
        return Promise.resolve();
      });
    }
  }

  /** The jobs of places whose own got lost. */
  private async sweep(): Promise<void> {
    for (const place of await this.parked.overdue(PLACES_PER_SWEEP)) {
      const { payload, key } = retryJobOf(place);
      await this.jobs.add(this.database.manager, RETRY_JOB, payload, { key });
    }
  }

  private async attempt(transaction: Transaction, place: QueuePlace, due: DueEntry): Promise<void> {
    const { tenantId } = place;
    await this.leases.await(transaction, place);
    // Behind the lock: somebody else may have tried it meanwhile.
    const before = await this.parked.attemptsOf(transaction, tenantId, due);
    const event = (await this.queue.events(transaction, tenantId, [due.eventId])).get(due.eventId);
    if (before === undefined || event === undefined) return;
    const entry = await this.order.retriable(transaction, tenantId, { ...due, event });
    if (entry === undefined) {
      this.parked.postpone(transaction, tenantId, due, before, LOOK_AGAIN_MS);
      return;
    }
    const attempts = before + 1;
    try {
      const [result] = await withinSavepoint(transaction, (part) => this.settlement.apply(part, [entry]));
      await this.finish(transaction, place, { entry, attempts, result: result ?? { reactions: [] } });
    } catch (error) {
      if (isDatabaseAway(error)) throw error;
      await this.failed(transaction, place, { entry, attempts, error });
    }
  }

  private async failed(
    transaction: Transaction,
    place: QueuePlace,
    { entry, attempts, error }: { entry: ReadyEntry; attempts: number; error: unknown },
  ): Promise<void> {
    const { line, stack } = describeError(error);
    this.logger.warn(`An event could not be processed in attempt ${attempts}: ${line}`, stack);
    const delayMs = retryDelayMs(attempts, Math.random());
    if (delayMs === undefined) {
      const result = { reactions: [], failure: finalFailureOf(error) };
      return this.finish(transaction, place, { entry, attempts, result });
    }
    this.parked.postpone(transaction, place.tenantId, entry, attempts, delayMs);
    this.queue.writeDown(transaction, place.tenantId, [waitingRecord(entry.eventId, attempts, failureOf(error))]);
  }

  private async finish(
    transaction: Transaction,
    place: QueuePlace,
    finished: { entry: ReadyEntry; attempts: number; result: EffectResult },
  ): Promise<void> {
    const { queuedFor, eventId } = finished.entry;
    const released = await this.parked.release(transaction, place.tenantId, queuedFor, RELEASED_MAX);
    this.queue.restore(
      transaction,
      place,
      released.filter((each) => each.eventId !== eventId),
    );
    this.settlement.finish(transaction, place, [finished]);
  }
}

function placeOf({ tenantId = '', shard = '' }: JobPayload): QueuePlace {
  return { tenantId, shard: Number(shard) };
}
