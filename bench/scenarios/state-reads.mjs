import { interleave, ratioOf } from '../measure/interleave.mjs';

export const stateReads = {
  key: 'e',
  title: 'State reads of 500 participants, 64 connections; pgbench: inserts as in (a)',
  run,
};

async function run(bench) {
  const service = await bench.service('auto');
  const { tokens } = await bench.campaign(service);
  const request = { kind: 'cycle', paths: tokens.map(() => '/v1/runtime/state'), headers: {}, tokens };
  const { pgbench, ours } = await interleave(bench.options.rounds, {
    pgbench: () => bench.pgbench('insert.sql'),
    ours: () => bench.load(service, { request, expect: [200] }),
  });
  return [
    { what: 'pgbench, inserts', unit: 'rows/s', ...pgbench },
    { what: 'ours, state reads', unit: 'reads/s', ...ours, ratio: ratioOf(ours, pgbench), atLeast: 0.7 },
  ];
}
