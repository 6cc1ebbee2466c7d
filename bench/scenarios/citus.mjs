import { interleave, ratioOf } from '../measure/interleave.mjs';
import { citusServer } from '../stage/citus-server.mjs';
import { addWorkspaces, startService } from '../stage/service.mjs';
import { batchLoad } from './batches.mjs';
import { newEvents } from './single-events.mjs';

const DATABASE = 'bench_citus';
const WORKSPACES = 16;

/** By their names: the load of a service, and the least share of the rate on one PostgreSQL. */
const CASES = {
  'batches of 200, one workspace': { load: (service) => batchLoad(service, 200), events: 200, atLeast: 0.8 },
  'single events, one workspace': { load: (service) => newEvents(service), events: 1, atLeast: 0.7 },
  'single events, 16 workspaces': { load: ofWorkspaces, events: 1, atLeast: 0.3 },
};

export const citus = {
  key: 'citus',
  title: 'The Citus cluster at TEST_CITUS_URL beside one PostgreSQL, a process per core',
  isOnRequest: true,
  run,
};

async function run(bench) {
  const cluster = await citusServer(bench.server.pid);
  await cluster.createDatabase(DATABASE);
  const services = {
    plain: await bench.service('plain_beside_citus'),
    distributed: await startService(cluster, DATABASE, { WORKERS: 'auto' }),
  };
  try {
    for (const service of Object.values(services)) service.keys = await addWorkspaces(service, WORKSPACES);
    const rows = [];
    for (const [name, { load, events, atLeast }] of Object.entries(CASES)) {
      const measured = await interleave(bench.options.rounds, {
        plain: () => bench.load(services.plain, load(services.plain)),
        distributed: () => bench.load(services.distributed, load(services.distributed)),
      });
      const rowOf = (where, { rate, p50, p95, p99 }) => ({
        what: `${name}, ${where}`,
        unit: 'events/s',
        rate: rate * events,
        p50,
        p95,
        p99,
      });
      const ratio = ratioOf(measured.distributed, measured.plain);
      rows.push(rowOf('one PostgreSQL', measured.plain), {
        ...rowOf('distributed', measured.distributed),
        ratio,
        atLeast,
      });
    }
    return rows;
  } finally {
    await services.distributed.stop();
  }
}

function ofWorkspaces({ keys }) {
  return { request: { kind: 'event', path: '/v1/external-events', headers: {}, tokens: keys }, expect: [202] };
}
