import { interleave, ratioOf } from '../measure/interleave.mjs';

export const singleEvents = {
  key: 'a',
  title: 'Single events, 64 connections, a process per core; pgbench: 64 clients, a deduplicated row a transaction',
  run,
};

async function run(bench) {
  const service = await bench.service('auto');
  const { known, fresh, pgbench } = await interleave(bench.options.rounds, {
    pgbench: () => bench.pgbench('insert.sql'),
    known: () => bench.load(service, newEvents(service)),
    fresh: () => bench.load(service, newEvents(service, 'new')),
  });
  return [
    { what: 'pgbench, one row a transaction', unit: 'events/s', ...pgbench },
    {
      what: 'ours, one event a request, known customers',
      unit: 'events/s',
      ...known,
      ratio: ratioOf(known, pgbench),
      atLeast: 0.85,
      p99Max: 25,
    },
    {
      what: 'ours, a new customer each time',
      unit: 'events/s',
      ...fresh,
      ratio: ratioOf(fresh, pgbench),
      atLeast: 0.65,
      p99Max: 25,
    },
  ];
}

/** The load of new events, one a request. `customers`: see `load/requests.mjs`. */
export function newEvents({ authorization: headers }, customers = 'known') {
  return { request: { kind: 'event', path: '/v1/external-events', headers, customers }, expect: [202] };
}
