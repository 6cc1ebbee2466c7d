/** Why a task is not run. */
export type WhyNotRun = 'too_many_wait' | 'waited_too_long' | 'gone';

export interface ConcurrencyPolicy {
  /** How many tasks of this key may run at a time now; at least 1. */
  readonly runningMax: (key: string) => number;
  /** How many tasks of all keys may run at a time. */
  readonly runningInAllMax?: number;
  /** How many further tasks of one key may wait. */
  readonly waitingMax: number;
  /** How long a task may wait; default: without limit. */
  readonly waitMsMax?: number;
  /** The error of a task that is not run. */
  readonly refusal: (why: WhyNotRun) => Error;
}

export interface WaitOptions {
  /** Whether the caller has left; called when the task's turn comes. */
  readonly isGone?: () => boolean;
  /** The task waits without limits of time and number. */
  readonly isPatient?: boolean;
}

/** A waiting task. `start` returns whether it begins. */
interface Waiting {
  readonly start: () => boolean;
}

/** Limits the concurrent tasks of each key, in order of arrival, and of all keys together, where keys take turns. */
export class ConcurrencyLimiter {
  /** Only keys with running tasks. */
  private readonly running = new Map<string, number>();
  private inAll = 0;
  /** Maps iterate in the order of insertion. A key that had its turn is inserted again at the end. */
  private readonly waiting = new Map<string, Set<Waiting>>();

  constructor(private readonly policy: ConcurrencyPolicy) {}

  /** The numbers of running and of waiting tasks. */
  get counts(): { readonly running: number; readonly waiting: number } {
    return { running: this.inAll, waiting: [...this.waiting.values()].reduce((sum, { size }) => sum + size, 0) };
  }

  /** Returns or throws what the task does. Throws the policy's refusal when the task is not run. */
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
    // Tasks of other keys wait for this one only if there is a limit for all keys.
    if (this.policy.runningInAllMax === undefined) while (this.isFree(key) && this.startNext(key));
    else for (const each of this.waiting.keys()) if (this.isFree(each)) this.startNext(each);
  }

  /** Resolves when the task may run. It then counts as running. */
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
      // `unref`: the timer does not keep the process running.
      const timer = isPatient || waitMsMax === undefined ? undefined : setTimeout(giveUp, waitMsMax).unref();
      queue.add(mine);
    });
  }

  /** Starts the first waiting task, unless its caller has left. False when none waits. */
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
