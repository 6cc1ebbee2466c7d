import { residentMib } from '../measure/cpu.mjs';
import { batchLoad } from './batches.mjs';
import { newEvents } from './single-events.mjs';

export const memory = {
  key: 'memory',
  title: 'Resident memory of each process, behind full load by single events and by batches',
  run,
};

export const MEMORY_MIB_MAX = 250;
const BATCH = 200;

/** Behind the scenarios before it, in which these services had minutes of full load. */
async function run(bench) {
  const services = {
    'WORKERS=1': await bench.service('one', { WORKERS: '1' }),
    'WORKERS=auto': await bench.service('auto'),
  };
  const rows = [];
  for (const [name, service] of Object.entries(services)) {
    const { authorization: headers } = service;
    await bench.load(service, newEvents({ authorization: headers }));
    await bench.load(service, batchLoad({ authorization: headers }, BATCH));
    rows.push(...memoryOf(service).map(({ who, mib }) => ({ what: `${name}, ${who}`, figure: mib })));
  }
  return rows.map((row) => ({ ...row, digits: 0, unit: 'MiB', atMost: MEMORY_MIB_MAX }));
}

/** The resident memory of each process of a service, in MiB. */
export function memoryOf({ pid }) {
  const [first, ...workers] = residentMib(pid);
  const rest = workers.map((mib, index) => ({ who: `worker ${index + 1}`, mib }));
  return [{ who: workers.length === 0 ? 'the process' : 'the first process', mib: first }, ...rest];
}
