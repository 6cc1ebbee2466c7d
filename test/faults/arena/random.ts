/** Chances that come out the same for the same seed, as far as the order of events allows. */
export interface Random {
  /** 0 ≤ … < 1 */
  next(): number;
  /** A whole number below `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  oneOf<T>(list: readonly T[]): T;
}

/** mulberry32: small, fast and good enough to choose by. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    oneOf: (list) => {
      if (list.length === 0) throw new Error('There is nothing to choose from');
      return list[below(list.length)]!;
    },
  };
}
