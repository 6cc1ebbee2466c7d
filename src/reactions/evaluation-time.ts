import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** Per condition and event: eight times as long as a condition that uses up `CONDITION_COST_MAX`. */
export const CONDITION_MS_MAX = 40;
/** Of all conditions per event: twice as long as the maximum number of conditions at their maximum cost. */
export const EVENT_MS_MAX = 500;
/** After so long the event loop is released. With one more condition it is blocked for 50 ms at most. */
const BLOCKED_MS_MAX = 10;
/** Of one call, since the worker's transaction must stay short; later events wait for the next call. */
const CALL_MS_MAX = 1_000;

/** Measures how long conditions take, by the monotonic clock. */
export class EvaluationTime {
  private readonly startedAt = performance.now();
  private now = this.startedAt;
  private blockedSince = this.startedAt;
  private conditionSince = this.startedAt;
  private ofEventMs = 0;

  beginEvent(): void {
    this.ofEventMs = 0;
  }

  /** Evaluates a condition. `evaluate` gets a function that returns whether the time is over. */
  measure<T>(evaluate: (isOverdue: () => boolean) => T): T {
    this.conditionSince = performance.now();
    const result = evaluate(this.isOverdue);
    this.now = performance.now();
    this.ofEventMs += this.now - this.conditionSince;
    return result;
  }

  /** Whether the event loop should be released, by `release`. */
  isBlockedLong(): boolean {
    return this.now - this.blockedSince > BLOCKED_MS_MAX;
  }

  /**
   * A long condition is followed by a pause of the same length. A request needs several turns of the event loop; with
   * only one turn between two long conditions, it would wait for a condition in each turn.
   */
  async release(): Promise<void> {
    const lastMs = this.now - this.conditionSince;
    await (lastMs > BLOCKED_MS_MAX ? pause(lastMs) : nextTurn());
    this.blockedSince = performance.now();
  }

  /** Whether later events must wait for another call. */
  isUsedUp(): boolean {
    return this.now - this.startedAt > CALL_MS_MAX;
  }

  private readonly isOverdue = (): boolean => {
    const ms = performance.now() - this.conditionSince;
    return ms > CONDITION_MS_MAX || this.ofEventMs + ms > EVENT_MS_MAX;
  };
}
