import { Injectable } from '@nestjs/common';
import { shardOf, type EntryKey, type QueuePartition } from '../ingest/queue/queue-partition';
import { IdentityService } from '../identity/identity.service';
import { EventQueue, type Reading } from '../ingest/queue/event-queue';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { EntryToWait } from './waiting-events.sql';
import * as sql from './waiting-events.sql';
import { QueueLeases } from './queue-leases';

/**
 * Per turn: fewer entries than a turn processes, so that a customer with many waiting events does not fill the queue.
 */
const RELEASED_MAX = 100;

interface KeyRow {
  readonly profile_id: string;
  readonly queued_at: string;
  readonly position: number;
}

interface WaitingRow extends KeyRow {
  readonly event_id: string;
  readonly queued_for: string;
}

/**
 * Processed events with a reaction that waits until their customer has an EXTERNAL identifier (docs/adr/0051). They
 * wait at their own profiles. Once the customer has one, they return to their positions in the queue.
 */
@Injectable()
export class WaitingEvents {
  constructor(
    private readonly queue: EventQueue,
    private readonly leases: QueueLeases,
    private readonly identity: IdentityService,
  ) {}

  /** The first waiting event of each of these profiles that has one. */
  async firstOf(
    transaction: Transaction,
    tenantId: string,
    profileIds: readonly string[],
  ): Promise<Map<string, EntryKey>> {
    if (profileIds.length === 0) return new Map();
    const rows = await transaction.send<KeyRow>(sql.FIRST_WAITING, [tenantId, profileIds]);
    return new Map(rows.map((row) => [row.profile_id, { queuedAt: row.queued_at, position: row.position }]));
  }

  /** Along with COMMIT; only while the customers are locked as unlinked (`IdentityService.holdUnlinked`). */
  add(transaction: Transaction, tenantId: string, entries: readonly EntryToWait[]): void {
    if (entries.length === 0) return;
    transaction.sendLast(sql.ADD_WAITING, sql.addWaitingParameters(tenantId, entries));
  }

  /**
   * Puts the oldest events that wait at these profiles back into the queue, along with COMMIT, and returns their
   * partitions. The caller has the lease of `partition`. Other partitions are used only if their lease is free, so that
   * no worker has already passed the restored positions.
   */
  async release(
    transaction: Transaction,
    partition: QueuePartition,
    profileIds: readonly string[],
  ): Promise<QueuePartition[]> {
    const { tenantId } = partition;
    const rows = await transaction.send<WaitingRow>(sql.LOCK_OLDEST_WAITING, [tenantId, profileIds, RELEASED_MAX]);
    return this.moveToQueue(transaction, rows, { tenantId, shardTaken: partition.shard });
  }

  /**
   * Skips the reactions to the oldest events of a workspace that have waited for so many days. Events of customers who
   * are linked by now return to the queue. Returns how many events no longer wait.
   */
  async expire(transaction: Transaction, tenantId: string, days: number, most: number): Promise<number> {
    const rows = await transaction.send<WaitingRow>(sql.LOCK_EXPIRED_WAITING, [tenantId, days, most]);
    if (rows.length === 0) return 0;
    const profileIds = [...new Set(rows.map((row) => row.profile_id))];
    const customers = await this.identity.holdCustomers(transaction, tenantId, profileIds);
    const isLinked = (row: WaitingRow): boolean => (customers.get(row.profile_id)?.externalId ?? null) !== null;
    const unlinked = rows.filter((row) => !isLinked(row));
    this.remove(transaction, tenantId, unlinked);
    const eventIds = unlinked.map((row) => row.event_id);
    await this.queue.skipWaiting(
      (...query) => transaction.send(...query),
      tenantId,
      eventIds,
      'no_external_identifier',
    );
    const moved = await this.moveToQueue(transaction, rows.filter(isLinked), { tenantId });
    return (
      unlinked.length +
      rows.filter((row) => isLinked(row) && moved.some(({ shard }) => shard === shardOf(row.queued_for))).length
    );
  }

  /** Removes some events that wait at the profiles of an erased customer, and returns how many. */
  async erase(run: Reading, tenantId: string, profileIds: readonly string[], most: number): Promise<number> {
    const rows = await run<{ event_id: string }>(sql.REMOVE_WAITING_OF_PROFILES, [tenantId, profileIds, most]);
    const eventIds = rows.map((row) => row.event_id);
    await this.queue.skipWaiting(run, tenantId, eventIds, 'profile_erased');
    return rows.length;
  }

  /** Into the caller's partition and into those whose lease is free; returns which. */
  private async moveToQueue(
    transaction: Transaction,
    rows: readonly WaitingRow[],
    { tenantId, shardTaken }: { readonly tenantId: string; readonly shardTaken?: number },
  ): Promise<QueuePartition[]> {
    const moved: QueuePartition[] = [];
    const shards = new Set(rows.map((row) => shardOf(row.queued_for)));
    // In one order, to prevent deadlocks.
    for (const shard of [...shards].toSorted((a, b) => a - b)) {
      const partition = { tenantId, shard };
      if (shard !== shardTaken && !(await this.takePartition(transaction, partition))) continue;
      const ofShard = rows.filter((row) => shardOf(row.queued_for) === shard);
      this.remove(transaction, tenantId, ofShard);
      this.queue.restore(
        transaction,
        partition,
        ofShard.map((row) => ({
          queuedAt: row.queued_at,
          position: row.position,
          eventId: row.event_id,
          queuedFor: row.queued_for,
        })),
        { released: true },
      );
      moved.push(partition);
    }
    return moved;
  }

  private async takePartition(transaction: Transaction, partition: QueuePartition): Promise<boolean> {
    const [, isTaken] = await Promise.all([
      this.leases.create(transaction, partition),
      this.leases.take(transaction, partition),
    ]);
    return isTaken;
  }

  private remove(transaction: Transaction, tenantId: string, rows: readonly WaitingRow[]): void {
    if (rows.length === 0) return;
    transaction.sendLast(sql.REMOVE_WAITING, [
      tenantId,
      rows.map((row) => row.queued_at),
      rows.map((row) => row.position),
      rows.map((row) => row.event_id),
      rows.map((row) => row.profile_id),
    ]);
  }
}
