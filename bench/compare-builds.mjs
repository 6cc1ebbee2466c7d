import { batchLoad } from './scenarios/batches.mjs';
import { incrementLoad } from './scenarios/hot-counter.mjs';
import { newEvents } from './scenarios/single-events.mjs';
import { stateReadLoad } from './scenarios/state-reads.mjs';
import { startService } from './stage/service.mjs';

/** What `--ab` measures, by the keys of the scenarios. */
const CASES = {
  a: { title: 'single events', load: (service) => newEvents(service) },
  an: { title: 'new customers', load: (service) => newEvents(service, 'new') },
  b: { title: 'batches of 200', load: (service) => batchLoad(service, 200) },
  bn: { title: 'the same, new customers', load: (service) => batchLoad(service, 200, 'new') },
  d: { title: 'one counter', load: async (service, bench) => incrementLoad(await bench.campaign(service), 'counter') },
  e: { title: 'state reads', load: async (service, bench) => stateReadLoad(await bench.campaign(service)) },
};

/** Rounds until both builds are started anew: a process is some percent faster or slower than the next one of the same build. */
const ROUNDS_OF_A_START = 4;

/**
 * Compares this build with another one: `main` is the other's dist/main.js. Both run at the same time, each on a database of
 * its own, and are loaded in turns, in both orders. They are started anew every few rounds, in both orders, too: the one that is
 * started second looks faster. Says for each case the median of the round-by-round ratios of the rates and of the service's CPU
 * time a request, each with the middle half of the rounds.
 */
export async function compareBuilds(bench, main, only = Object.keys(CASES)) {
  const lines = [];
  for (const key of only) {
    const rounds = [];
    for (let starts = 0; rounds.length < bench.options.rounds; starts += 1) {
      const left = bench.options.rounds - rounds.length;
      const names = starts % 2 === 0 ? ['ours', 'other'] : ['other', 'ours'];
      rounds.push(...(await roundsOfAStart(bench, key, main, names, Math.min(left, ROUNDS_OF_A_START))));
    }
    const rates = spread(rounds.map(({ ours, other }) => ours.rate / other.rate));
    const cpus = spread(rounds.map(({ ours, other }) => ours.cpu.service / other.cpu.service));
    lines.push(`${key}. ${CASES[key].title.padEnd(23)} rate × ${rates}   CPU of the service × ${cpus}`);
    process.stdout.write(`${lines.at(-1)}\n`);
  }
  return lines;
}

async function roundsOfAStart(bench, key, main, names, count) {
  const start = { ours: startService, other: (...args) => startService(...args, main) };
  const builds = {};
  const jobs = {};
  for (const name of names) {
    builds[name] = await bench.service(`${name}_${key}`, undefined, undefined, start[name]);
    jobs[name] = await CASES[key].load(builds[name], bench);
  }
  const rounds = [];
  for (let round = 0; round < count; round += 1) {
    const measured = {};
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      measured[name] = await bench.load(builds[name], jobs[name]);
    }
    rounds.push(measured);
  }
  for (const name of names) await bench.stopService(`${name}_${key}`);
  return rounds;
}

function spread(ratios) {
  const sorted = ratios.toSorted((a, b) => a - b);
  const at = (part) => sorted[Math.round((sorted.length - 1) * part)].toFixed(3);
  return `${at(0.5)} (${at(0.25)} to ${at(0.75)})`;
}
