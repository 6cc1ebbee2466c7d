import { Injectable } from '@nestjs/common';
import { EventQueue } from '../ingest/queue/event-queue';
import type { PipelinedConnection } from '../platform/postgres/pipelined-connection';
import { QueueLeases } from './queue-leases';

/** As many as a busy service queues in a second; they take some ten milliseconds. */
const BUNDLES_PER_TURN = 500;
/** Bundles belong to no shard; each workspace counts them in a row with this number. */
const NO_SHARD = -1;

/**
 * Processes events without effects (docs/adr/0027). Those of one commit share an entry, a bundle. Bundles leave the
 * queue in any order, by any worker, and cannot fail.
 */
@Injectable()
export class QueuedBundles {
  constructor(
    private readonly queue: EventQueue,
    private readonly leases: QueueLeases,
  ) {}

  /** One turn, in one transaction; returns whether there may be more bundles. */
  async process(connection: PipelinedConnection): Promise<boolean> {
    const processed = await connection.transaction(async (open) => {
      const gone = await this.queue.processBundles(open, BUNDLES_PER_TURN);
      const sorted = gone.toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1));
      this.leases.count(
        open,
        sorted.map(({ tenantId, events }) => ({ tenantId, shard: NO_SHARD, count: events })),
      );
      return gone;
    });
    return processed.reduce((sum, { bundles }) => sum + bundles, 0) === BUNDLES_PER_TURN;
  }
}
