import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import { EventQueue } from '../ingest/queue/event-queue';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { describeError } from '../platform/errors/error-summary';
import { EVERY_MINUTE, Jobs, type JobPayload } from '../platform/jobs/jobs';
import { LostRaceError } from '../platform/group-commit/persist-batch';
import type { EffectFailure, EffectResult } from './domain/event-effects';
import { attemptDelayMs, ATTEMPTS_MAX, givenUp, waitingRecord } from './domain/processing-outcome';
import { failureOf, finalFailureOf, INTERRUPTED, isDatabaseAway, isSessionLost } from './effect-errors';
import { withinSavepoint } from './effect-scope';
import { SerialConnection } from './serial-connection';
import { ParkedEvents, RETRY_JOB, retryJobOf, type DueEntry } from './parked-events';
import { QueueLeases } from './queue-leases';
import { QueueOrder, type ReadyEntry } from './queue-order';
import { EventProcessor } from './event-processor';

const SWEEP_JOB = 'parked-events-sweep';
const PARTITIONS_PER_SWEEP = 1_000;
const PULLED_BACK_MAX = 10_000;
/** Per job; a further job takes the rest. */
const ENTRIES_PER_JOB = 100;
/** Entries that return to the queue at a time; of more, the next one is retried first. */
const RELEASED_MAX = 500;
/** The service waits for the job when it stops. */
const JOB_MS_MAX = 1_500;
/** The last attempt counts as interrupted after so long; earlier attempts count so after their own delay. */
const LAST_ATTEMPT_MS = 10_000;
/** Until an attempt that does not count is repeated. */
const TAKEN_BACK_MS = 1_000;
/** Until the earlier entries of a merged customer are checked again. */
const LOOK_AGAIN_MS = 250;

/** An attempt that was counted before it starts. */
interface BegunAttempt {
  readonly due: DueEntry;
  readonly attempts: number;
}

