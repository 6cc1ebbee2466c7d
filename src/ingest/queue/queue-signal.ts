import { Injectable } from '@nestjs/common';
import type { QueuePartition } from './queue-partition';

/** What a commit has put into the queue. */
export interface Queued {
  /** The partitions of the events that have entries of their own. */
  readonly partitions: readonly QueuePartition[];
  readonly hasBundles: boolean;
}

export type QueueListener = (queued: Queued) => void;
/** Called with what will be in the queue once a transaction is committed. */
export type OnQueued = (queued: Queued) => void;

/**
 * Wakes the workers of the same process as soon as something is queued. It only saves time: what another process queues, they
 * find by looking.
 */
@Injectable()
export class QueueSignal {
  private listener: QueueListener | undefined;

  listen(listener: QueueListener | undefined): void {
    this.listener = listener;
  }

  /** To be called after the commit that queued the entries. */
  notify(queued: Queued): void {
    this.listener?.(queued);
  }
}
