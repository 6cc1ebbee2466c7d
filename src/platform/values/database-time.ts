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

interface Bounds {
  readonly low: number;
  readonly high: number;
}

/**
 * The database's time, as far as a process can know it between two looks. Each look bounds by how much the database's clock is
 * ahead of the monotonic one; what all looks agree on is the estimate, which is exact to half of the fastest answer.
 */
export class DatabaseTime {
  /** Bounds of the database's time minus the monotonic one, as of `readMs`. */
  private bounds: (Bounds & { readonly readMs: number }) | undefined;

  /**
   * Returns whether the clock shows another time than was known: it was set, it is that of another database, or nothing was
   * known. Otherwise the estimate is only put right.
   */
  learn({ databaseMs, askedMs, answeredMs }: ClockReading): boolean {
    const read = { low: databaseMs - answeredMs, high: databaseMs - askedMs };
    const known = this.bounds;
    if (known === undefined) {
      this.bounds = { ...read, readMs: answeredMs };
      return true;
    }
    const drift = (answeredMs - known.readMs) * DRIFT;
    const low = Math.max(read.low, known.low - drift);
    const high = Math.min(read.high, known.high + drift);
    const agrees = low <= high;
    this.bounds = { ...(agrees ? { low, high } : nearest(read, known)), readMs: answeredMs };
    return !agrees;
  }

  /** Epoch milliseconds at a moment of the monotonic clock; undefined before the first look. */
  at(monotonicMs: number): number | undefined {
    if (this.bounds === undefined) return undefined;
    return monotonicMs + (this.bounds.low + this.bounds.high) / 2;
  }
}

/**
 * The part of what the last look says that is nearest to what was known, and as exact: a late answer does not make the time
 * jump further than it proves.
 */
function nearest(read: Bounds, known: Bounds): Bounds {
  const width = known.high - known.low;
  return read.high < known.low
    ? { low: Math.max(read.low, read.high - width), high: read.high }
    : { low: read.low, high: Math.min(read.high, read.low + width) };
}
