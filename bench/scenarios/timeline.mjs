import { interleave, ratioOf } from '../measure/interleave.mjs';

export const timeline = {
  key: 'f',
  title: 'Timeline of a customer with 51,000 events, pages of 50, 8 connections',
  run,
};

const EVENTS = 51_000;
const BATCH = 1_000;
const CONNECTIONS = 8;
/** The widest page there is: 999 pages of 50 rows are walked over by 250 such pages but for 50 rows. */
const WIDE = 200;
const PAGE = 50;
const LATE_PAGE = 1_000;
/** Of a page: the service and PostgreSQL together. */
const CPU_MS_MAX = 2;

async function run(bench) {
  const service = await bench.service('auto');
  const path = await timelineOf(service);
  const cursor = await cursorBefore(service, path, (LATE_PAGE - 1) * PAGE);
  const { authorization: headers } = service;
  const pageAt = (query) => () =>
    bench.load(service, {
      request: { kind: 'fixed', path: `${path}?limit=${PAGE}${query}`, headers },
      expect: [200],
      connections: CONNECTIONS,
    });
  const { first, late } = await interleave(bench.options.rounds, {
    first: pageAt(''),
    late: pageAt(`&cursor=${cursor}`),
  });
  return [
    { what: 'ours, page 1', unit: 'pages/s', ...first, cpuMsMax: CPU_MS_MAX },
    { what: `ours, page ${LATE_PAGE}`, unit: 'pages/s', ...late, ratio: ratioOf(late, first), atLeast: 0.9 },
  ];
}

async function timelineOf(service) {
  const identity = { type: 'EXTERNAL', value: 'customer-with-a-long-history' };
  for (let from = 0; from < EVENTS; from += BATCH) {
    const items = Array.from({ length: BATCH }, (_, index) => ({
      source: 'shop.orders',
      external_event_id: `history-${from + index}`,
      type: 'order.paid',
      identity,
      occurred_at: new Date(1_700_000_000_000 + (from + index) * 1_000).toISOString(),
    }));
    await service.call('/v1/external-events:batch', { items });
  }
  const profile = await service.call('/v1/cdp/profiles:lookup', identity);
  return `/v1/cdp/profiles/${profile.id}/events`;
}

async function cursorBefore(service, path, rows) {
  let cursor;
  for (let walked = 0; walked < rows; walked += WIDE) {
    const limit = Math.min(WIDE, rows - walked);
    const page = await service.call(`${path}?limit=${limit}${cursor === undefined ? '' : `&cursor=${cursor}`}`);
    cursor = encodeURIComponent(page.nextCursor);
  }
  return cursor;
}
