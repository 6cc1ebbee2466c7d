import { Injectable } from '@nestjs/common';
import type { QueuePlace } from './domain/queue-place';

export type QueueListener = (places: readonly QueuePlace[]) => void;

/**
 * Tells workers of the same process at once where something was queued. Nothing depends on it: what it misses, because it
 * was queued by another process, is found by looking.
 */
@Injectable()
export class QueueSignal {
  private listener: QueueListener | undefined;

  listen(listener: QueueListener | undefined): void {
    this.listener = listener;
  }

  /** To be called after the commit that queued the entries. */
  tell(places: readonly QueuePlace[]): void {
    this.listener?.(places);
  }
}