/**
 * Retries events that failed and may still succeed (contract section 8): the first parked entry of each profile, under
 * the lease of its partition. When that entry is processed or failed for good, later ones return to their positions in
 * the queue.
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
    private readonly processor: EventProcessor,
  ) {}

  onModuleInit(): void {
    this.jobs.handle(RETRY_JOB, (payload) => this.work(partitionOf(payload)));
    this.jobs.handle(SWEEP_JOB, () => this.sweep(), { cron: EVERY_MINUTE });
  }

  /**
   * Tries the due entries of a partition once each, for about a second. An error of one entry does not stop the others;
   * the first error is thrown at the end.
   */
  async retry(partition: QueuePartition): Promise<void> {
    const startedAt = performance.now();
    const due = await this.serial.transaction(partition.tenantId, (open) =>
      this.parked.due(open, partition, ENTRIES_PER_JOB),
    );
    const errors: unknown[] = [];
    for (const entry of due) {
      if (performance.now() - startedAt > JOB_MS_MAX) break;
      try {
        await this.tryAgain(partition, entry);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }

  private async work(partition: QueuePartition): Promise<void> {
    await this.retry(partition);
    if (await this.parked.isAnyLeft(partition)) {
      await this.serial.transaction(partition.tenantId, (open) => {
        this.parked.retryLater(open, partition);
        return Promise.resolve();
      });
    }
  }

  /** Adds the jobs of partitions whose own job was lost. */
  private async sweep(): Promise<void> {
    await this.parked.pullBack(PULLED_BACK_MAX);
    for (const partition of await this.parked.overdue(PARTITIONS_PER_SWEEP)) {
      const { payload, key } = retryJobOf(partition);
      await this.jobs.add(this.database.manager, RETRY_JOB, payload, { key });
    }
  }

  /** In two transactions: the first one counts the attempt, so that an interrupted attempt counts. */
  private async tryAgain(partition: QueuePartition, due: DueEntry): Promise<void> {
    const attempts = await this.serial.transaction(partition.tenantId, (open) => this.begin(open, partition, due));
    if (attempts === undefined) return;
    try {
      await this.serial.transaction(partition.tenantId, (open) => this.attempt(open, partition, { due, attempts }));
    } catch (error) {
      // The result could not be stored, for example because the disk is full: the event did not cause that.
      if (!isSessionLost(error)) await this.takeBack(partition, { due, attempts }).catch(() => undefined);
      throw error;
    }
  }

  /** Counts an attempt and schedules the next one. Undefined: no attempt is possible now. */
  private async begin(transaction: Transaction, partition: QueuePartition, due: DueEntry): Promise<number | undefined> {
    const { tenantId } = partition;
    await this.leases.await(transaction, partition);
    // After the lock: another process may have tried it meanwhile.
    const found = await this.parked.find(transaction, tenantId, due);
    if (found?.isDue !== true) return undefined;
    const entry = await this.entryOf(transaction, partition, due);
    if (entry === undefined) {
      this.parked.postpone(transaction, tenantId, due, found.attempts, LOOK_AGAIN_MS);
      return undefined;
    }
    if (found.attempts >= ATTEMPTS_MAX) {
      const result = givenUp(entry, finalFailureOf(INTERRUPTED));
      await this.finish(transaction, partition, { entry, attempts: found.attempts, result });
      return undefined;
    }
    const attempts = found.attempts + 1;
    const delayMs = attemptDelayMs(attempts, Math.random()) ?? LAST_ATTEMPT_MS;
    this.parked.postpone(transaction, tenantId, due, attempts, delayMs);
    this.queue.writeRecords(transaction, tenantId, [waitingRecord(entry, attempts, INTERRUPTED)]);
    return attempts;
  }

  private async attempt(
    transaction: Transaction,
    partition: QueuePartition,
    { due, attempts }: BegunAttempt,
  ): Promise<void> {
    const { tenantId } = partition;
    await this.leases.await(transaction, partition);
    if ((await this.parked.find(transaction, tenantId, due))?.attempts !== attempts) return;
    const entry = await this.entryOf(transaction, partition, due);
    if (entry === undefined) {
      this.parked.postpone(transaction, tenantId, due, attempts - 1, LOOK_AGAIN_MS);
      return;
    }
    const result = await this.resultOf(transaction, entry);
    if (result.mayRetry === true && result.failure !== undefined) {
      await this.failed(transaction, partition, { entry, attempts, failure: result.failure });
    } else await this.finish(transaction, partition, { entry, attempts, result });
  }

  private takeBack(partition: QueuePartition, { due, attempts }: BegunAttempt): Promise<void> {
    return this.serial.transaction(partition.tenantId, async (open) => {
      await this.leases.await(open, partition);
      if ((await this.parked.find(open, partition.tenantId, due))?.attempts !== attempts) return;
      this.parked.postpone(open, partition.tenantId, due, attempts - 1, TAKEN_BACK_MS);
    });
  }

  /** Undefined while the customer has earlier entries. */
  private async entryOf(
    transaction: Transaction,
    partition: QueuePartition,
    due: DueEntry,
  ): Promise<ReadyEntry | undefined> {
    const event = (await this.queue.events(transaction, partition.tenantId, [due.eventId])).get(due.eventId);
    return event === undefined ? undefined : this.order.retriable(transaction, partition, { ...due, event });
  }

  private async resultOf(transaction: Transaction, entry: ReadyEntry): Promise<EffectResult> {
    try {
      const [result] = await withinSavepoint(transaction, (part) => this.processor.apply(part, [entry]));
      return result ?? { reactions: [] };
    } catch (error) {
      if (isDatabaseAway(error) || error instanceof LostRaceError) throw error;
      const { line, stack } = describeError(error);
      this.logger.warn(`An event could not be processed in a repeated attempt: ${line}`, stack);
      return { reactions: [], failure: failureOf(error), mayRetry: true };
    }
  }

  private async failed(
    transaction: Transaction,
    partition: QueuePartition,
    { entry, attempts, failure }: { entry: ReadyEntry; attempts: number; failure: EffectFailure },
  ): Promise<void> {
    const delayMs = attemptDelayMs(attempts, Math.random());
    if (delayMs === undefined) {
      const result = givenUp(entry, finalFailureOf(failure));
      return this.finish(transaction, partition, { entry, attempts, result });
    }
    this.parked.postpone(transaction, partition.tenantId, entry, attempts, delayMs);
    this.queue.writeRecords(transaction, partition.tenantId, [waitingRecord(entry, attempts, failure)]);
  }

  private async finish(
    transaction: Transaction,
    partition: QueuePartition,
    finished: { entry: ReadyEntry; attempts: number; result: EffectResult },
  ): Promise<void> {
    const { queuedFor, eventId } = finished.entry;
    const released = await this.parked.release(transaction, partition.tenantId, queuedFor, RELEASED_MAX);
    this.queue.restore(
      transaction,
      partition,
      released.filter((each) => each.eventId !== eventId),
    );
    this.processor.finish(transaction, partition, [finished]);
  }
}

function partitionOf({ tenantId = '', shard = '' }: JobPayload): QueuePartition {
  return { tenantId, shard: Number(shard) };
}
