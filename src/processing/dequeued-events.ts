import { Injectable } from '@nestjs/common';
import { EventQueue } from '../ingest/queue/event-queue';
import { isAnyWaiting, type RecordToWrite } from '../ingest/queue/processing-record';
import { isEarlier, type EntryKey } from '../ingest/queue/queue-partition';
import { IdentityService } from '../identity/identity.service';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import { Clock } from '../platform/values/clock';
import { ReviewService } from '../review/review.service';
import type { EffectResult } from './domain/event-effects';
import { finishedRecord, processingProblems } from './domain/processing-outcome';
import { placeOfReceipt, readyEntry, type ReadyEntry } from './queue-order';
import { WaitingEvents } from './waiting-events';

/** A stored event that has left the queue. */
export interface DequeuedEvent {
  readonly eventId: string;
  /** Whether it left the queue together with others. Then it has no record of its own before its first effect. */
  readonly isBundled: boolean;
}

/** An event with everything that an effect needs. */
export interface DequeuedEntry extends ReadyEntry {
  /** Of all profiles of its customer. */
  readonly profileIds: readonly string[];
}

export interface HeldEvents {
  /** In the order of the events; those that have expired are missing. */
  readonly entries: readonly DequeuedEntry[];
  /**
   * How many of the events these are, missing ones too. Fewer than all: the next one is still in the queue, or earlier
   * ones of its customer are about to return there.
   */
  readonly count: number;
}

/** What an effect did with an event. `result` has all reactions of the event, those of earlier effects too. */
export interface DequeuedResult {
  readonly entry: DequeuedEntry;
  readonly result: EffectResult;
}

/**
 * Lets effects come to events that are not in the queue, in the caller's transaction: with the customer and the record
 * of each event, both held until the transaction ends. So an effect that reads and writes the record happens once.
 *
 * A bundled event has no row to lock before its first record. Callers exclude each other, by workspace, or their
 * transactions fail.
 */
@Injectable()
export class DequeuedEvents {
  constructor(
    private readonly queue: EventQueue,
    private readonly waiting: WaitingEvents,
    private readonly identity: IdentityService,
    private readonly review: ReviewService,
    private readonly clock: Clock,
  ) {}

  /**
   * Reads events with their customers and records. Customers are locked first, as everywhere, and events before their
   * records, as by their expiry. `handled`: how many events the caller has had before these; events of one request have
   * one time of receipt, and wait for their customer in this order.
   */
  async hold(
    transaction: Transaction,
    tenantId: string,
    events: readonly DequeuedEvent[],
    handled: number,
  ): Promise<HeldEvents> {
    const ids = events.map(({ eventId }) => eventId);
    const stored = await this.queue.events(transaction, tenantId, ids);
    const profiles = new Set([...stored.values()].map(({ profileId }) => profileId));
    const [customers, held, records] = await Promise.all([
      this.identity.holdCustomers(transaction, tenantId, [...profiles]),
      this.queue.holdEvents(transaction, tenantId, ids),
      this.queue.lockProcessing(transaction, tenantId, ids),
    ]);
    const linked = [...customers.values()].filter(({ externalId }) => externalId !== null);
    const waiting = await this.waiting.firstOf(transaction, tenantId, [
      ...new Set(linked.flatMap(({ profileIds }) => profileIds)),
    ]);
    const entries: DequeuedEntry[] = [];
    for (const [position, { eventId, isBundled }] of events.entries()) {
      const event = held.has(eventId) ? stored.get(eventId) : undefined;
      if (event === undefined) continue;
      const before = records.get(eventId);
      const key = placeOfReceipt(event, handled + position);
      const profileIds = customers.get(event.profileId)?.profileIds ?? [event.profileId];
      const isQueued = before === undefined ? !isBundled : before.state === 'queued';
      if (isQueued || profileIds.some((id) => isAtOrBefore(waiting.get(id), key))) {
        return { entries, count: position };
      }
      entries.push({ ...readyEntry(tenantId, { ...key, event }, customers, before), profileIds });
    }
    return { entries, count: events.length };
  }

  /**
   * Locks the customers that these entries wait for, so that none gets an EXTERNAL identifier before the transaction
   * ends. Throws `LostRaceError` if one got it meanwhile; the caller repeats the transaction.
   */
  async holdUnlinked(transaction: Transaction, tenantId: string, waiting: readonly DequeuedResult[]): Promise<void> {
    await this.identity.holdUnlinked(transaction, tenantId, new Set(waiting.map(({ entry }) => entry.rootId)));
  }

  /**
   * Along with COMMIT: the records, a review entry for each failure, and the places of events that wait now. An event
   * waits as long, and in the same order, as if it had waited since its receipt.
   */
  finish(transaction: Transaction, tenantId: string, results: readonly DequeuedResult[]): void {
    this.queue.writeRecords(transaction, tenantId, results.map(recordOf));
    const newlyWaiting = results.filter(
      ({ entry, result }) => isAnyWaiting(result.reactions) && !isAnyWaiting(entry.before?.reactions ?? []),
    );
    this.waiting.add(
      transaction,
      tenantId,
      newlyWaiting.map(({ entry }) => entry),
    );
    this.review.recordWithin(transaction, processingProblems(tenantId, results, this.clock.now().getTime()));
  }
}

/** An event that failed for another reason still waits for its replay. */
function recordOf({ entry, result }: DequeuedResult): RecordToWrite {
  const { before } = entry;
  const record = finishedRecord(entry, before?.attempts ?? 1, result);
  if (before?.state !== 'failed' || record.state === 'failed') return record;
  return { ...record, state: 'failed', lastError: before.lastError };
}

function isAtOrBefore(first: EntryKey | undefined, key: EntryKey): boolean {
  return first !== undefined && !isEarlier(key, first);
}
