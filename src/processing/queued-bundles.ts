import { Inject, Injectable } from '@nestjs/common';
import { EventQueue, type ProcessedBundles, type Reading } from '../ingest/queue/event-queue';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { databaseFailure } from '../platform/postgres/database-errors';
import type { NodeConnections } from '../platform/postgres/distribution/node-connections';
import { RolledBackError, type PipelinedConnection, type Transaction } from '../platform/postgres/pipelined-connection';
import { isPartlyAway } from './effect-errors';
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
    @Inject(CONNECTION_SETTINGS) private readonly settings: ConnectionSettings,
  ) {}

  /**
   * One turn, in one transaction, or in one for each workspace (`isOneWorkspace`) on its node; returns whether there may be more
   * bundles.
   */
  async process(connection: PipelinedConnection, connections: NodeConnections): Promise<boolean> {
    if (this.settings.isOneWorkspace === true) return this.processEach(connection, connections);
    const processed = await connection.transaction(async (open) => {
      const gone = await this.queue.processBundles(open, BUNDLES_PER_TURN);
      const sorted = gone.toSorted((a, b) => (a.tenantId < b.tenantId ? -1 : 1));
      this.count(open, sorted);
      return gone;
    });
    return processed.reduce((sum, { bundles }) => sum + bundles, 0) === BUNDLES_PER_TURN;
  }

  private async processEach(connection: PipelinedConnection, connections: NodeConnections): Promise<boolean> {
    const read: Reading = (...query) => connection.query(...query);
    const workspaces = await this.queue.workspacesWithBundles(read, BUNDLES_PER_TURN);
    let isMore = workspaces.length === BUNDLES_PER_TURN;
    for (const tenantId of workspaces) {
      try {
        const gone = await connections.transaction((open) => this.takeOut(open, tenantId), tenantId);
        isMore ||= gone.bundles === BUNDLES_PER_TURN;
      } catch (error) {
        const isOfOne = error instanceof RolledBackError || databaseFailure(error) === 'contended';
        if (!isOfOne && !isPartlyAway(error, this.settings)) throw error;
      }
    }
    return isMore;
  }

  private async takeOut(open: Transaction, tenantId: string): Promise<ProcessedBundles> {
    const taken = await this.queue.processBundlesOf(open, tenantId, BUNDLES_PER_TURN);
    this.count(open, [taken]);
    return taken;
  }

  /** The caller sorts them as all callers do. */
  private count(open: Transaction, processed: readonly ProcessedBundles[]): void {
    this.leases.count(
      open,
      processed.map(({ tenantId, events }) => ({ tenantId, shard: NO_SHARD, count: events })),
    );
  }
}
