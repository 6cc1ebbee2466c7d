import { JwksFetchError } from './fetch-jwks';

export interface SlotLimits {
  /** Fetches under way. */
  readonly perWorkspace: number;
  readonly perProcess: number;
  /** Fetches of one workspace that wait; a further one fails at once. */
  readonly waitingPerWorkspace: number;
  /** Who has waited so long fails. */
  readonly waitMsMax: number;
}

/**
 * A workspace whose sources never answer holds its own two slots and nobody else's. One process has room for 32 such
 * workspaces; 64 bodies of 64 KiB are 4 MiB. A wait is as long as a fetch may take, so that whoever waits has a turn even
 * behind two that fail.
 */
const LIMITS: SlotLimits = { perWorkspace: 2, perProcess: 64, waitingPerWorkspace: 50, waitMsMax: 5_000 };

/** Bounds how many key sets are fetched at a time. Who finds no slot waits; workspaces take turns. */
export class FetchSlots {
  private readonly taken = new Map<string, number>();
  private takenInAll = 0;
  /** By workspace, what lets each one that waits begin. A map is walked in the order of insertion. */
  private readonly waiting = new Map<string, Set<() => void>>();

  constructor(private readonly limits: SlotLimits = LIMITS) {}

  /** Passes on what `work` answers or throws. Throws `JwksFetchError` when there is no slot in time. */
  async run<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    if (this.isFree(tenantId)) this.take(tenantId);
    else await this.turn(tenantId);
    try {
      return await work();
    } finally {
      this.release(tenantId);
    }
  }

  private isFree(tenantId: string): boolean {
    const { perWorkspace, perProcess } = this.limits;
    return this.takenInAll < perProcess && (this.taken.get(tenantId) ?? 0) < perWorkspace;
  }

  private take(tenantId: string): void {
    this.takenInAll += 1;
    this.taken.set(tenantId, (this.taken.get(tenantId) ?? 0) + 1);
  }

  private release(tenantId: string): void {
    this.takenInAll -= 1;
    const left = (this.taken.get(tenantId) ?? 0) - 1;
    if (left > 0) this.taken.set(tenantId, left);
    else this.taken.delete(tenantId);
    this.startNext();
  }

  /** Resolves with a slot taken. */
  private turn(tenantId: string): Promise<void> {
    const { waitingPerWorkspace, waitMsMax } = this.limits;
    const queue = this.waiting.get(tenantId) ?? new Set();
    if (queue.size >= waitingPerWorkspace) {
      return Promise.reject(new JwksFetchError('Too many key sets of its workspace wait to be fetched.'));
    }
    this.waiting.set(tenantId, queue);
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        queue.delete(start);
        if (queue.size === 0) this.waiting.delete(tenantId);
        reject(new JwksFetchError('Other key sets took too long to be fetched.'));
      }, waitMsMax);
      // Nobody's end waits for it.
      timer.unref();
      queue.add(start);
    });
  }

  /** One slot has become free, so one more may begin. */
  private startNext(): void {
    for (const [tenantId, queue] of this.waiting) {
      const [start] = queue;
      if (start === undefined || !this.isFree(tenantId)) continue;
      queue.delete(start);
      // Behind the other workspaces.
      this.waiting.delete(tenantId);
      if (queue.size > 0) this.waiting.set(tenantId, queue);
      this.take(tenantId);
      start();
      return;
    }
  }
}
