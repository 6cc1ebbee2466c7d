import { LRUCache } from 'lru-cache';
import type { Clock } from '../values/clock';
import type { InvalidationFeed, InvalidationSubject } from './invalidation-feed';
import type { NegativeCache } from './negative-cache';

interface Remembered<Value> {
  readonly value: Value;
  readonly subject: InvalidationSubject;
  readonly readAtMs: number;
}

/** A value to cache. `subject` is the record whose change invalidates it. */
export interface CacheableRead<Value> {
  readonly value: Value;
  readonly subject: InvalidationSubject;
}

/** How much a cache holds: so many entries, or so many bytes where one value may be a thousand times as large as another. */
export type CacheBound<Value> =
  number | { readonly bytesMax: number; readonly bytesOf: (value: Value, key: string) => number };

/**
 * Caches values from the database until any node changes them (see `InvalidationFeed`). With `refused` it also caches
 * refusals, for less than a second.
 */
export class InvalidatingCache<Value> {
  private readonly entries: LRUCache<string, Remembered<Value>>;
  /** Running reads. Callers with the same key share one: a thousand items of a batch need one read. */
  private readonly reading = new Map<string, Promise<Remembered<Value>>>();

  constructor(
    private readonly feed: InvalidationFeed,
    private readonly clock: Clock,
    bound: CacheBound<Value>,
    private readonly refused?: NegativeCache,
  ) {
    // Without `max`, with which the cache would allocate all its memory at the start.
    this.entries = new LRUCache(
      typeof bound === 'number'
        ? { maxSize: bound, sizeCalculation: () => 1 }
        : { maxSize: bound.bytesMax, sizeCalculation: ({ value }, key) => bound.bytesOf(value, key) },
    );
  }

  /** The cached value of this key, if it is still valid. */
  recall(key: string): Value | undefined {
    const entry = this.entries.get(key);
    return entry !== undefined && this.feed.holds(entry.subject, entry.readAtMs) ? entry.value : undefined;
  }

  /** Whether this key has an entry, valid or not. */
  wasKnown(key: string): boolean {
    return this.entries.has(key);
  }

  /** Reads and caches a value. Of errors only refusals are cached, if there is a cache for them. */
  async learn(key: string, read: () => Promise<CacheableRead<Value>>): Promise<Value> {
    const refusal = this.refused?.recall(key);
    if (refusal !== undefined) throw refusal;
    for (let joined = this.reading.get(key); joined !== undefined; joined = this.reading.get(key)) {
      const { value, subject, readAtMs } = await joined;
      // A caller must not get a value from before a change that this node knows of. Then the first waiting caller reads again,
      // and the others join that read.
      if (!this.feed.changedSince(subject, readAtMs)) return value;
    }
    const asking = this.ask(key, read);
    this.reading.set(key, asking);
    try {
      const entry = await asking;
      this.entries.set(key, entry);
      return entry.value;
    } finally {
      if (this.reading.get(key) === asking) this.reading.delete(key);
    }
  }

  /** Reads several values at once and caches each by its key. Other callers do not share this read. */
  async learnAll(
    read: () => Promise<ReadonlyMap<string, CacheableRead<Value>>>,
  ): Promise<readonly (readonly [string, Value])[]> {
    // As in `ask`: taken before the read.
    const readAtMs = this.clock.monotonicMs();
    const found = [...(await read())];
    for (const [key, each] of found) this.entries.set(key, { ...each, readAtMs });
    return found.map(([key, { value }]) => [key, value]);
  }

  private async ask(key: string, read: () => Promise<CacheableRead<Value>>): Promise<Remembered<Value>> {
    // Taken before the read: a change that is seen during the read invalidates its result.
    const readAtMs = this.clock.monotonicMs();
    try {
      return { ...(await read()), readAtMs };
    } catch (error) {
      if (this.refused?.remember(key, error, readAtMs) === true) this.entries.delete(key);
      throw error;
    }
  }
}
