import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock/clock';
import type { ControlFeed, ControlSubject } from './control-feed';

interface Remembered<Value> {
  readonly value: Value;
  readonly subject: ControlSubject;
  readonly readAtMs: number;
}

/** What was read of a control object; `subject` names the object whose change makes it void. */
export interface Read<Value> {
  readonly value: Value;
  readonly subject: ControlSubject;
}

/** Remembers what was read from the database for as long as no node has changed it (see `ControlFeed`). */
export class ControlMemory<Value> {
  private readonly entries: LRUCache<string, Remembered<Value>>;
  /** Reads under way: a thousand events of one batch ask for their type with one question. */
  private readonly reading = new Map<string, Promise<Remembered<Value>>>();

  constructor(
    private readonly feed: ControlFeed,
    private readonly clock: Clock,
    entriesMax: number,
  ) {
    this.entries = new LRUCache({ max: entriesMax });
  }

  /** What is remembered under this key, if it still holds. */
  recall(key: string): Value | undefined {
    const entry = this.entries.get(key);
    return entry !== undefined && this.feed.holds(entry.subject, entry.readAtMs) ? entry.value : undefined;
  }

  /** Reads and remembers; what `read` throws is not remembered. */
  async learn(key: string, read: () => Promise<Read<Value>>): Promise<Value> {
    for (let joined = this.reading.get(key); joined !== undefined; joined = this.reading.get(key)) {
      const { value, subject, readAtMs } = await joined;
      // Whoever joined a read must not be answered with what was so before a change that this node knows of; then the first
      // of those who joined asks again, and the others join that.
      if (!this.feed.changedSince(subject, readAtMs)) return value;
    }
    const asking = this.ask(read);
    this.reading.set(key, asking);
    try {
      const entry = await asking;
      this.entries.set(key, entry);
      return entry.value;
    } finally {
      if (this.reading.get(key) === asking) this.reading.delete(key);
    }
  }

  private async ask(read: () => Promise<Read<Value>>): Promise<Remembered<Value>> {
    // Taken before the database is asked: a change seen while the answer is under way voids the answer.
    const readAtMs = this.clock.monotonicMs();
    return { ...(await read()), readAtMs };
  }
}
