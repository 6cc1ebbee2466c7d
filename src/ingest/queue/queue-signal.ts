import { Injectable } from '@nestjs/common';
import type { QueuePartition } from './queue-partition';

/** What a commit has put into the queue. */
export interface Queued {
  /** Where the events stand that have entries of their own. */
  readonly places: readonly QueuePartition[];
  readonly hasBundles: boolean;
}

export type QueueListener = (queued: Queued) => void;
/** Hears what will be in the queue once a transaction is committed. */
export type OnQueued = (queued: Queued) => void;

/**
 * Tells workers of the same process at once what was queued. Nothing depends on it: what it misses, because it
 * was queued by another process, is found by looking.
 */
@Injectable()
export class QueueSignal {
  private listener: QueueListener | undefined;

  listen(listener: QueueListener | undefined): void {
    this.listener = listener;
  }

  /** To be called after the commit that queued the entries. */
  tell(queued: Queued): void {
    this.listener?.(queued);
  }
}
