import { interleave, ratioOf } from '../measure/interleave.mjs';
import { fillEvents } from '../stage/fill-events.mjs';
import { startService } from '../stage/service.mjs';
import { newEvents } from './single-events.mjs';

export const storedEvents = {
  key: 'h',
  title: 'New events where millions are stored, beside an empty database',
  run,
};

async function run(bench) {
  const { stored, rounds } = bench.options;
  const services = {
    empty: await bench.service('empty'),
    full: await bench.service('full', undefined, prepare(stored)),
  };
  await bench.server.checkpoint();
  const { empty, full } = await interleave(rounds, {
    empty: () => bench.load(services.empty, newEvents(services.empty)),
    full: () => bench.load(services.full, newEvents(services.full)),
  });
  const [{ count }] = (await bench.server.query('bench_full', 'SELECT count(*)::int FROM events')).rows;
  await bench.stopService('full');
  await bench.stopService('empty');
  return [
    { what: 'ours, empty at the start', unit: 'events/s', ...empty },
    {
      what: `ours, ${stored} of ${stored / 10} customers stored (${count} at the end)`,
      unit: 'events/s',
      ...full,
      ratio: ratioOf(full, empty),
      atLeast: 0.9,
    },
  ];
}

/** The service itself makes the schema and the workspace, then goes away while the rows are put in. */
function prepare(stored) {
  return async (server, database, environment) => {
    await (await startService(server, database, environment)).stop();
    await fillEvents(server, database, stored);
  };
}
