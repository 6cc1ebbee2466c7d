import { Injectable } from '@nestjs/common';
import type { QueuePlace } from '../ingest/domain/queue-place';
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
    await transaction.send(sql.INSERT_LEASES, [
      sorted.map((place) => place.tenantId),
      sorted.map((place) => place.shard),
    ]);
  }

  /** Whether the place is the caller's now; it is not when somebody else has it. */
  async take(transaction: Transaction, { tenantId, shard }: QueuePlace): Promise<boolean> {
    return (await transaction.send(sql.TAKE_LEASE, [tenantId, shard])).length > 0;
  }

  /** The place is the caller's once this resolves; whoever has it lets go after a batch. */
  async await(transaction: Transaction, place: QueuePlace): Promise<void> {
    await this.create(transaction, [place]);
    await transaction.send(sql.AWAIT_LEASE, [place.tenantId, place.shard]);
  }

  /** Counts what was processed in a place that the caller has, along with COMMIT. */
  count(transaction: Transaction, { tenantId, shard }: QueuePlace, processed: number): void {
    if (processed > 0) transaction.sendLast(sql.COUNT_PROCESSED, [tenantId, shard, processed]);
  }
}
