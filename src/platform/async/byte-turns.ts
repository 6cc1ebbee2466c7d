/**
 * Bytes of input that are parsed and checked in one turn of the event loop. The worst JSON of this size takes some 20 ms to
 * parse and as long to check. Two hundred usual events are smaller.
 */
export const BYTES_PER_TURN = 64 * 1024;
/** Work on less than this part of a turn is small. */
const SMALL_PARTS = 4;
/** Work on this much input takes some milliseconds in the worst case. */
const LARGE_BYTES = 16 * 1024;
/** Bytes of entries per step: half a turn, so that a single large entry still fits beside them. */
const LOT_BYTES = BYTES_PER_TURN / 2;
/**
 * Turns without work after a turn with large work. A request takes several turns, and would otherwise wait for large work in
 * each of them. A turn without work takes some microseconds.
 */
const TURNS_WITHOUT = 3;

interface Waiting {
  readonly bytes: number;
  readonly begin: () => void;
}

/**
 * Spreads work over turns of the event loop by its bytes. The work of all requests in one turn stays below `bytesPerTurn`, so
 * that no client waits long for the input of others. A larger piece gets its own turn. First come, first served.
 */
export class ByteTurns {
  private left: number;
  private readonly waiting: Waiting[] = [];
  private isTurnAwaited = false;
  private turnsWithout = 0;
  private leftForSmall: number;

  constructor(private readonly bytesPerTurn = BYTES_PER_TURN) {
    this.left = bytesPerTurn;
    this.leftForSmall = bytesPerTurn;
  }

  /** Await the result before the work. Undefined when it may begin at once, as most work on small input may. */
  take(bytes: number): Promise<void> | undefined {
    if (!this.isTurnAwaited) {
      this.isTurnAwaited = true;
      setImmediate(this.beginTurn);
    }
    // Small work does not wait behind large work of others. It has its own budget of the same size.
    if (bytes < this.bytesPerTurn / SMALL_PARTS && bytes <= this.leftForSmall) {
      this.leftForSmall -= bytes;
      return undefined;
    }
    if (this.waiting.length === 0 && this.fits(bytes)) {
      this.left -= bytes;
      return undefined;
    }
    return new Promise((begin) => this.waiting.push({ bytes, begin }));
  }

  private readonly beginTurn = (): void => {
    this.leftForSmall = this.bytesPerTurn;
    const wasLarge = this.bytesPerTurn - this.left >= LARGE_BYTES;
    if (wasLarge && this.turnsWithout < TURNS_WITHOUT) {
      this.turnsWithout += 1;
      setImmediate(this.beginTurn);
      return;
    }
    this.turnsWithout = 0;
    this.left = this.bytesPerTurn;
    let begun = 0;
    for (const { bytes, begin } of this.waiting) {
      if (!this.fits(bytes)) break;
      this.left -= bytes;
      begun += 1;
      begin();
    }
    this.waiting.splice(0, begun);
    // Work that began now counts for this turn; the next turn has a new budget.
    if (begun > 0) setImmediate(this.beginTurn);
    else this.isTurnAwaited = false;
  };

  private fits(bytes: number): boolean {
    return bytes <= this.left || this.left === this.bytesPerTurn;
  }
}

/** One per process, which has one event loop. */
export const byteTurns = new ByteTurns();

/**
 * Applies `step` to each entry in order, spread over turns of the event loop by their bytes (`ByteTurns`). With few bytes the
 * results are returned synchronously, unless a step is asynchronous.
 */
export function inTurns<Entry, Result>(
  entries: readonly Entry[],
  bytesOf: (entry: Entry) => number,
  step: (entry: Entry, index: number) => Result | Promise<Result>,
): Result[] | Promise<Result[]> {
  const bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
  if (bytes > LOT_BYTES) return inLots(entries, bytesOf, step);
  const turn = byteTurns.take(bytes);
  const all = (): Result[] | Promise<Result[]> => collected(entries.map(step));
  return turn === undefined ? all() : turn.then(all);
}

async function inLots<Entry, Result>(
  entries: readonly Entry[],
  bytesOf: (entry: Entry) => number,
  step: (entry: Entry, index: number) => Result | Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  while (results.length < entries.length) {
    const start = results.length;
    let bytes = 0;
    const lot: Entry[] = [];
    for (let entry = entries[start]; entry !== undefined; entry = entries[start + lot.length]) {
      if (lot.length > 0 && bytes + bytesOf(entry) > LOT_BYTES) break;
      bytes += bytesOf(entry);
      lot.push(entry);
    }
    await byteTurns.take(bytes);
    const done = collected(lot.map((entry, index) => step(entry, start + index)));
    for (const result of done instanceof Promise ? await done : done) results.push(result);
  }
  return results;
}

/** Returns the results synchronously if no step is a promise. */
function collected<Result>(steps: readonly (Result | Promise<Result>)[]): Result[] | Promise<Result[]> {
  const results: Result[] = [];
  for (const step of steps) {
    if (step instanceof Promise) return Promise.all(steps);
    results.push(step);
  }
  return results;
}
