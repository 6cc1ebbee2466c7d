import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { PipelinedConnection, type Transaction } from '../platform/postgres/pipelined-connection';
import * as sql from './processing.sql';

const LOCK_TIMEOUT_MS = 1_000;
const STATEMENT_TIMEOUT_MS = 5_000;

/** The entries of interrupted turns: the process was killed, or its session ended. */
export interface InterruptedTurns {
  /** The number of first entries of the partition that such a turn may have started with. */
  readonly entries: number;
  /** The entry that was tried alone; null: they were tried together. */
  readonly eventId: string | null;
}

const NONE: InterruptedTurns = { entries: 0, eventId: null };

/**
 * Records the start of each turn (docs/adr/0034). `begin` commits by a connection of its own, while the transaction of
 * the turn has the lease; `end` is part of that transaction. A worker that takes the lease and finds a started turn
 * knows that it was interrupted.
 *
 * The commit of `begin` does not wait for the disk: the start survives a killed process, and may be lost in a crash of
 * the database.
 */
@Injectable()
export class QueueTurns implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;

  constructor(@Inject(CONNECTION_SETTINGS) connection: ConnectionSettings) {
    this.connection = new PipelinedConnection(connection, {
      applicationName: 'cds-turns',
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      waitsForDisk: false,
    });
  }

  /** Needs the lease of the partition. */
  async interrupted(transaction: Transaction, { tenantId, shard }: QueuePartition): Promise<InterruptedTurns> {
    const [row] = await transaction.send<{ entries: number; event_id: string | null }>(sql.READ_TURN, [
      tenantId,
      shard,
    ]);
    return row === undefined ? NONE : { entries: row.entries, eventId: row.event_id };
  }

  /** Resolves when the start is visible to all workers. Needs the lease of the partition. */
  async begin(partition: QueuePartition, turnId: string, { entries, eventId }: InterruptedTurns): Promise<void> {
    await this.connection.query(sql.BEGIN_TURN, [partition.tenantId, partition.shard, turnId, entries, eventId]);
  }

  /** Along with the turn's COMMIT; `left`: the entries of interrupted turns that are still to be tried. */
  end(transaction: Transaction, { tenantId, shard }: QueuePartition, left = 0): void {
    transaction.sendLast(sql.END_TURN, [tenantId, shard, left]);
  }

  /** The turn was rolled back without being interrupted, and does not count. */
  async forget({ tenantId, shard }: QueuePartition, turnId: string): Promise<void> {
    await this.connection.query(sql.FORGET_TURN, [tenantId, shard, turnId]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }
}
