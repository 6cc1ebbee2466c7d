import { Inject, Injectable } from '@nestjs/common';
import { EventQueue, type Reading } from '../ingest/queue/event-queue';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import { CONNECTION_SETTINGS, type ConnectionSettings } from '../platform/postgres/connection-settings';
import { NIL_UUID } from '../platform/values/uuid';
import { isDatabaseAway } from './effect-errors';

/** Of one poll while a node is down; each costs a query, and those of that node up to its time limit. */
const WORKSPACES_PER_POLL = 100;

/**
 * Finds what there is to do in the queue. On a distributed database one query asks all nodes, and fails while one of them
 * is down; then the workspaces are asked one after the other, and those of that node are left out.
 */
@Injectable()
export class QueuePoll {
  /** The last workspace that was asked by itself; each poll goes on behind it. */
  private asked: string = NIL_UUID;

  constructor(
    private readonly queue: EventQueue,
    @Inject(CONNECTION_SETTINGS) private readonly connection: ConnectionSettings,
  ) {}

  /** Partitions with entries behind the given one, at most so many; while a node is down, of some other workspaces. */
  async partitions(read: Reading, after: QueuePartition, most: number): Promise<QueuePartition[]> {
    try {
      return await this.queue.partitions(read, after, most);
    } catch (error) {
      if (!this.isPartlyAway(error)) throw error;
    }
    const found: QueuePartition[] = [];
    for (const tenantId of await this.nextWorkspaces(read)) {
      await this.unlessAway(async () => found.push(...(await this.queue.partitionsOf(read, tenantId))));
    }
    return found.slice(0, most - 1);
  }

  /** Workspaces with bundles, at most so many; while a node is down, some workspaces that may have bundles. */
  async workspacesWithBundles(read: Reading, most: number): Promise<string[]> {
    try {
      return await this.queue.workspacesWithBundles(read, most);
    } catch (error) {
      if (!this.isPartlyAway(error)) throw error;
      return this.queue.workspaces(read, this.asked, WORKSPACES_PER_POLL);
    }
  }

  /** Runs work in a workspace; false where its node is down. */
  async unlessAway(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (!this.isPartlyAway(error)) throw error;
      return false;
    }
  }

  /** Whether only a part of the database may be away. */
  isPartlyAway(error: unknown): boolean {
    return this.connection.isDistributed === true && isDatabaseAway(error);
  }

  private async nextWorkspaces(read: Reading): Promise<string[]> {
    const workspaces = await this.queue.workspaces(read, this.asked, WORKSPACES_PER_POLL);
    this.asked = workspaces.length < WORKSPACES_PER_POLL ? NIL_UUID : (workspaces.at(-1) ?? NIL_UUID);
    return workspaces;
  }
}
