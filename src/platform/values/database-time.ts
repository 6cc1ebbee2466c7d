/** Two monotonic clocks drift apart by less than this: half a millisecond in a second. */
const DRIFT = 0.0005;

/** One look at the database's clock: it showed `databaseMs` at some moment between the two of the monotonic clock. */
export interface ClockReading {
  /** Epoch milliseconds. */
  readonly databaseMs: number;
  /** When it was asked, and when the answer was there; monotonic milliseconds. */
  readonly askedMs: number;
  readonly answeredMs: number;
}

/**
 * The database's time, as far as a process can know it between two looks. Each look bounds by how much the database's clock is
 * ahead of the monotonic one; what all looks agree on is the estimate, which is exact to half of the fastest answer.
 */
export class DatabaseTime {
  /** Bounds of the database's time minus the monotonic one, as of `readMs`. */
  private bounds: { readonly low: number; readonly high: number; readonly readMs: number } | undefined;

  learn({ databaseMs, askedMs, answeredMs }: ClockReading): void {
    const read = { low: databaseMs - answeredMs, high: databaseMs - askedMs };
    const known = this.bounds;
    const drift = known === undefined ? Infinity : (answeredMs - known.readMs) * DRIFT;
    const low = Math.max(read.low, (known?.low ?? -Infinity) - drift);
    const high = Math.min(read.high, (known?.high ?? Infinity) + drift);
    // Where the looks contradict each other, the database's clock was set, or it is another database: the last one counts.
    this.bounds = { ...(low <= high ? { low, high } : read), readMs: answeredMs };
  }

  /** Epoch milliseconds at a moment of the monotonic clock; undefined before the first look. */
  at(monotonicMs: number): number | undefined {
    if (this.bounds === undefined) return undefined;
    return monotonicMs + (this.bounds.low + this.bounds.high) / 2;
  }
}
