import { Injectable } from '@nestjs/common';
import type { QueuePlace } from '../ingest/domain/queue-place';
import type { PlaceCount } from '../ingest/event-queue';
import type { Transaction } from '../platform/database/pipelined-connection';
import * as sql from './processing.sql';

/** Who may work on which part of the queue: the row of a place is held until the transaction ends, or its connection dies. */
@Injectable()
export class QueueLeases {
  /** Makes what there is to be held. */
  async create(transaction: Transaction, places: readonly QueuePlace[]): Promise<void> {
    const sorted = places.toSorted((a, b) =>
      a.tenantId === b.tenantId ? a.shard - b.shard : a.tenantId < b.tenantId ? -1 : 1,
    );
    await transaction.send(sql.INSERT_LEASES, columnsOf(sorted));
  }

  /** The places that are the caller's now: without those that somebody else has. */
  async take(transaction: Transaction, places: readonly QueuePlace[]): Promise<QueuePlace[]> {
    const rows = await transaction.send<{ tenant_id: string; shard: number }>(sql.TAKE_LEASES, columnsOf(places));
    return rows.map((row) => ({ tenantId: row.tenant_id, shard: row.shard }));
  }

  /** The place is the caller's once this resolves; whoever has it lets go after a batch. */
  async await(transaction: Transaction, place: QueuePlace): Promise<void> {
    await this.create(transaction, [place]);
    await transaction.send(sql.AWAIT_LEASE, [place.tenantId, place.shard]);
  }

  /** Counts what was processed in places that the caller has, along with COMMIT. */
  count(transaction: Transaction, processed: readonly PlaceCount[]): void {
    const some = processed.filter(({ count }) => count > 0);
    if (some.length > 0)
      transaction.sendLast(sql.COUNT_PROCESSED, [...columnsOf(some), some.map(({ count }) => count)]);
  }
}

function columnsOf(places: readonly QueuePlace[]): unknown[] {
  return [places.map(({ tenantId }) => tenantId), places.map(({ shard }) => shard)];
}
