import { interleave, ratioOf } from '../measure/interleave.mjs';

export const singleEvents = {
  key: 'a',
  title: 'Single events, 64 connections, a process per core; pgbench: 64 clients, a deduplicated row a transaction',
  run,
};

async function run(bench) {
  const service = await bench.service('auto');
  const { ours, pgbench } = await interleave(bench.options.rounds, {
    pgbench: () => bench.pgbench('insert.sql'),
    ours: () => bench.load(service, newEvents(service)),
  });
  return [
    { what: 'pgbench, one row a transaction', unit: 'events/s', ...pgbench },
    {
      what: 'ours, one event a request',
      unit: 'events/s',
      ...ours,
      ratio: ratioOf(ours, pgbench),
      atLeast: 0.7,
      p99Max: 40,
    },
  ];
}

/** The load of new events, one a request. */
export function newEvents({ authorization: headers }) {
  return { request: { kind: 'event', path: '/v1/external-events', headers }, expect: [202] };
}
