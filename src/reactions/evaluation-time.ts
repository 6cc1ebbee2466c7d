import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** Of one condition with one event: eight times what one takes that spends all it may (`CONDITION_COST_MAX`). */
export const CONDITION_MS_MAX = 40;
/** Of all conditions about one event: twice what the most that a type of events may have take in all. */
export const EVENT_MS_MAX = 500;
/** After so long the others in this process get their turn; with one more condition it is 50 ms at most. */
const HOLD_MS_MAX = 10;
/** The transaction of a worker is to be over by then; the events behind wait for the next one. */
const CALL_MS_MAX = 1_000;

/** How long conditions have taken, by the clock that only goes forward. */
export class EvaluationTime {
  private readonly startedAt = performance.now();
  private now = this.startedAt;
  private heldSince = this.startedAt;
  private conditionSince = this.startedAt;
  private ofEventMs = 0;

  beginEvent(): void {
    this.ofEventMs = 0;
  }

  /** Works a condition out; `ask` gets what tells it that its time is up. */
  measure<T>(ask: (isOverdue: () => boolean) => T): T {
    this.conditionSince = performance.now();
    const answer = ask(this.isOverdue);
    this.now = performance.now();
    this.ofEventMs += this.now - this.conditionSince;
    return answer;
  }

  /** Whether others in this process should get their turn: by `share`. */
  isHeldLong(): boolean {
    return this.now - this.heldSince > HOLD_MS_MAX;
  }

  /**
   * A long condition is followed by a pause of the same length. A request takes several turns of the event loop; with one turn
   * between two long conditions it would wait for a condition in each of them.
   */
  async share(): Promise<void> {
    const lastMs = this.now - this.conditionSince;
    await (lastMs > HOLD_MS_MAX ? pause(lastMs) : nextTurn());
    this.heldSince = performance.now();
  }

  /** Whether the events behind are for another call. */
  isUsedUp(): boolean {
    return this.now - this.startedAt > CALL_MS_MAX;
  }

  private readonly isOverdue = (): boolean => {
    const ms = performance.now() - this.conditionSince;
    return ms > CONDITION_MS_MAX || this.ofEventMs + ms > EVENT_MS_MAX;
  };
}
