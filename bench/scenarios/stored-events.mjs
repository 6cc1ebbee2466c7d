import { interleave, ratioOf } from '../measure/interleave.mjs';
import { fillEvents } from '../stage/fill-events.mjs';
import { startService } from '../stage/service.mjs';
import { batchLoad } from './batches.mjs';
import { newEvents } from './single-events.mjs';

export const storedEvents = {
  key: 'h',
  title: 'New events where millions are stored, beside an empty database',
  run,
};

const BATCH = 1_000;
/** As long as so many measurements: enough for batches to touch nearly every page of the indexes. */
const TOUCHING = 6;

async function run(bench) {
  const { stored } = bench.options;
  const services = {
    empty: await bench.service('empty'),
    full: await bench.service('full', undefined, prepare(stored)),
  };
  await bench.server.checkpoint();
  const atFirst = await compare(bench, services);
  // The first change of a page after a checkpoint writes the whole page to the WAL. Event ids are random, so that is nearly
  // every insert at first, and hardly any once each page was touched. Checkpoints are 15 minutes apart.
  for (const service of Object.values(services)) await touchPages(bench, service);
  const later = await compare(bench, services);
  const [{ count }] = (await bench.server.query('bench_full', 'SELECT count(*)::int FROM events')).rows;
  await bench.stopService('full');
  await bench.stopService('empty');
  const what = `ours, ${stored} of ${stored / 10} customers stored`;
  const unit = 'events/s';
  return [
    { what: 'ours, empty at the start, behind a checkpoint', unit, ...atFirst.empty },
    { what: `${what}, behind a checkpoint`, unit, ...atFirst.full, ratio: ratioOf(atFirst.full, atFirst.empty) },
    { what: 'ours, empty at the start, after a while', unit, ...later.empty },
    {
      what: `${what}, after a while (${count} at the end)`,
      unit,
      ...later.full,
      ratio: ratioOf(later.full, later.empty),
      atLeast: 0.9,
    },
  ];
}

function compare(bench, services) {
  return interleave(bench.options.rounds, {
    empty: () => bench.load(services.empty, newEvents(services.empty)),
    full: () => bench.load(services.full, newEvents(services.full)),
  });
}

function touchPages(bench, service) {
  return bench.load(service, { ...batchLoad(service, BATCH), seconds: TOUCHING * bench.options.seconds });
}

/** The service itself makes the schema and the workspace, then goes away while the rows are put in. */
function prepare(stored) {
  return async (server, database, environment) => {
    await (await startService(server, database, environment)).stop();
    await fillEvents(server, database, stored);
  };
}
