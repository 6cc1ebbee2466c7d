import { openArena, type Arena } from './arena/arena';
import { AGENT } from './arena/exchange';
import { run, tableOf, type Experiment, type Finding } from './arena/experiment';
import * as faults from './arena/faults';
import { randomOf } from './arena/random';
import { smallDisk } from './arena/small-disk';

/**
 * Short here, so that every run of the tests has seen each fault; `npm run test:faults` runs the same for long, as
 * `FAULT_SERVICE_KILLS`, `FAULT_POSTGRES_KILLS`, `FAULT_FULL_DISKS`, `FAULT_TIMES` (of every other fault) and `FAULT_SEED`
 * say.
 */
const number = (variable: string, fallback: number): number => Number(process.env[variable] ?? fallback);
const SERVICE_KILLS = number('FAULT_SERVICE_KILLS', 0);
const POSTGRES_KILLS = number('FAULT_POSTGRES_KILLS', 0);
const TIMES = number('FAULT_TIMES', 0);
const DISKS = number('FAULT_FULL_DISKS', 0);
const SEED = number('FAULT_SEED', Math.floor(Math.random() * 1e9));
/** Generous: a kill and a start take some two seconds, an experiment some ten. */
const LIMIT_MS = 120_000 + 20_000 * (SERVICE_KILLS + POSTGRES_KILLS + 9 * TIMES + DISKS);

const EACH_BY_ITSELF: readonly Experiment[] = [
  { what: 'kill -9 of a service process', fault: faults.killService, times: SERVICE_KILLS },
  { what: 'kill -9 of PostgreSQL', fault: faults.killPostgres, times: POSTGRES_KILLS },
  { what: 'every session ended each 200 ms', fault: faults.terminateBackends, times: TIMES },
  { what: 'no connection left for us', fault: faults.takeAllConnections, times: TIMES },
  { what: 'rows locked by a stranger', fault: faults.holdLocks, times: TIMES },
  { what: 'client connections cut', fault: faults.cutRequests, times: TIMES },
  { what: 'COMMITs cut', fault: faults.cutCommits, times: TIMES },
  { what: 'PostgreSQL slow, then cut off', fault: faults.stallDatabase, times: TIMES },
];

const EACH_ONCE: Experiment = {
  what: 'each of eight faults once',
  fault: faults.inTurn(...EACH_BY_ITSELF.map(({ fault }) => fault)),
  times: 1,
};
const ASKED_FOR = EACH_BY_ITSELF.filter(({ times }) => times > 0);
const EXPERIMENTS = ASKED_FOR.length + DISKS > 0 ? ASKED_FOR : [EACH_ONCE];

const random = randomOf(SEED);
const findings: Finding[] = [];
let arena: Arena;

/** What the nodes have written, where somebody has to find out why. */
function tellOf({ nodes }: Arena): void {
  for (const node of nodes) process.stderr.write(`Node ${node.state()}:\n${node.output()}\n`);
}

async function expectNothingLost(where: Arena, experiment: Experiment): Promise<void> {
  const finding = await run(where, random, experiment).catch((error: unknown) => {
    tellOf(where);
    throw error;
  });
  findings.push(finding);
  if (finding.violations.length > 0) tellOf(where);
  expect(finding.violations.slice(0, 20)).toEqual([]);
  // Or the experiment would have shown nothing.
  expect(finding.tally['accepted']).toBeGreaterThan(0);
  expect(finding.tally['mutations']).toBeGreaterThan(0);
  expect(finding.faults).toBeGreaterThan(0);
}

beforeAll(async () => {
  arena = await openArena(random);
}, LIMIT_MS);

afterAll(async () => {
  await arena.close();
  AGENT.destroy();
  process.stdout.write(`Seed ${SEED}.\n${tableOf(findings)}\n`);
}, LIMIT_MS);

describe('two service processes and their PostgreSQL, under load', () => {
  it.each(EXPERIMENTS)(
    'lose nothing and do nothing twice: $what',
    (experiment) => expectNothingLost(arena, experiment),
    LIMIT_MS,
  );

  const disk = DISKS > 0 ? smallDisk() : undefined;
  (disk === undefined ? it.skip : it)(
    'lose nothing and do nothing twice: a full disk',
    async () => {
      const small = await openArena(random, disk!.folder);
      try {
        await expectNothingLost(small, { what: 'a full disk under PostgreSQL', fault: faults.fillDisk, times: DISKS });
      } finally {
        await small.close();
        disk!.remove();
      }
    },
    LIMIT_MS,
  );
});
