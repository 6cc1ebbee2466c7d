interface TenantQueue<T> {
  entries: T[];
  /** Index of the next entry to take: `shift` would copy the array each time. */
  head: number;
}

/** Taken entries are removed once there are this many, so that the array of a busy workspace does not grow. */
const TAKEN_ENTRIES_MAX = 1_024;

/**
 * First in, first out within a workspace; workspaces take turns. One that sends a thousand times as much as another
 * delays only itself.
 */
export class FairQueue<T> {
  /** Maps iterate in the order of insertion. A workspace that had its turn is inserted again at the end. */
  private readonly queues = new Map<string, TenantQueue<T>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** The workspace whose turn it is; undefined when nothing waits. */
  get next(): string | undefined {
    return this.queues.keys().next().value;
  }

  push(tenantId: string, entry: T): void {
    const queue = this.queues.get(tenantId);
    if (queue === undefined) this.queues.set(tenantId, { entries: [entry], head: 0 });
    else queue.entries.push(entry);
    this.count += 1;
  }

  /**
   * Takes up to `most` entries, one of each workspace in turn; any number if there is only one workspace. The first entry for
   * which `fits` returns false stays and ends the taking.
   */
  take(most: number, fits: (entry: T) => boolean = () => true): T[] {
    const taken: T[] = [];
    let isFull = false;
    // The iteration includes re-inserted workspaces, so it goes on until enough is taken or nothing is left.
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
        // The workspace whose entry did not fit keeps its turn.
        this.queues.set(tenantId, trimmed(queue));
        break;
      }
      this.queues.delete(tenantId);
      if (queue.head < queue.entries.length) this.queues.set(tenantId, trimmed(queue));
    }
    this.count -= taken.length;
    return taken;
  }

  /** The same from some workspaces only, which then stand behind all others, unless nothing was taken. */
  takeOf(isOf: (tenantId: string) => boolean, most: number, fits?: (entry: T) => boolean): T[] {
    const part = new FairQueue<T>();
    for (const [tenantId, queue] of this.queues) if (isOf(tenantId)) part.queues.set(tenantId, queue);
    const chosen = [...part.queues.keys()];
    const taken = part.take(most, fits);
    if (taken.length === 0) return taken;
    for (const tenantId of chosen) this.queues.delete(tenantId);
    for (const [tenantId, queue] of part.queues) this.queues.set(tenantId, queue);
    this.count -= taken.length;
    return taken;
  }
}

function trimmed<T>(queue: TenantQueue<T>): TenantQueue<T> {
  if (queue.head < TAKEN_ENTRIES_MAX) return queue;
  return { entries: queue.entries.slice(queue.head), head: 0 };
}
