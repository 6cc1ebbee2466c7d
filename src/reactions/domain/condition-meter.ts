/**
 * The limit of one evaluation, in units of about a nanosecond: some five milliseconds on one core of a server. The cost
 * depends only on the size of the operands, so the same condition and event always cost the same, on any machine.
 */
export const CONDITION_COST_MAX = 5_000_000;

/** The cost of each step at most, in units; measured in docs/adr/0034. */
export const COSTS = {
  /** An operator, without its operands. */
  operator: 100,
  /** A step of the path of a `var`. */
  pathStep: 25,
  /** A path in the operand of `missing` or `missing_some`. */
  namedPath: 150,
  /** An entry of a list, or a position of a text, that is visited. */
  entry: 50,
  /** A number that may be converted to text. */
  number: 250,
  /** A character that is copied or compared. */
  character: 1,
  /** A character that is compared at several positions, or parsed as part of a number. */
  readCharacter: 2,
  /** A field of an object that is tested for truth. */
  field: 50,
} as const;

/** The time is checked after so many units, and not with each step. */
const CHECK_TIME_EVERY = 100_000;

/** The condition costs more than the limit. */
export class TooCostlyError extends Error {}

/** The condition took too long; another time it may be faster. */
export class OverdueError extends Error {}

/** Counts the cost of each step before it runs, so that no single step can take long. */
export class Meter {
  private left = 0;
  private checkTimeBelow = 0;
  private isOverdue: () => boolean = () => false;

  /** Starts again, for another event. */
  begin(isOverdue: () => boolean): void {
    this.left = CONDITION_COST_MAX;
    this.checkTimeBelow = this.left - CHECK_TIME_EVERY;
    this.isOverdue = isOverdue;
  }

  /** Throws when the cost exceeds the limit, or when the time is over. */
  spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0) throw new TooCostlyError();
    if (this.left >= this.checkTimeBelow) return;
    this.checkTimeBelow = this.left - CHECK_TIME_EVERY;
    if (this.isOverdue()) throw new OverdueError();
  }

  /** For operands that are converted to text or numbers; a list is converted with all its entries. */
  spendFor(value: unknown): void {
    if (typeof value === 'string') this.spend(value.length * COSTS.readCharacter);
    else if (typeof value === 'number') this.spend(COSTS.number);
    else if (Array.isArray(value)) {
      this.spend(value.length * COSTS.entry);
      for (const entry of value) this.spendFor(entry);
    }
  }

  /** By the rules of JsonLogic: empty lists and empty objects are not truthy. */
  isTruthy(value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return Boolean(value);
    if (Array.isArray(value)) return value.length > 0;
    const fields = Object.keys(value).length;
    this.spend(fields * COSTS.field);
    return fields > 0;
  }
}
