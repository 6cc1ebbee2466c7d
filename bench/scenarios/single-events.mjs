import { startBareServer } from '../baselines/bare.mjs';
import { interleave, ratioOf } from '../measure/interleave.mjs';

export const singleEvents = {
  key: 'a',
  title: 'Single events, 64 connections, a process per core; pgbench: 64 clients, a deduplicated row a transaction',
  run,
};

async function run(bench) {
  const service = await bench.service('auto');
  const bare = await startBareServer(bench.baseline);
  try {
    return rowsOf(
      await interleave(bench.options.rounds, {
        pgbench: () => bench.pgbench('insert.sql'),
        least: () => bench.load(bare, newEvents(bare)),
        known: () => bench.load(service, newEvents(service)),
        fresh: () => bench.load(service, newEvents(service, 'new')),
      }),
    );
  } finally {
    await bare.stop();
  }
}

function rowsOf({ pgbench, least, known, fresh }) {
  const row = (what, measured) => ({ what, unit: 'events/s', ...measured, ratio: ratioOf(measured, pgbench) });
  return [
    { what: 'pgbench, one row a transaction', unit: 'events/s', ...pgbench },
    row('a Node.js server that only inserts such rows, in batches', least),
    { ...row('ours, one event a request, known customers', known), atLeast: 0.85, p99Max: 25 },
    { ...row('ours, a new customer each time', fresh), atLeast: 0.65, p99Max: 25 },
  ];
}

/** The load of new events, one a request. `customers`: see `load/requests.mjs`. */
export function newEvents({ authorization: headers }, customers = 'known') {
  return { request: { kind: 'event', path: '/v1/external-events', headers, customers }, expect: [202] };
}
