import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuMeter } from '../measure/cpu.mjs';
import { interleave, ratioOf } from '../measure/interleave.mjs';
import { percentilesOf } from '../measure/percentiles.mjs';
import { newEvents } from './single-events.mjs';

export const webhooks = {
  key: 'webhooks',
  title: 'Webhooks: ten endpoints, one of which never answers; from the answer to an event to its arrival at the nine',
  run,
};

const WORKING = 9;
/** What the endpoints get; the load on ingest is of another type. */
const EVENT_TYPE = 'order.shipped';
/** Events a second that are sent to all endpoints: while nothing else happens, and beside the load on ingest. */
const ALONE_PER_SECOND = 20;
const BESIDE_PER_SECOND = 5;
/** More than are sent: no event waits for an earlier one of its customer. */
const CUSTOMERS = 100_000;
const PATIENCE_MS = 60_000;

async function run(bench) {
  const receiver = await startReceiver();
  try {
    const plain = await bench.service('auto');
    const environment = { WORKERS: 'auto', WEBHOOKS_ALLOW_PRIVATE: 'true' };
    const service = await bench.service('webhooks', environment);
    await subscribe(service, receiver);
    const alone = await deliver(bench, service, receiver, { perSecond: ALONE_PER_SECOND });
    const beside = [];
    const measured = await interleave(bench.options.rounds, {
      without: () => bench.load(plain, newEvents(plain)),
      with: () => ingestBeside(bench, service, receiver, beside),
    });
    const rows = [
      { what: 'without webhooks, one event a request', unit: 'events/s', ...measured.without },
      {
        what: `beside ${BESIDE_PER_SECOND} events/s to ten endpoints, one dead`,
        ...{ unit: 'events/s', ...measured.with, ratio: ratioOf(measured.with, measured.without), atLeast: 0.95 },
      },
      {
        what: `arrival at nine of ten, ${ALONE_PER_SECOND} events/s and nothing else`,
        ...{ unit: 'deliveries/s', ...alone, p99Max: 1_000 },
      },
      {
        what: 'arrival at nine of ten, beside the load on ingest',
        ...{ unit: 'deliveries/s', rate: beside[0].rate, ...percentilesOf(beside.flatMap(({ waits }) => waits)) },
      },
    ];
    return rows;
  } finally {
    await receiver.stop();
  }
}

/** Load on ingest by events that no endpoint gets, and a few that all of them get. */
async function ingestBeside(bench, service, receiver, beside) {
  const load = { isOver: false };
  const delivering = deliver(bench, service, receiver, { perSecond: BESIDE_PER_SECOND, beside: load });
  const measured = await bench.load(service, newEvents(service));
  load.isOver = true;
  beside.push(await delivering);
  return measured;
}

/** Sends events at this rate, waits for all their deliveries, and answers how long each took from the event's answer. */
async function deliver({ options, server }, service, receiver, { perSecond, beside }) {
  const end = beside === undefined ? performance.now() + 2 * options.seconds * 1_000 : Number.POSITIVE_INFINITY;
  const acknowledged = new Map();
  const sending = [];
  const meter = cpuMeter({ service: service.pid, postgres: server.pid, load: process.pid });
  const began = performance.now();
  for (let at = 0; performance.now() < end && beside?.isOver !== true; at += 1) {
    sending.push(send(service, acknowledged));
    const due = began + ((at + 1) * 1_000) / perSecond;
    await pause(Math.max(0, due - performance.now()));
  }
  await Promise.all(sending);
  const seconds = (performance.now() - began) / 1_000;
  const waits = await receiver.waitsOf(acknowledged);
  const cpu = Object.fromEntries(Object.entries(meter()).map(([who, ms]) => [who, (ms * 1_000) / waits.length]));
  return { rate: waits.length / seconds, waits, cpu, ...percentilesOf(waits) };
}

let sent = 0;

async function send(service, acknowledged) {
  sent += 1;
  const { event_id: id } = await service.call('/v1/external-events', {
    ...{ source: 'shop.orders', external_event_id: `shipped-${process.pid}-${sent}`, type: EVENT_TYPE },
    ...{ occurred_at: '2026-01-05T10:00:00Z', attributes: { amount: 49.9, currency: 'EUR', items: 3 } },
    identity: { type: 'EXTERNAL', value: `shipped-customer-${sent % CUSTOMERS}` },
  });
  acknowledged.set(id, performance.now());
}

async function subscribe(service, { url }) {
  const paths = ['silent', ...Array.from({ length: WORKING }, (_, index) => `works/${index}`)];
  for (const path of paths) {
    await service.call('/v1/webhooks', { url: `${url}/${path}`, events: [{ eventType: EVENT_TYPE }] });
  }
}

/** Answers all calls but those to /silent, and notes when they came. */
async function startReceiver() {
  const arrivals = new Map();
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === '/silent') return;
    const id = request.headers['webhook-id'];
    arrivals.set(id, [...(arrivals.get(id) ?? []), performance.now()]);
    request.on('end', () => response.writeHead(204).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Milliseconds from the answer to arrival, of every delivery of these events; waits for the last one. */
    waitsOf: async (acknowledged) => {
      const isThere = (id) => (arrivals.get(id)?.length ?? 0) >= WORKING;
      for (const patience = performance.now() + PATIENCE_MS; ![...acknowledged.keys()].every(isThere);) {
        if (performance.now() > patience) throw new Error('Deliveries did not arrive.');
        await pause(100);
      }
      return [...acknowledged].flatMap(([id, at]) => arrivals.get(id).map((arrived) => Math.max(0, arrived - at)));
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
