import { Injectable } from '@nestjs/common';
import type { Transaction } from '../platform/postgres/pipelined-connection';
import type { ValueChange } from './domain/value-change';

/**
 * Stores, in the transaction of changes, what a feature needs of them. The changes of each value are in their order.
 * Returns undefined when nothing is subscribed: most mutations must not wait for anything.
 */
export type StoreChanges = (transaction: Transaction, changes: readonly ValueChange[]) => Promise<void> | undefined;

/** Who gets changes of values. The runtime does not know the subscribers: each feature registers itself. */
@Injectable()
export class ChangeSubscribers {
  private readonly subscribers: StoreChanges[] = [];

  /** While the application starts. */
  register(store: StoreChanges): void {
    this.subscribers.push(store);
  }

  /** Fails if a subscriber fails: then the changes are not stored either. */
  async store(transaction: Transaction, changes: readonly ValueChange[]): Promise<void> {
    if (changes.length === 0) return;
    for (const subscriber of this.subscribers) {
      const storing = subscriber(transaction, changes);
      if (storing !== undefined) await storing;
    }
  }
}
