import { copyFile, runCopy } from '../baselines/copy.mjs';
import { interleave, ratioOf } from '../measure/interleave.mjs';

export const batches = {
  key: 'b',
  title: 'Batches, 8 connections; COPY of the same rows by one connection into a table with one index',
  run,
};

const CONNECTIONS = 8;
const SIZES = [200, 1_000];

async function run(bench) {
  const service = await bench.service('auto');
  const rows = await copyFile(bench.options.copyRows);
  const ours = Object.fromEntries(SIZES.map((items) => [`batch${items}`, () => loadBatches(bench, service, items)]));
  const measured = await interleave(bench.options.rounds, { copy: () => runCopy(bench.baseline, rows), ...ours });
  rows.remove();
  const unit = 'events/s';
  return [
    { what: 'COPY', unit, ...measured.copy },
    ...SIZES.map((items) => {
      const batch = measured[`batch${items}`];
      return {
        what: `ours, ${items} events a request`,
        unit,
        ...batch,
        ratio: ratioOf(batch, measured.copy),
        atLeast: 0.2,
      };
    }),
  ];
}

/** The load of batches of new events. */
export function batchLoad({ authorization: headers }, items) {
  const request = { kind: 'batch', path: '/v1/external-events:batch', headers, items };
  return { request, expect: [200], connections: CONNECTIONS };
}

async function loadBatches(bench, service, items) {
  const measured = await bench.load(service, batchLoad(service, items));
  const cpu = Object.fromEntries(Object.entries(measured.cpu).map(([who, us]) => [who, us / items]));
  return { ...measured, rate: measured.rate * items, cpu };
}
