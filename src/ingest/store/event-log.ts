import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../platform/postgres/pipelined-connection';
import { failIfAny } from '../../platform/postgres/precondition';
import { ERASED_HASH, OTHER_THAN_EXPIRED } from '../domain/deduplication';
import { isBundled, type Event, type ResolvedEvent } from '../domain/event';
import { ContentChecks } from '../expiry/content-checks';
import { shardOf, type QueuePartition } from '../queue/queue-partition';
import { insertParameters } from './event-columns';
import * as sql from './event.sql';
import type { Queued } from '../queue/queue-signal';

/** What the log says of an event that is there already. */
export interface StoredEvent {
  readonly contentHash: string;
  /** The batch that stored it: a sender that lost its connection during COMMIT recognises its own. Null of an expired one. */
  readonly batchId: string | null;
  /** Under which it is stored. Null of an expired one. */
  readonly profileId: string | null;
}

/** Only for one workspace: otherwise the statement that stores looks itself. */
const FAIL_IF_EXPIRED = failIfAny(sql.FIND_EXPIRED_AMONG);

/** The event log and its queue inside the ingest transaction. */
@Injectable()
export class EventLog {
  constructor(private readonly checks: ContentChecks) {}

  /** Finds events by id, expired ones too; absent ones are missing from the answer. */
  async find(transaction: Transaction, events: readonly Event[]): Promise<Map<string, StoredEvent>> {
    const rows = await transaction.send<sql.FoundEventRow>(sql.FIND_EVENTS, [
      events.map((event) => event.tenantId),
      events.map((event) => event.eventId),
    ]);
    const found = new Map<string, StoredEvent>();
    for (const row of rows) {
      const asked = events[Number(row.position) - 1];
      if (asked === undefined) continue;
      if (row.has_expired) {
        found.set(asked.eventId, { contentHash: this.hashOfExpired(asked, row), batchId: null, profileId: null });
      } else {
        assertSameEvent(asked, row);
        const { batch_id: batchId, profile_id: profileId } = row;
        found.set(asked.eventId, { contentHash: row.content_hash.toString('base64'), batchId, profileId });
      }
    }
    return found;
  }

  /** Stores events and answers the ids of those that were not there yet. */
  async insert(transaction: Transaction, events: readonly ResolvedEvent[], batchId: string): Promise<Set<string>> {
    const rows = await transaction.send<{ event_id: string }>(sql.INSERT_EVENTS, insertParameters(events, batchId));
    return new Set(rows.map((row) => row.event_id));
  }

  /**
   * `insert` and `enqueue` along with COMMIT. The whole transaction fails (`isLostRace`) unless its precondition
   * (platform/postgres/precondition.ts) holds and none of the events is stored or has expired.
   */
  storeLast(transaction: Transaction, events: readonly ResolvedEvent[], batchId: string): Queued {
    transaction.sendLast(sql.STORE_EVENTS, insertParameters(events, batchId));
    if (!transaction.usesOneWorkspaceForms) return this.enqueueAlone(transaction, events, batchId);
    // Behind the insert, whose lock an expiry waits for before it removes rows: what has expired was stored before, or is seen now.
    transaction.sendLast(FAIL_IF_EXPIRED, [
      events.map(({ event }) => event.tenantId),
      events.map(({ event }) => event.eventId),
    ]);
    return this.enqueue(transaction, events, batchId);
  }

  /**
   * Queues stored events in the flush that commits them: those that wait by themselves in the order of their arrival. All that
   * share an entry must be of one transaction. Answers what was queued.
   */
  enqueue(transaction: Transaction, events: readonly ResolvedEvent[], batchId: string): Queued {
    const together = events.filter(isBundled);
    if (together.length > 0) this.enqueueTogether(transaction, together);
    return this.enqueueAlone(transaction, events, batchId);
  }

  /** What an expired event said is known only in comparison with the copy; often, as of an erased one, not at all. */
  private hashOfExpired({ eventId, contentHash }: Event, { content_check: expected }: sql.ExpiredEventRow): string {
    const check = expected === null ? null : this.checks.of(eventId, contentHash);
    if (check === null) return ERASED_HASH;
    return check === expected ? contentHash : OTHER_THAN_EXPIRED;
  }

  private enqueueAlone(transaction: Transaction, events: readonly ResolvedEvent[], batchId: string): Queued {
    const alone = events.filter((event) => !isBundled(event));
    const partitions = alone.map(({ event, rootId }) => ({ tenantId: event.tenantId, shard: shardOf(rootId) }));
    const [first] = partitions;
    if (first !== undefined) {
      if (transaction.usesOneWorkspaceForms) sendStampedEntries(transaction, first.tenantId, alone, partitions);
      else sendEntries(transaction, alone, partitions, batchId);
    }
    return { partitions, hasBundles: alone.length < events.length };
  }

  private enqueueTogether(transaction: Transaction, events: readonly ResolvedEvent[]): void {
    const counts = new Map<string, number>();
    for (const { event } of events) counts.set(event.tenantId, (counts.get(event.tenantId) ?? 0) + 1);
    transaction.sendLast(sql.INSERT_QUEUED_BUNDLES, [
      events[0]?.queueBundleId,
      [...counts.keys()],
      [...counts.values()],
    ]);
  }
}

function sendEntries(
  transaction: Transaction,
  events: readonly ResolvedEvent[],
  partitions: readonly QueuePartition[],
  batchId: string,
): void {
  const workspaces = new Map<string, number>();
  for (const { tenantId } of partitions) {
    if (!workspaces.has(tenantId)) workspaces.set(tenantId, workspaces.size + 1);
  }
  transaction.sendLast(sql.INSERT_QUEUE_ENTRIES, [
    partitions.map(({ tenantId }) => tenantId),
    partitions.map(({ shard }) => shard),
    events.map(({ event }) => event.eventId),
    events.map(({ rootId }) => rootId),
    partitions.map(({ tenantId }) => workspaces.get(tenantId)),
    [...workspaces.keys()],
    batchId,
  ]);
}

/** The same for one workspace, in two statements. */
function sendStampedEntries(
  transaction: Transaction,
  tenantId: string,
  events: readonly ResolvedEvent[],
  partitions: readonly QueuePartition[],
): void {
  transaction.beforeCommit(async () => {
    const [row] = await transaction.send<{ at: string }>(sql.READ_QUEUE_STAMP, [tenantId]);
    transaction.sendLast(sql.INSERT_STAMPED_ENTRIES, [
      tenantId,
      partitions.map(({ shard }) => shard),
      events.map((_event, index) => index + 1),
      events.map(({ event }) => event.eventId),
      events.map(({ rootId }) => rootId),
      row?.at,
    ]);
  });
}

/** Two events under one id would be a broken hash; rather no answer than a wrong one. */
function assertSameEvent(asked: Event, row: sql.StoredEventRow): void {
  if (asked.source !== row.source || asked.externalEventId !== row.external_event_id) {
    throw new Error(`Two different events share the id ${asked.eventId}`);
  }
}
