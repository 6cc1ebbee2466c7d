import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import { EventQueue } from '../ingest/queue/event-queue';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { describeError } from '../platform/errors/error-summary';
import { EVERY_MINUTE, Jobs, type JobPayload } from '../platform/jobs/jobs';
import { LostRaceError } from '../platform/group-commit/persist-batch';
import type { EffectFailure, EffectResult } from './domain/event-effects';
import { ATTEMPTS_MAX, attemptDelayMs } from './domain/retry-delay';
import { waitingRecord } from './domain/settled-entry';
import { failureOf, finalFailureOf, INTERRUPTED, isDatabaseAway, isSessionLost } from './effect-errors';
import { withinSavepoint } from './effect-scope';
import { SerialConnection } from './serial-connection';
import { ParkedEvents, RETRY_JOB, retryJobOf, type DueEntry } from './parked-events';
import { QueueLeases } from './queue-leases';
import { QueueOrder, type ReadyEntry } from './queue-order';
import { Settlement } from './settlement';

const SWEEP_JOB = 'parked-events-sweep';
const PLACES_PER_SWEEP = 1_000;
const PULLED_BACK_MAX = 10_000;
/** Of one job, which adds another one for the rest. */
const ENTRIES_PER_JOB = 100;
/** Let go of at a time; should more wait behind one entry, the next of them takes its place. */
const RELEASED_MAX = 500;
/** A stop of the service waits for the job. */
const JOB_MS_MAX = 1_500;
/** An attempt that takes longer than this was cut off, if it was the last one; the others have waits of their own. */
const LAST_ATTEMPT_MS = 10_000;
/** Until an attempt that counted for nothing is made again. */
const TAKEN_BACK_MS = 1_000;
/** Until it is looked again whether earlier entries of a merged customer are done. */
const LOOK_AGAIN_MS = 250;

