import { LRUCache } from 'lru-cache';
import type { Clock } from '../values/clock';
import type { InvalidationFeed, InvalidationSubject } from './invalidation-feed';
import type { NegativeCache } from './negative-cache';

interface Remembered<Value> {
  readonly value: Value;
  readonly subject: InvalidationSubject;
  readonly readAtMs: number;
}

/** What was read of a control object; `subject` names the object whose change makes it void. */
export interface CacheableRead<Value> {
  readonly value: Value;
  readonly subject: InvalidationSubject;
}

/**
 * Remembers what was read from the database for as long as no node has changed it (see `InvalidationFeed`); with `refused`, for a
 * moment also what was refused.
 */
export class InvalidatingCache<Value> {
  private readonly entries: LRUCache<string, Remembered<Value>>;
  /** Reads under way: a thousand events of one batch ask for their type with one question. */
  private readonly reading = new Map<string, Promise<Remembered<Value>>>();

  constructor(
    private readonly feed: InvalidationFeed,
    private readonly clock: Clock,
    entriesMax: number,
    private readonly refused?: NegativeCache,
  ) {
    this.entries = new LRUCache({ max: entriesMax });
  }

  /** What is remembered under this key, if it still holds. */
  recall(key: string): Value | undefined {
    const entry = this.entries.get(key);
    return entry !== undefined && this.feed.holds(entry.subject, entry.readAtMs) ? entry.value : undefined;
  }

  /** Whether something was read under this key before, be it void by now. */
  wasKnown(key: string): boolean {
    return this.entries.has(key);
  }

  /** Reads and remembers. Of what `read` throws only refusals are remembered, where there is a cache for them. */
  async learn(key: string, read: () => Promise<CacheableRead<Value>>): Promise<Value> {
    const refusal = this.refused?.recall(key);
    if (refusal !== undefined) throw refusal;
    for (let joined = this.reading.get(key); joined !== undefined; joined = this.reading.get(key)) {
      const { value, subject, readAtMs } = await joined;
      // Whoever joined a read must not be answered with what was so before a change that this node knows of; then the first
      // of those who joined asks again, and the others join that.
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

  /** Reads several at once, remembers each of them by its key, and answers them. Nobody else joins this read. */
  async learnAll(
    read: () => Promise<ReadonlyMap<string, CacheableRead<Value>>>,
  ): Promise<readonly (readonly [string, Value])[]> {
    // As in `ask`: taken before the database is asked.
    const readAtMs = this.clock.monotonicMs();
    const found = [...(await read())];
    for (const [key, each] of found) this.entries.set(key, { ...each, readAtMs });
    return found.map(([key, { value }]) => [key, value]);
  }

  private async ask(key: string, read: () => Promise<CacheableRead<Value>>): Promise<Remembered<Value>> {
    // Taken before the database is asked: a change seen while the answer is under way voids the answer.
    const readAtMs = this.clock.monotonicMs();
    try {
      return { ...(await read()), readAtMs };
    } catch (error) {
      if (this.refused?.remember(key, error, readAtMs) === true) this.entries.delete(key);
      throw error;
    }
  }
}
