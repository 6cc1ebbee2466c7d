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

/**
 * Compares this build with another one: `main` is the other's dist/main.js. Both run at the same time, each on a database of
 * its own, and are loaded in turns, in both orders. Each case starts both anew, so that no case warms up another. Says for each case the median of the round-by-round ratios of the rates
 * and of the service's CPU time a request, each with the middle half of the rounds.
 */
export async function compareBuilds(bench, main, only = Object.keys(CASES)) {
  const lines = [];
  for (const key of only) {
    const { title, load } = CASES[key];
    const builds = {
      ours: await bench.service(`ours_${key}`),
      other: await bench.service(`other_${key}`, undefined, undefined, (...args) => startService(...args, main)),
    };
    const jobs = {};
    for (const [name, service] of Object.entries(builds)) jobs[name] = await load(service, bench);
    const rounds = [];
    for (let round = 0; round < bench.options.rounds; round += 1) {
      const order = round % 2 === 0 ? ['ours', 'other'] : ['other', 'ours'];
      const measured = {};
      for (const name of order) measured[name] = await bench.load(builds[name], jobs[name]);
      rounds.push(measured);
    }
    const rates = spread(rounds.map(({ ours, other }) => ours.rate / other.rate));
    const cpus = spread(rounds.map(({ ours, other }) => ours.cpu.service / other.cpu.service));
    lines.push(`${key}. ${title.padEnd(23)} rate × ${rates}   CPU of the service × ${cpus}`);
    process.stdout.write(`${lines.at(-1)}\n`);
    for (const name of Object.keys(builds)) await bench.stopService(`${name}_${key}`);
  }
  return lines;
}

function spread(ratios) {
  const sorted = ratios.toSorted((a, b) => a - b);
  const at = (part) => sorted[Math.round((sorted.length - 1) * part)].toFixed(3);
  return `${at(0.5)} (${at(0.25)} to ${at(0.75)})`;
}
