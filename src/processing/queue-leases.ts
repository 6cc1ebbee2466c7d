import { Injectable } from '@nestjs/common';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import * as sql from './processing.sql';

/** How many events of a place. */
export interface PartitionCount extends QueuePartition {
  readonly count: number;
}

/** Who may work on which part of the queue: the row of a place is held until the transaction ends, or its connection dies. */
@Injectable()
export class QueueLeases {
  /** Makes what there is to be held. */
  async create(transaction: Transaction, { tenantId, shard }: QueuePartition): Promise<void> {
    await transaction.send(sql.INSERT_LEASE, [tenantId, shard]);
  }

  /** Whether the place is the caller's now: not if somebody else has it. */
  async take(transaction: Transaction, { tenantId, shard }: QueuePartition): Promise<boolean> {
    return (await transaction.send(sql.TAKE_LEASE, [tenantId, shard])).length > 0;
  }

  /** The place is the caller's once this resolves; whoever has it lets go after a batch. */
  async await(transaction: Transaction, place: QueuePartition): Promise<void> {
    await this.create(transaction, place);
    await transaction.send(sql.AWAIT_LEASE, [place.tenantId, place.shard]);
  }

  /** Counts what was processed in places that the caller has, along with COMMIT. In an order that all callers keep. */
  count(transaction: Transaction, processed: readonly PartitionCount[]): void {
    const some = processed.filter(({ count }) => count > 0);
    if (some.length === 0) return;
    transaction.sendLast(sql.COUNT_PROCESSED, [
      some.map(({ tenantId }) => tenantId),
      some.map(({ shard }) => shard),
      some.map(({ count }) => count),
    ]);
  }
}
