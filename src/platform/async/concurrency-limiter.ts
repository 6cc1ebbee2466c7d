/** Why a task is not run. */
export type WhyNotRun = 'too_many_wait' | 'waited_too_long' | 'gone';

export interface ConcurrencyPolicy {
  /** How many tasks of this key may run at a time, as things stand now; at least 1. */
  readonly runningMax: (key: string) => number;
  /** How many tasks of all keys together may. */
  readonly runningInAllMax?: number;
  /** How many more of one key may wait for their turn. */
  readonly waitingMax: number;
  /** How long each of them may; as long as it takes when absent. */
  readonly waitMsMax?: number;
  /** What a task fails with that is not run. */
  readonly refusal: (why: WhyNotRun) => Error;
}

export interface WaitOptions {
  /** Whether nobody waits for the task any more; asked when its turn comes. */
  readonly isGone?: () => boolean;
  /** It waits as long as it takes, however many wait. */
  readonly isPatient?: boolean;
}

/** A task whose turn has not come; `start` tells whether it begins. */
interface Waiting {
  readonly start: () => boolean;
}

/** Runs the tasks of one key a few at a time, in their order. Keys that wait for a place among all tasks take turns. */
export class ConcurrencyLimiter {
  /** Only keys whose tasks are under way. */
  private readonly running = new Map<string, number>();
  private inAll = 0;
  /** A map is walked in the order of insertion: who had a turn is set again, behind the others. */
  private readonly waiting = new Map<string, Set<Waiting>>();

  constructor(private readonly policy: ConcurrencyPolicy) {}

  /** Tasks under way, and those that wait. */
  get counts(): { readonly running: number; readonly waiting: number } {
    return { running: this.inAll, waiting: [...this.waiting.values()].reduce((sum, { size }) => sum + size, 0) };
  }

  /** Passes on what the task says. Throws the policy's refusal when it is not run. */
  async run<Value>(key: string, task: () => Promise<Value>, options: WaitOptions = {}): Promise<Value> {
    if (this.isFree(key)) this.take(key);
    else await this.turnOf(key, options);
    try {
      return await task();
    } finally {
      this.release(key);
    }
  }

  private isFree(key: string): boolean {
    const { runningMax, runningInAllMax = Infinity } = this.policy;
    return this.inAll < runningInAllMax && (this.running.get(key) ?? 0) < runningMax(key);
  }

  private take(key: string): void {
    this.inAll += 1;
    this.running.set(key, (this.running.get(key) ?? 0) + 1);
  }

  private release(key: string): void {
    this.inAll -= 1;
    const left = (this.running.get(key) ?? 0) - 1;
    if (left > 0) this.running.set(key, left);
    else this.running.delete(key);
    // Tasks of another key can only have waited for this one where there is a limit on all.
    if (this.policy.runningInAllMax === undefined) while (this.isFree(key) && this.startNext(key));
    else for (const each of this.waiting.keys()) if (this.isFree(each)) this.startNext(each);
  }

  /** Resolves with a place taken. */
  private turnOf(key: string, { isGone = () => false, isPatient = false }: WaitOptions): Promise<void> {
    const { waitingMax, waitMsMax, refusal } = this.policy;
    const queue = this.waiting.get(key) ?? new Set();
    if (queue.size >= waitingMax && !isPatient) throw refusal('too_many_wait');
    this.waiting.set(key, queue);
    return new Promise((resolve, reject) => {
      const start = (): boolean => {
        clearTimeout(timer);
        const begins = !isGone();
        if (begins) resolve();
        else reject(refusal('gone'));
        return begins;
      };
      const giveUp = (): void => {
        queue.delete(mine);
        if (queue.size === 0) this.waiting.delete(key);
        reject(refusal('waited_too_long'));
      };
      const mine: Waiting = { start };
      // Nobody's end waits for it.
      const timer = isPatient || waitMsMax === undefined ? undefined : setTimeout(giveUp, waitMsMax).unref();
      queue.add(mine);
    });
  }

  /** Lets the first that waits begin, if somebody still waits for it; false when none waits. */
  private startNext(key: string): boolean {
    const queue = this.waiting.get(key);
    const [first] = queue ?? [];
    if (queue === undefined || first === undefined) return false;
    queue.delete(first);
    this.waiting.delete(key);
    if (queue.size > 0) this.waiting.set(key, queue);
    if (first.start()) this.take(key);
    return true;
  }
}
