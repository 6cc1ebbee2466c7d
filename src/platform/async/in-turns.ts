import { BYTES_PER_TURN, byteTurns } from './byte-turns';

/** Entries that are worked on in one go: half a turn, so that a single large one beside them still fits. */
const LOT_BYTES = BYTES_PER_TURN / 2;

/**
 * Does something to each entry, in their order and in turns of the event loop by their bytes (`ByteTurns`). Few bytes are done
 * at once, and the results are then there at once, unless a step has to wait.
 */
export function inTurns<Entry, Result>(
  entries: readonly Entry[],
  bytesOf: (entry: Entry) => number,
  step: (entry: Entry, index: number) => Result | Promise<Result>,
): Result[] | Promise<Result[]> {
  const bytes = entries.reduce((sum, entry) => sum + bytesOf(entry), 0);
  if (bytes > LOT_BYTES) return inLots(entries, bytesOf, step);
  const turn = byteTurns.take(bytes);
  const all = (): Result[] | Promise<Result[]> => settled(entries.map(step));
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
    const done = settled(lot.map((entry, index) => step(entry, start + index)));
    for (const result of done instanceof Promise ? await done : done) results.push(result);
  }
  return results;
}

/** Rather than wait for a thousand results that are there already. */
function settled<Result>(steps: readonly (Result | Promise<Result>)[]): Result[] | Promise<Result[]> {
  const results: Result[] = [];
  for (const step of steps) {
    if (step instanceof Promise) return Promise.all(steps);
    results.push(step);
  }
  return results;
}