/** An attempt that is counted. */
interface BegunAttempt {
  readonly due: DueEntry;
  readonly attempts: number;
}

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
    private readonly serial: SerialConnection,
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

  /**
   * Tries what is due in a place, each entry once, for a second or so. What cannot be settled costs the others nothing, and is
   * thrown behind them.
   */
  async retry(place: QueuePartition): Promise<void> {
    const startedAt = performance.now();
    const due = await this.serial.transaction((open) => this.parked.due(open, place, ENTRIES_PER_JOB));
    const unsettled: unknown[] = [];
    for (const entry of due) {
      if (performance.now() - startedAt > JOB_MS_MAX) break;
      try {
        await this.tryAgain(place, entry);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        unsettled.push(error);
      }
    }
    if (unsettled.length > 0) throw unsettled[0];
  }

  private async work(place: QueuePartition): Promise<void> {
    await this.retry(place);
    if (await this.parked.isAnyLeft(place)) {
      await this.serial.transaction((open) => {
        this.parked.retryLater(open, place);
        return Promise.resolve();
      });
    }
  }

  /** The jobs of places whose own got lost. */
  private async sweep(): Promise<void> {
    await this.parked.pullBack(PULLED_BACK_MAX);
    for (const place of await this.parked.overdue(PLACES_PER_SWEEP)) {
      const { payload, key } = retryJobOf(place);
      await this.jobs.add(this.database.manager, RETRY_JOB, payload, { key });
    }
  }

  /** In two transactions: the first one counts the attempt, so that one that is cut off counts. */
  private async tryAgain(place: QueuePartition, due: DueEntry): Promise<void> {
    const attempts = await this.serial.transaction((open) => this.begin(open, place, due));
    if (attempts === undefined) return;
    try {
      await this.serial.transaction((open) => this.attempt(open, place, { due, attempts }));
    } catch (error) {
      // Nothing of it could be stored, for example for want of room: that says nothing of the event.
      if (!isSessionLost(error)) await this.takeBack(place, { due, attempts }).catch(() => undefined);
      throw error;
    }
  }

  /** Counts an attempt and puts off the one behind it. Undefined: there is none to be made now. */
  private async begin(transaction: Transaction, place: QueuePartition, due: DueEntry): Promise<number | undefined> {
    const { tenantId } = place;
    await this.leases.await(transaction, place);
    // Behind the lock: somebody else may have tried it meanwhile.
    const found = await this.parked.find(transaction, tenantId, due);
    if (found?.isDue !== true) return undefined;
    const entry = await this.entryOf(transaction, place, due);
    if (entry === undefined) {
      this.parked.postpone(transaction, tenantId, due, found.attempts, LOOK_AGAIN_MS);
      return undefined;
    }
    if (found.attempts >= ATTEMPTS_MAX) {
      const result = { reactions: [], failure: finalFailureOf(INTERRUPTED) };
      await this.finish(transaction, place, { entry, attempts: found.attempts, result });
      return undefined;
    }
    const attempts = found.attempts + 1;
    const delayMs = attemptDelayMs(attempts, Math.random()) ?? LAST_ATTEMPT_MS;
    this.parked.postpone(transaction, tenantId, due, attempts, delayMs);
    this.queue.writeDown(transaction, tenantId, [waitingRecord(entry, attempts, INTERRUPTED)]);
    return attempts;
  }

  private async attempt(
    transaction: Transaction,
    place: QueuePartition,
    { due, attempts }: BegunAttempt,
  ): Promise<void> {
    const { tenantId } = place;
    await this.leases.await(transaction, place);
    if ((await this.parked.find(transaction, tenantId, due))?.attempts !== attempts) return;
    const entry = await this.entryOf(transaction, place, due);
    if (entry === undefined) {
      this.parked.postpone(transaction, tenantId, due, attempts - 1, LOOK_AGAIN_MS);
      return;
    }
    const result = await this.resultOf(transaction, entry);
    if (result.mayRetry === true && result.failure !== undefined) {
      await this.failed(transaction, place, { entry, attempts, failure: result.failure });
    } else await this.finish(transaction, place, { entry, attempts, result });
  }

  private takeBack(place: QueuePartition, { due, attempts }: BegunAttempt): Promise<void> {
    return this.serial.transaction(async (open) => {
      await this.leases.await(open, place);
      if ((await this.parked.find(open, place.tenantId, due))?.attempts !== attempts) return;
      this.parked.postpone(open, place.tenantId, due, attempts - 1, TAKEN_BACK_MS);
    });
  }

  /** Undefined while there are earlier ones of its customer. */
  private async entryOf(
    transaction: Transaction,
    place: QueuePartition,
    due: DueEntry,
  ): Promise<ReadyEntry | undefined> {
    const event = (await this.queue.events(transaction, place.tenantId, [due.eventId])).get(due.eventId);
    return event === undefined ? undefined : this.order.retriable(transaction, place, { ...due, event });
  }

  private async resultOf(transaction: Transaction, entry: ReadyEntry): Promise<EffectResult> {
    try {
      const [result] = await withinSavepoint(transaction, (part) => this.settlement.apply(part, [entry]));
      return result ?? { reactions: [] };
    } catch (error) {
      if (isDatabaseAway(error) || error instanceof LostRaceError) throw error;
      const { line, stack } = describeError(error);
      this.logger.warn(`An event could not be processed in another attempt: ${line}`, stack);
      return { reactions: [], failure: failureOf(error), mayRetry: true };
    }
  }

  private async failed(
    transaction: Transaction,
    place: QueuePartition,
    { entry, attempts, failure }: { entry: ReadyEntry; attempts: number; failure: EffectFailure },
  ): Promise<void> {
    const delayMs = attemptDelayMs(attempts, Math.random());
    if (delayMs === undefined) {
      const result = { reactions: [], failure: finalFailureOf(failure) };
      return this.finish(transaction, place, { entry, attempts, result });
    }
    this.parked.postpone(transaction, place.tenantId, entry, attempts, delayMs);
    this.queue.writeDown(transaction, place.tenantId, [waitingRecord(entry, attempts, failure)]);
  }

  private async finish(
    transaction: Transaction,
    place: QueuePartition,
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

function placeOf({ tenantId = '', shard = '' }: JobPayload): QueuePartition {
  return { tenantId, shard: Number(shard) };
}
