import { copyFile, runCopy } from '../baselines/copy.mjs';
import { interleave, ratioOf } from '../measure/interleave.mjs';

export const batches = {
  key: 'b',
  title: 'Batches, 8 connections; COPY of the same rows by one connection into a table with one index',
  run,
};

const CONNECTIONS = 8;
const SIZES = [200, 1_000];
const CASES = SIZES.flatMap((items) => [
  { items, customers: 'known', atLeast: 0.3 },
  { items, customers: 'new', atLeast: 0.18 },
]);

async function run(bench) {
  const service = await bench.service('auto');
  const rows = await copyFile(bench.options.copyRows);
  const nameOf = ({ items, customers }) => `${items} ${customers}`;
  const ours = Object.fromEntries(CASES.map((each) => [nameOf(each), () => loadBatches(bench, service, each)]));
  const measured = await interleave(bench.options.rounds, { copy: () => runCopy(bench.baseline, rows), ...ours });
  rows.remove();
  const unit = 'events/s';
  return [
    { what: 'COPY', unit, ...measured.copy },
    ...CASES.map((each) => {
      const batch = measured[nameOf(each)];
      return {
        what: `ours, ${each.items} events a request, ${each.customers} customers`,
        unit,
        ...batch,
        ratio: ratioOf(batch, measured.copy),
        atLeast: each.atLeast,
      };
    }),
  ];
}

/** The load of batches of new events. `customers`: see `load/requests.mjs`. */
export function batchLoad({ authorization: headers }, items, customers = 'known') {
  const request = { kind: 'batch', path: '/v1/external-events:batch', headers, items, customers };
  return { request, expect: [200], connections: CONNECTIONS };
}

async function loadBatches(bench, service, { items, customers }) {
  const measured = await bench.load(service, batchLoad(service, items, customers));
  const cpu = Object.fromEntries(Object.entries(measured.cpu).map(([who, us]) => [who, us / items]));
  return { ...measured, rate: measured.rate * items, cpu };
}
