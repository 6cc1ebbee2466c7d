import { BYTES_PER_TURN, byteTurns } from './byte-turns';

/** Bytes of entries per step: half a turn, so that a single large entry still fits beside them. */
const LOT_BYTES = BYTES_PER_TURN / 2;

/** Calls `next` synchronously unless `value` is a promise. Awaiting a plain value would cost each request a microtask. */
export function atOnce<Value, Result>(
  value: Value | Promise<Value>,
  next: (value: Value) => Result | Promise<Result>,
): Result | Promise<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}

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
