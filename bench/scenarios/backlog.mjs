import { startService } from '../stage/service.mjs';
import { eventText } from '../load/requests.mjs';
import { newEvents } from './single-events.mjs';

export const backlog = {
  key: 'k',
  title: 'A backlog of 100,000 events that a worker works off, each adding to a counter, while new events come in',
  run,
};

const EVENTS = 100_000;
const BATCH = 1_000;

/** The rate of new events alone, then beside the worker, then alone again: what the worker takes from it is to be a third at most. */
async function run(bench) {
  const service = await bench.service('backlog', { ROLE: 'api', WORKERS: 'auto' });
  await bench.campaign(service);
  const ops = [{ path: 'state.campaign.counter', op: 'inc', value: 1 }];
  const reaction = { name: 'count-orders', eventType: 'order.paid', ops };
  await service.call('/v1/campaigns/bench/reactions:define', reaction);
  await fill(service);
  const before = await bench.load(service, newEvents(service));
  const worker = await startService(bench.server, service.database, { ROLE: 'worker' });
  const processed = await processedOf(bench, service);
  const began = performance.now();
  const beside = await bench.load(service, newEvents(service));
  const drained = (await processedOf(bench, service)) - processed;
  const seconds = (performance.now() - began) / 1_000;
  await worker.stop();
  const after = await bench.load(service, newEvents(service));
  const { queued } = await service.call('/v1/processing/summary');
  if (queued === 0) throw new Error('The worker was done before the measurement was.');
  const alone = { ...before, rate: (before.rate + after.rate) / 2 };
  return [
    { what: 'new events alone', unit: 'events/s', ...alone },
    {
      what: 'new events beside the worker',
      unit: 'events/s',
      ...beside,
      ratio: beside.rate / alone.rate,
      atLeast: 0.67,
    },
    { what: 'worked off meanwhile', unit: 'events/s', rate: drained / seconds },
  ];
}

async function fill(service) {
  for (let from = 0; from < EVENTS; from += BATCH) {
    const items = Array.from({ length: BATCH }, (_, index) => JSON.parse(eventText('backlog', from + index)));
    await service.call('/v1/external-events:batch', { items });
  }
}

async function processedOf(bench, { database }) {
  const { rows } = await bench.server.query(database, 'SELECT count(*)::int AS processed FROM event_processing');
  return rows[0].processed;
}
