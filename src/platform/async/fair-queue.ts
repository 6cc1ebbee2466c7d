interface TenantQueue<T> {
  entries: T[];
  /** Index of the next entry to take; shifting an array by one would copy it each time. */
  head: number;
}

/** Taken entries are cut off once there are this many, so that a workspace that never pauses leaves no trail. */
const TAKEN_ENTRIES_MAX = 1_024;

/**
 * First in, first out within a workspace; workspaces take turns. One that sends a thousand times as much as another
 * delays only itself.
 */
export class FairQueue<T> {
  /** A map is walked in the order of insertion: who had its turn is set again, behind everybody else. */
  private readonly queues = new Map<string, TenantQueue<T>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  push(tenantId: string, entry: T): void {
    const queue = this.queues.get(tenantId);
    if (queue === undefined) this.queues.set(tenantId, { entries: [entry], head: 0 });
    else queue.entries.push(entry);
    this.count += 1;
  }

  /**
   * Takes up to `most` entries, one of each workspace in turn; of the only one as many as it has. `fits` is asked of each, in
   * their order, and ends the taking with false.
   */
  take(most: number, fits: (entry: T) => boolean = () => true): T[] {
    const taken: T[] = [];
    let isFull = false;
    // The walk meets again what it sets again, so this goes round until enough is taken or nothing is left.
    for (const [tenantId, queue] of this.queues) {
      if (taken.length >= most) break;
      const share = this.queues.size === 1 ? most - taken.length : 1;
      const end = Math.min(queue.entries.length, queue.head + share);
      for (let entry = queue.entries[queue.head]; queue.head < end && entry !== undefined;) {
        isFull = !fits(entry);
        if (isFull) break;
        taken.push(entry);
        queue.head += 1;
        entry = queue.entries[queue.head];
      }
      if (isFull) {
        // Whose entry did not fit keeps its turn.
        this.queues.set(tenantId, trimmed(queue));
        break;
      }
      this.queues.delete(tenantId);
      if (queue.head < queue.entries.length) this.queues.set(tenantId, trimmed(queue));
    }
    this.count -= taken.length;
    return taken;
  }
}

function trimmed<T>(queue: TenantQueue<T>): TenantQueue<T> {
  if (queue.head < TAKEN_ENTRIES_MAX) return queue;
  return { entries: queue.entries.slice(queue.head), head: 0 };
}
