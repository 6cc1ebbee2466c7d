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
    // Taken before the database is asked: a change seen while the answer is under way voids the answer.
    const readAtMs = this.clock.monotonicMs();
    const { value, subject } = await read();
    this.entries.set(key, { value, subject, readAtMs });
    return value;
  }
}
