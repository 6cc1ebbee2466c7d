import { interleave, ratioOf } from '../measure/interleave.mjs';
import { newEvents } from './single-events.mjs';

export const duplicates = {
  key: 'c',
  title: 'Duplicates: events that are stored already, 64 connections',
  run,
};

const KNOWN = 20_000;
const BATCH = 1_000;

async function run(bench) {
  const service = await bench.service('auto');
  const prefix = `known-${process.pid}`;
  await storeKnown(service, prefix);
  const { authorization: headers } = service;
  const again = { kind: 'knownEvent', path: '/v1/external-events', headers, prefix, count: KNOWN };
  const { duplicates, fresh } = await interleave(bench.options.rounds, {
    fresh: () => bench.load(service, newEvents(service)),
    duplicates: () => bench.load(service, { request: again, expect: [200] }),
  });
  return [
    { what: 'ours, new events', unit: 'events/s', ...fresh },
    { what: 'ours, duplicates', unit: 'events/s', ...duplicates, ratio: ratioOf(duplicates, fresh), atLeast: 1 },
  ];
}

async function storeKnown(service, prefix) {
  const { eventText } = await import('../load/requests.mjs');
  for (let from = 0; from < KNOWN; from += BATCH) {
    const items = Array.from({ length: BATCH }, (_, index) => JSON.parse(eventText(prefix, from + index)));
    await service.call('/v1/external-events:batch', { items });
  }
}
