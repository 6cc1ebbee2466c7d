import { Injectable } from '@nestjs/common';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import * as sql from './processing.sql';

/** A number of events in a partition. */
export interface PartitionCount extends QueuePartition {
  readonly count: number;
}

/** Leases of partitions: a worker locks the partition's row until its transaction ends, or its connection dies. */
@Injectable()
export class QueueLeases {
  /** Inserts the row that workers lock. */
  async create(transaction: Transaction, { tenantId, shard }: QueuePartition): Promise<void> {
    await transaction.send(sql.INSERT_LEASE, [tenantId, shard]);
  }

  /** Tries to take the lease; false: another worker has it. */
  async take(transaction: Transaction, { tenantId, shard }: QueuePartition): Promise<boolean> {
    return (await transaction.send(sql.TAKE_LEASE, [tenantId, shard])).length > 0;
  }

  /** Waits for the lease; its holder releases it after a batch. */
  async await(transaction: Transaction, partition: QueuePartition): Promise<void> {
    await this.create(transaction, partition);
    await transaction.send(sql.AWAIT_LEASE, [partition.tenantId, partition.shard]);
  }

  /**
   * Counts processed events, along with COMMIT. The caller has the leases, and sorts the partitions as all callers do.
   */
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
