import { interleave, ratioOf } from '../measure/interleave.mjs';

export const hotCounter = {
  key: 'd',
  title: 'One counter that everybody adds to, each time under a new mutation_id, 64 connections',
  run,
};

async function run(bench) {
  const service = await bench.service('auto');
  const campaign = await bench.campaign(service);
  const increments = (variable) => bench.load(service, incrementLoad(campaign, variable));
  const { pgbench, hot, own } = await interleave(bench.options.rounds, {
    pgbench: () => bench.pgbench('hot-counter.sql'),
    hot: () => increments('counter'),
    own: () => increments('points'),
  });
  const unit = 'mutations/s';
  return [
    { what: 'pgbench, 64 clients: update of one jsonb row, insert of an id', unit, ...pgbench },
    { what: 'ours, one counter', unit, ...hot, ratio: ratioOf(hot, pgbench), atLeast: 7 },
    { what: 'ours, a counter each', unit, ...own },
  ];
}

/** The load of increments: of one counter, or of `points`, which each participant has. */
export function incrementLoad({ tokens, ...variables }, variable) {
  const target = variables[variable];
  const request = { kind: 'increment', path: '/v1/runtime/state:mutate', headers: {}, tokens, target };
  return { request, expect: [200] };
}
