import { parseArgs } from 'node:util';
import { loadTool } from './load/load-tool.mjs';

const USAGE = `npm run bench -- [options]

  --quick             short rounds and 200,000 stored events: to see that it runs, not to be cited
  --only=a,d          only these scenarios: start, idle, webhooks, live, a to k, memory; citus, on TEST_CITUS_URL
  --server=URL        a PostgreSQL to measure on, baselines too, instead of the embedded one: an address of a role that may
                      create databases and checkpoint; databases named bench_… are made anew there, and dropped at the end
  --stored=10000000   events that are stored for scenario h, a tenth as many customers
  --seconds=5         of each measurement
  --rounds=3          interleaved
  --load=autocannon   what sends requests: wrk, which is the default where it is on the PATH, or autocannon
  --folder=PATH       where the database lives (else a temporary folder)
  --soak=600          instead of scenarios: full load for so many seconds, and the resident memory of each process
  --workers=1         how many processes serve in --soak; default auto
  --ab=PATH           instead of scenarios: this build beside the one whose dist/main.js is PATH, --only=a,an,b,bn,d,e
  --no-write          leaves bench/RESULTS.md alone
`;

/** The whole takes 20 minutes on two cores; `--quick` takes three. */
const FULL = { seconds: 5, rounds: 3, stored: 10_000_000, warmUpSeconds: 2, copyRows: 300_000 };
const QUICK = { seconds: 2, rounds: 1, stored: 200_000, warmUpSeconds: 1, copyRows: 50_000 };

/** Reads the command line; undefined when it asks how it is used. */
export function readOptions(args) {
  const text = { type: 'string' };
  const { values } = parseArgs({
    args,
    allowNegative: true,
    options: {
      quick: { type: 'boolean' },
      write: { type: 'boolean' },
      help: { type: 'boolean' },
      only: text,
      stored: text,
      seconds: text,
      rounds: text,
      load: text,
      folder: text,
      server: text,
      workers: text,
      soak: text,
      ab: text,
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return undefined;
  }
  const sizes = values.quick ? QUICK : FULL;
  const numbers = ['stored', 'seconds', 'rounds', 'soak'].flatMap((name) =>
    values[name] === undefined ? [] : [[name, Number(values[name])]],
  );
  const { only, folder, server, ab, workers = 'auto', quick = false } = values;
  // A part of it, or a quick run, must not pass for the numbers that documents cite.
  const write = values.write ?? (only === undefined && !quick);
  const load = loadTool(values.load);
  return { ...sizes, ...Object.fromEntries(numbers), load, folder, server, workers, ab, write, only: only?.split(',') };
}
