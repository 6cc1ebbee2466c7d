import { interleave, ratioOf } from '../measure/interleave.mjs';

export const hotCounter = {
  key: 'd',
  title: 'One counter that everybody adds to, each time under a new mutation_id, 64 connections',
  run,
};

async function run(bench) {
  const service = await bench.service('auto');
  const { tokens, counter, points } = await bench.campaign(service);
  const increments = (target) => {
    const request = { kind: 'increment', path: '/v1/runtime/state:mutate', headers: {}, tokens, target };
    return bench.load(service, { request, expect: [200] });
  };
  const { pgbench, hot, own } = await interleave(bench.options.rounds, {
    pgbench: () => bench.pgbench('hot-counter.sql'),
    hot: () => increments(counter),
    own: () => increments(points),
  });
  const unit = 'mutations/s';
  return [
    { what: 'pgbench, 64 clients: update of one jsonb row, insert of an id', unit, ...pgbench },
    { what: 'ours, one counter', unit, ...hot, ratio: ratioOf(hot, pgbench), atLeast: 5 },
    { what: 'ours, a counter each', unit, ...own },
  ];
}
