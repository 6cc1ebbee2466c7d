import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import type { IncomingEvent } from '../domain/incoming-event';
import { shardOf } from '../queue/queue-partition';
import * as sql from './event.sql';
import type { Queued } from '../queue/queue-signal';

/** An event on its way into the log. */
export interface EventToStore {
  readonly tenantId: string;
  readonly eventId: string;
  readonly event: IncomingEvent;
  readonly contentHash: string;
  /** Epoch milliseconds, as this node knows the time; what is stored is the database's time (`receivedBefore`). */
  readonly receivedAt: number;
}

/** An event that knows whose it is. */
export interface ResolvedEvent extends EventToStore {
  /** The own profile of its strongest identifier; a merge or its undoing never has to touch it. */
  readonly profileId: string;
  /** The customer at the time of receipt, whose events are processed in order. */
  readonly rootId: string;
  /** When it was received, of one that is sent again from the review area; epoch milliseconds. Null: as it is stored. */
  readonly receivedBefore: number | null;
  /** The entry of the queue that it shares with others of its commit; null: it gets one of its own. */
  readonly queueBundleId: string | null;
}

/** What the log says of an event that is there already. */
export interface StoredEvent {
  readonly contentHash: string;
  /** The batch that stored it: a sender that lost its connection during COMMIT recognises its own. */
  readonly batchId: string;
}

interface StoredRow {
  readonly position: string;
  readonly source: string;
  readonly external_event_id: string;
  readonly content_hash: Buffer;
  readonly batch_id: string;
}

/** The event log and its queue inside the ingest transaction. */
@Injectable()
export class EventLog {
  /** Finds events by id; absent ones are missing from the answer. */
  async find(transaction: Transaction, wanted: readonly EventToStore[]): Promise<Map<string, StoredEvent>> {
    const rows = await transaction.send<StoredRow>(sql.FIND_EVENTS, [
      wanted.map((event) => event.tenantId),
      wanted.map((event) => event.eventId),
    ]);
    const found = new Map<string, StoredEvent>();
    for (const row of rows) {
      const asked = wanted[Number(row.position) - 1];
      if (asked === undefined) continue;
      assertSameEvent(asked, row);
      found.set(asked.eventId, { contentHash: row.content_hash.toString('base64'), batchId: row.batch_id });
    }
    return found;
  }

  /** Stores events and answers the ids of those that were not there yet. */
  async insert(transaction: Transaction, events: readonly ResolvedEvent[], batchId: string): Promise<Set<string>> {
    const rows = await transaction.send<{ event_id: string }>(sql.INSERT_EVENTS, [...columnsOf(events), batchId]);
    return new Set(rows.map((row) => row.event_id));
  }

  /**
   * `insert` and `enqueue` along with COMMIT, if the transaction's precondition (platform/postgres/precondition.ts) holds. `stored` hears how
   * many of the events were not there yet; none, where it does not hold.
   */
  storeLast(
    transaction: Transaction,
    events: readonly ResolvedEvent[],
    batchId: string,
    stored: (count: number) => void,
  ): Queued {
    transaction.sendLast(sql.STORE_EVENTS, [...columnsOf(events), batchId], ([row]) =>
      stored(Number(row?.['events'] ?? 0)),
    );
    return this.enqueueAlone(transaction, events, batchId);
  }

  /**
   * Queues stored events in the flush that commits them: those that wait by themselves in the order of their arrival. All that
   * share an entry must be of one transaction. Answers what was queued.
   */
  enqueue(transaction: Transaction, events: readonly ResolvedEvent[], batchId: string): Queued {
    const together = events.filter(({ queueBundleId }) => queueBundleId !== null);
    if (together.length > 0) this.enqueueTogether(transaction, together);
    return this.enqueueAlone(transaction, events, batchId);
  }

  private enqueueAlone(transaction: Transaction, events: readonly ResolvedEvent[], batchId: string): Queued {
    const alone = events.filter(({ queueBundleId }) => queueBundleId === null);
    const places = alone.map(({ tenantId, rootId }) => ({ tenantId, shard: shardOf(rootId) }));
    const workspaces = new Map<string, number>();
    for (const { tenantId } of alone) {
      if (!workspaces.has(tenantId)) workspaces.set(tenantId, workspaces.size + 1);
    }
    if (alone.length > 0) {
      transaction.sendLast(sql.INSERT_QUEUE_ENTRIES, [
        places.map(({ tenantId }) => tenantId),
        places.map(({ shard }) => shard),
        alone.map(({ eventId }) => eventId),
        alone.map(({ rootId }) => rootId),
        alone.map(({ tenantId }) => workspaces.get(tenantId)),
        [...workspaces.keys()],
        batchId,
      ]);
    }
    return { places, hasBundles: alone.length < events.length };
  }

  private enqueueTogether(transaction: Transaction, events: readonly ResolvedEvent[]): void {
    const counts = new Map<string, number>();
    for (const { tenantId } of events) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
    transaction.sendLast(sql.INSERT_QUEUED_BUNDLES, [
      events[0]?.queueBundleId,
      [...counts.keys()],
      [...counts.values()],
    ]);
  }
}

/** In the order of the statement; its rows by id, so that nodes that store the same never wait for each other in a circle. */
function columnsOf(unsorted: readonly ResolvedEvent[]): unknown[][] {
  const events = unsorted.toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1));
  return [
    events.map(({ tenantId }) => tenantId),
    events.map(({ eventId }) => eventId),
    events.map(({ event }) => event.family),
    events.map(({ event }) => event.source),
    events.map(({ event }) => event.externalEventId),
    events.map(({ event }) => event.eventType),
    events.map(({ event }) => event.eventTypeVersion),
    events.map(({ event: { occurredAt }, receivedBefore }) => occurredAt ?? receivedBefore),
    events.map(({ receivedBefore }) => receivedBefore),
    events.map(({ profileId }) => profileId),
    events.map(({ event }) => event.identity),
    events.map(({ event }) => event.properties),
    events.map(({ contentHash }) => Buffer.from(contentHash, 'base64')),
    events.map(({ queueBundleId }) => queueBundleId),
  ];
}

/** Two events under one id would be a broken hash; rather no answer than a wrong one. */
function assertSameEvent(asked: EventToStore, row: StoredRow): void {
  if (asked.event.source !== row.source || asked.event.externalEventId !== row.external_event_id) {
    throw new Error(`Two different events share the id ${asked.eventId}`);
  }
}
