/**
 * What one look at an event may cost, in units of about a nanosecond: some five milliseconds on one core of a server. Counted by
 * the size of what is worked on, so that the same condition and event always cost the same, however fast the machine is.
 */
export const CONDITION_COST_MAX = 5_000_000;

/** The longest that each step takes, in units; measured in docs/adr/0034. */
export const COSTS = {
  /** An operator, beside what its operands cost. */
  operator: 100,
  /** A step of the path of a `var`. */
  pathStep: 25,
  /** A path that is looked up because a list names it. */
  namedPath: 150,
  /** An entry of a list that is gone through, or a place of a text that is looked at. */
  entry: 50,
  /** A number that may become text. */
  number: 250,
  /** A character that is copied or compared. */
  character: 1,
  /** A character that is compared at several places, or read as a part of a number. */
  readCharacter: 2,
  /** A field of an object whose truth is asked for. */
  field: 50,
} as const;

/** The clock is looked at after so many units, and not with each step. */
const LOOK_EVERY = 100_000;

/** The condition has spent all that it may. */
export class TooCostlyError extends Error {}

/** It has taken longer than it may; another time it may be faster. */
export class OverdueError extends Error {}

/** Counts what a condition costs before it is done, so that no single step can be long. */
export class Meter {
  private left = 0;
  private lookBelow = 0;
  private isOverdue: () => boolean = () => false;

  /** Starts anew, for another event. */
  begin(isOverdue: () => boolean): void {
    this.left = CONDITION_COST_MAX;
    this.lookBelow = this.left - LOOK_EVERY;
    this.isOverdue = isOverdue;
  }

  /** Throws when more than there is would be spent, or when time is up. */
  spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0) throw new TooCostlyError();
    if (this.left >= this.lookBelow) return;
    this.lookBelow = this.left - LOOK_EVERY;
    if (this.isOverdue()) throw new OverdueError();
  }

  /** For operands that become text or numbers: lists go in with all that they hold, for so they become text. */
  spendFor(value: unknown): void {
    if (typeof value === 'string') this.spend(value.length * COSTS.readCharacter);
    else if (typeof value === 'number') this.spend(COSTS.number);
    else if (Array.isArray(value)) {
      this.spend(value.length * COSTS.entry);
      for (const entry of value) this.spendFor(entry);
    }
  }

  /** As JsonLogic has it: empty lists and empty objects are not. */
  isTruthy(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return Boolean(value);
    if (Array.isArray(value)) return value.length > 0;
    const fields = Object.keys(value).length;
    this.spend(fields * COSTS.field);
    return fields > 0;
  }
}
