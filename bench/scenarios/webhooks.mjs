import { setTimeout as pause } from 'node:timers/promises';
import { cpuMeter } from '../measure/cpu.mjs';
import { interleave, ratioOf } from '../measure/interleave.mjs';
import { percentilesOf } from '../measure/percentiles.mjs';
import { startReceiver } from '../stage/webhook-receiver.mjs';
import { drainReactions } from './reactions.mjs';
import { newEvents } from './single-events.mjs';

export const webhooks = {
  key: 'webhooks',
  title: 'Webhooks: ten endpoints, one never answers; from the answer to an event to its arrival at the nine',
  run,
};

const WORKING = 9;
/** All endpoints get the one, nobody gets the other, and one endpoint gets the third. */
const TYPES = { subscribed: 'order.shipped', unsubscribed: 'order.packed', counted: 'order.counted' };
/** Events a second that are sent to all endpoints: while nothing else happens, and beside the load on ingest. */
const ALONE_PER_SECOND = 20;
const BESIDE_PER_SECOND = 5;
/** More than are sent: no event waits for an earlier one of its customer. */
const CUSTOMERS = 100_000;
/** Events that one endpoint gets as fast as it can, in batches, and whose they are. */
const COUNTED = 10_000;
const COUNTED_CUSTOMERS = 1_000;
const BATCH = 1_000;

async function run(bench) {
  const receiver = await startReceiver();
  try {
    // One service for everything: of two, the one that was started first is up to 8 % faster or slower.
    const service = await bench.service('webhooks', { WORKERS: 'auto', WEBHOOKS_ALLOW_PRIVATE: 'true' });
    await subscribe(service, receiver);
    // Both come first, so that the code of deliveries is as warm as that of ingest.
    const counted = await deliverAll(bench, service, receiver);
    const reacted = await drainReactions(bench, service);
    const alone = await deliver(bench, service, receiver, { perSecond: ALONE_PER_SECOND });
    const beside = [];
    const measured = await interleave(bench.options.rounds, {
      without: () => bench.load(service, newEvents(service)),
      unsubscribed: () => ingestBeside(bench, service, receiver, { type: TYPES.unsubscribed }),
      subscribed: () => ingestBeside(bench, service, receiver, { type: TYPES.subscribed, beside }),
    });
    return table({ counted, reacted, alone, beside, ...measured });
  } finally {
    await receiver.stop();
  }
}

function table({ counted, reacted, alone, beside, without, unsubscribed, subscribed }) {
  return [
    { what: 'one event a request and nothing else', unit: 'events/s', ...without },
    {
      what: `beside ${BESIDE_PER_SECOND} events/s that no endpoint gets`,
      unit: 'events/s',
      ...unsubscribed,
      ratio: ratioOf(unsubscribed, without),
    },
    {
      what: `beside ${BESIDE_PER_SECOND} events/s to ten endpoints, one dead`,
      unit: 'events/s',
      ...subscribed,
      ratio: ratioOf(subscribed, without),
    },
    {
      what: 'the same, compared with the row before it',
      unit: 'events/s',
      ...subscribed,
      ratio: ratioOf(subscribed, unsubscribed),
      atLeast: 0.95,
    },
    {
      what: `arrival at nine of ten, ${ALONE_PER_SECOND} events/s and nothing else`,
      unit: 'deliveries/s',
      ...alone,
      p99Max: 1_000,
    },
    {
      what: 'arrival at nine of ten, beside the load on ingest',
      unit: 'deliveries/s',
      rate: beside[0].rate,
      ...percentilesOf(beside.flatMap(({ waits }) => waits)),
      p99Max: 1_000,
    },
    { what: `events of ${COUNTED_CUSTOMERS} customers to one endpoint`, unit: 'deliveries/s', ...counted },
    { what: 'as many events, each with a reaction', unit: 'events/s', ...reacted },
  ];
}

/** Sends events in batches to one endpoint that answers at once. The rate is that of the slower of both. */
async function deliverAll({ server }, service, receiver) {
  await service.call('/v1/webhooks', { url: `${receiver.url}/counts`, events: [{ eventType: TYPES.counted }] });
  const meter = cpuMeter({ service: service.pid, postgres: server.pid, load: process.pid });
  const began = performance.now();
  const ids = [];
  for (let from = 0; from < COUNTED; from += BATCH) {
    const items = Array.from({ length: BATCH }, (_, index) => anEvent(TYPES.counted, from + index, COUNTED_CUSTOMERS));
    const { results } = await service.call('/v1/external-events:batch', { items });
    ids.push(...results.map(({ event_id: id }) => id));
  }
  await receiver.until(ids, 1);
  const rate = COUNTED / ((performance.now() - began) / 1_000);
  return { rate, cpu: perItem(meter(), COUNTED) };
}

/** Load on ingest by events that no endpoint gets, and a few that all of them get. */
async function ingestBeside(bench, service, receiver, { type, beside }) {
  const load = { isOver: false };
  const delivering = deliver(bench, service, receiver, { perSecond: BESIDE_PER_SECOND, beside: load, type });
  const measured = await bench.load(service, newEvents(service));
  load.isOver = true;
  const delivered = await delivering;
  beside?.push(delivered);
  return measured;
}

/** Sends events at this rate, waits for all their deliveries, and answers how long each took from the event's answer. */
async function deliver({ options, server }, service, receiver, { perSecond, beside, type = TYPES.subscribed }) {
  const end = beside === undefined ? performance.now() + 2 * options.seconds * 1_000 : Number.POSITIVE_INFINITY;
  const acknowledged = new Map();
  const sending = [];
  const meter = cpuMeter({ service: service.pid, postgres: server.pid, load: process.pid });
  const began = performance.now();
  for (let at = 0; performance.now() < end && beside?.isOver !== true; at += 1) {
    sending.push(send(service, acknowledged, type));
    const due = began + ((at + 1) * 1_000) / perSecond;
    await pause(Math.max(0, due - performance.now()));
  }
  await Promise.all(sending);
  const seconds = (performance.now() - began) / 1_000;
  const waits = await receiver.waitsOf(acknowledged, type === TYPES.subscribed ? WORKING : 0);
  return { rate: waits.length / seconds, waits, cpu: perItem(meter(), waits.length), ...percentilesOf(waits) };
}

/** Microseconds of CPU. */
function perItem(used, items) {
  return Object.fromEntries(Object.entries(used).map(([who, ms]) => [who, (ms * 1_000) / items]));
}

let sent = 0;

async function send(service, acknowledged, type) {
  sent += 1;
  const { event_id: id } = await service.call('/v1/external-events', anEvent(type, sent, CUSTOMERS));
  acknowledged.set(id, performance.now());
}

function anEvent(type, number, customers) {
  return {
    source: 'shop.orders',
    external_event_id: `${type}-${process.pid}-${number}`,
    type,
    occurred_at: '2026-01-05T10:00:00Z',
    attributes: { amount: 49.9, currency: 'EUR', items: 3 },
    identity: { type: 'EXTERNAL', value: `${type}-customer-${number % customers}` },
  };
}

async function subscribe(service, { url }) {
  const paths = ['silent', ...Array.from({ length: WORKING }, (_, index) => `works/${index}`)];
  for (const path of paths) {
    await service.call('/v1/webhooks', { url: `${url}/${path}`, events: [{ eventType: TYPES.subscribed }] });
  }
}
