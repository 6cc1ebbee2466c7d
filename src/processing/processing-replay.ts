import { Injectable } from '@nestjs/common';
import { isAnyWaiting } from '../ingest/queue/processing-record';
import { shardOf, type QueuePartition } from '../ingest/queue/queue-partition';
import { EventQueue } from '../ingest/queue/event-queue';
import { unavailable } from '../platform/errors/unavailable';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { LostRaceError } from '../platform/group-commit/persist-batch';
import type { ReplayAttempt } from '../review/domain/resolution';
import { ReviewService } from '../review/review.service';
import type { EffectFailure, EffectResult } from './domain/event-effects';
import { finishedRecord } from './domain/processing-outcome';
import { failureOf, isDatabaseAway } from './effect-errors';
import { withinSavepoint } from './effect-scope';
import { SerialConnection } from './serial-connection';
import { QueueLeases } from './queue-leases';
import { QueueOrder, type ReadyEntry } from './queue-order';
import { EventProcessor } from './event-processor';
import { WaitingEvents } from './waiting-events';

/** An event whose processing failed for good, and the review entry that says so. */
export interface EventToProcessAgain {
  readonly tenantId: string;
  readonly eventId: string;
  readonly replay: { readonly entryId: string; readonly attempt: ReplayAttempt };
}

/** The result of a replay; without a failure the event is processed now. */
export interface ProcessedAgain {
  readonly failure?: EffectFailure;
  /** Another replay processed it before this attempt. */
  readonly wasProcessed?: true;
  /** The event is gone, because its retention has ended. */
  readonly hasExpired?: true;
}

/**
 * Processes events again that failed for good (contract section 8), while a client waits. Reactions that are recorded
 * as applied are not repeated. The transaction that processes an event closes its review entries.
 */
@Injectable()
export class ProcessingReplay {
  constructor(
    private readonly serial: SerialConnection,
    private readonly leases: QueueLeases,
    private readonly queue: EventQueue,
    private readonly order: QueueOrder,
    private readonly processor: EventProcessor,
    private readonly waiting: WaitingEvents,
    private readonly review: ReviewService,
  ) {}

  /** One attempt, counted before it starts. Throws `unavailable` when no attempt was possible. */
  async replay(again: EventToProcessAgain): Promise<ProcessedAgain> {
    const { tenantId, eventId } = again;
    try {
      const attempts = await this.serial.transaction(tenantId, (open) =>
        this.queue.countAttempt(open, tenantId, eventId),
      );
      return await this.serial.transaction(tenantId, (open) => this.attempt(open, again, attempts));
    } catch (error) {
      throw isDatabaseAway(error) || error instanceof LostRaceError ? unavailable(error) : error;
    }
  }

  /**
   * `attempts`: including this one. Concurrent attempts are counted too, but find the event processed and do nothing.
   */
  private async attempt(
    transaction: Transaction,
    again: EventToProcessAgain,
    attempts: number | undefined,
  ): Promise<ProcessedAgain> {
    const { tenantId, eventId } = again;
    const event = (await this.queue.events(transaction, tenantId, [eventId])).get(eventId);
    if (event === undefined) return this.closeExpired(transaction, again);
    const { rootId } = await this.order.entryForReplay(transaction, tenantId, event);
    const partition = { tenantId, shard: shardOf(rootId) };
    await this.leases.await(transaction, partition);
    const before = (await this.queue.lockProcessing(transaction, tenantId, [eventId])).get(eventId);
    // The record of a failed event goes only with the event.
    if (before === undefined) return this.closeExpired(transaction, again);
    if (before.state === 'processed') return { ...this.close(transaction, again), wasProcessed: true };
    const entry = await this.order.entryForReplay(transaction, tenantId, event, before);
    const result = await this.effectsOn(transaction, entry);
    const record = finishedRecord(entry, attempts ?? before.attempts, result);
    this.queue.writeRecords(transaction, tenantId, [record]);
    const waitsAlready = isAnyWaiting(before.reactions);
    if (isAnyWaiting(result.reactions) && !waitsAlready) {
      this.waiting.add(transaction, tenantId, [entry]);
    }
    if (result.failure !== undefined) return { failure: result.failure };
    return this.closeProcessed(transaction, again, partition);
  }

  /** Where nothing came of the attempt, what is recorded of the reactions stays. */
  private async effectsOn(transaction: Transaction, entry: ReadyEntry): Promise<EffectResult> {
    const reactions = entry.before?.reactions ?? [];
    try {
      const [result] = await withinSavepoint(transaction, (part) => this.processor.apply(part, [entry]));
      if (result?.mayRetry === true) return { ...result, reactions };
      return result ?? { reactions: [] };
    } catch (error) {
      if (isDatabaseAway(error) || error instanceof LostRaceError) throw error;
      return { reactions, failure: failureOf(error) };
    }
  }

  private closeProcessed(
    transaction: Transaction,
    again: EventToProcessAgain,
    partition: QueuePartition,
  ): ProcessedAgain {
    this.leases.count(transaction, [{ ...partition, count: 1 }]);
    return this.close(transaction, again);
  }

  private closeExpired(transaction: Transaction, { tenantId, eventId }: EventToProcessAgain): ProcessedAgain {
    this.review.supersedeExpired(transaction, [{ tenantId, eventId }]);
    return { hasExpired: true };
  }

  /** The event may have failed at other times for other reasons, each with an entry of its own. */
  private close(transaction: Transaction, { tenantId, eventId, replay }: EventToProcessAgain): ProcessedAgain {
    const resolution = { ...replay.attempt, outcome: 'processed', eventId } as const;
    this.review.closeReplayed(transaction, [{ tenantId, id: replay.entryId, eventId, resolution }]);
    this.review.supersedeFailures(transaction, [{ tenantId, eventId }]);
    return {};
  }
}
