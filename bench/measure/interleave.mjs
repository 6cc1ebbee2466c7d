import { medianByRate } from './percentiles.mjs';

/**
 * Measures all contenders in turn, round after round, since the speed of a shared machine varies. Answers by name: the measurement in
 * the middle, and all of them in the order of the rounds.
 */
export async function interleave(rounds, contenders) {
  const measured = new Map(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, measure] of Object.entries(contenders)) measured.get(name).push(await measure(round));
  }
  return Object.fromEntries([...measured].map(([name, all]) => [name, { ...medianByRate(all), rounds: all }]));
}

/** How many times as fast `ours` is as `theirs`: in the middle of the rounds, each compared within itself. */
export function ratioOf(ours, theirs) {
  const ratios = ours.rounds.map(({ rate }, round) => rate / theirs.rounds[round].rate).sort((a, b) => a - b);
  return ratios[Math.floor(ratios.length / 2)];
}
