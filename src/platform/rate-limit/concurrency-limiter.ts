import { DomainError } from '../errors/domain-error';

interface Slots {
  running: number;
  readonly waiting: (() => void)[];
}

export interface ConcurrencyPolicy {
  /** How many tasks of this key may run at a time, as things stand now; at least 1. */
  readonly runningMax: (key: string) => number;
  /** How many more of one key may wait for their turn; further ones are answered 503. */
  readonly waitingMax: number;
  /** What waits, for the words of a refusal. */
  readonly subject: string;
}

/** Soon: a task is a look-up of milliseconds. */
const RETRY_AFTER_SECONDS = 1;

/** Runs the tasks of one key a few at a time, in their order; other keys are not concerned. */
export class ConcurrencyLimiter {
  /** Only keys whose tasks are under way. */
  private readonly slots = new Map<string, Slots>();

  constructor(private readonly policy: ConcurrencyPolicy) {}

  /** Passes on what the task says. Throws `unavailable` when too many tasks of this key wait. */
  async run<Value>(key: string, task: () => Promise<Value>): Promise<Value> {
    const slots = this.slots.get(key) ?? { running: 0, waiting: [] };
    this.slots.set(key, slots);
    if (slots.running < this.policy.runningMax(key)) slots.running += 1;
    else await this.turnOf(slots);
    try {
      return await task();
    } finally {
      slots.running -= 1;
      this.wake(key, slots);
    }
  }

  private turnOf({ waiting }: Slots): Promise<void> {
    if (waiting.length >= this.policy.waitingMax) {
      const message = `Too many ${this.policy.subject} wait to be checked. Send the same again after the time in Retry-After.`;
      throw new DomainError('unavailable', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    return new Promise((resolve) => waiting.push(resolve));
  }

  private wake(key: string, slots: Slots): void {
    while (slots.waiting.length > 0 && slots.running < this.policy.runningMax(key)) {
      slots.running += 1;
      slots.waiting.shift()?.();
    }
    if (slots.running === 0) this.slots.delete(key);
  }
}
