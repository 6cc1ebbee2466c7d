import { interleave, ratioOf } from '../measure/interleave.mjs';

export const stateReads = {
  key: 'e',
  title: 'State reads of 500 participants, 64 connections; pgbench: inserts as in (a)',
  run,
};

async function run(bench) {
  const service = await bench.service('auto');
  const reads = stateReadLoad(await bench.campaign(service));
  const { pgbench, ours } = await interleave(bench.options.rounds, {
    pgbench: () => bench.pgbench('insert.sql'),
    ours: () => bench.load(service, reads),
  });
  return [
    { what: 'pgbench, inserts', unit: 'rows/s', ...pgbench },
    { what: 'ours, state reads', unit: 'reads/s', ...ours, ratio: ratioOf(ours, pgbench), atLeast: 0.7 },
  ];
}

/** The load of reads of state by all participants in turn. */
export function stateReadLoad({ tokens }) {
  const request = { kind: 'cycle', paths: tokens.map(() => '/v1/runtime/state'), headers: {}, tokens };
  return { request, expect: [200] };
}
