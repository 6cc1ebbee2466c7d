import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { PipelinedConnection, type Transaction } from '../platform/postgres/pipelined-connection';
import * as sql from './processing.sql';

const LOCK_TIMEOUT_MS = 1_000;
const STATEMENT_TIMEOUT_MS = 5_000;

/** What is left of turns that were cut off: the process was killed, or its session ended. */
export interface CutOffTurns {
  /** How many entries at the front of the place may have been begun with. */
  readonly entries: number;
  /** The one of them that was being tried by itself; null: they were tried together. */
  readonly eventId: string | null;
}

const NONE: CutOffTurns = { entries: 0, eventId: null };

/**
 * Counts turns before anything is done in them (docs/adr/0034). `begin` commits by way of a connection of its own, while the
 * transaction of the turn holds the place; `end` is part of that transaction. So who takes a place and finds a turn begun knows
 * that it was cut off.
 *
 * The commit of `begin` does not wait for the disk: what a killed process has begun is known, and what a crash of the database
 * takes with it is not counted.
 */
@Injectable()
export class QueueTurns implements BeforeApplicationShutdown {
  private readonly connection: PipelinedConnection;

  constructor(@Inject(CONNECTION_SETTINGS) connection: ConnectionSettings) {
    this.connection = new PipelinedConnection(connection, {
      ...{ applicationName: 'cds-turns', lockTimeoutMs: LOCK_TIMEOUT_MS, statementTimeoutMs: STATEMENT_TIMEOUT_MS },
      waitsForDisk: false,
    });
  }

  /** For who has the place. */
  async cutOff(transaction: Transaction, { tenantId, shard }: QueuePartition): Promise<CutOffTurns> {
    const [row] = await transaction.send<{ entries: number; event_id: string | null }>(sql.READ_TURN, [
      ...[tenantId, shard],
    ]);
    return row === undefined ? NONE : { entries: row.entries, eventId: row.event_id };
  }

  /** Resolves once it is known to all that a turn has begun; for who has the place. */
  async begin(place: QueuePartition, turnId: string, { entries, eventId }: CutOffTurns): Promise<void> {
    await this.connection.query(sql.BEGIN_TURN, [place.tenantId, place.shard, turnId, entries, eventId]);
  }

  /** Along with the turn's COMMIT; `left`: how many of those that were cut off are still to be tried. */
  end(transaction: Transaction, { tenantId, shard }: QueuePartition, left = 0): void {
    transaction.sendLast(sql.END_TURN, [tenantId, shard, left]);
  }

  /** The turn is over, and nothing of it has happened: it counts for nobody. */
  async forget({ tenantId, shard }: QueuePartition, turnId: string): Promise<void> {
    await this.connection.query(sql.FORGET_TURN, [tenantId, shard, turnId]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.connection.close();
  }
}
