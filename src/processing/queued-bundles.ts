import { Injectable } from '@nestjs/common';
import { EventQueue } from '../ingest/queue/event-queue';
import type { PipelinedConnection } from '../platform/postgres/pipelined-connection';
import { QueueLeases } from './queue-leases';

/** Enough for a second of a busy service; some ten milliseconds. */
const BUNDLES_PER_TURN = 500;
/** Bundles belong to no shard; of a workspace they are counted in a row of their own. */
const NO_SHARD = -1;

/**
 * Works off events that nothing is done with (docs/adr/0027): what shares an entry leaves the queue at once, in any order, by
 * whoever comes first, and cannot fail.
 */
@Injectable()
export class QueuedBundles {
  constructor(
    private readonly queue: EventQueue,
    private readonly leases: QueueLeases,
  ) {}

  /** One turn, in one transaction; answers whether there may be more. */
  async workOff(connection: PipelinedConnection): Promise<boolean> {
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
