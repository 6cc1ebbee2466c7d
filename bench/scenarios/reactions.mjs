import { cpuMeter } from '../measure/cpu.mjs';
import { interleave } from '../measure/interleave.mjs';
import { eventText } from '../load/requests.mjs';
import { startService } from '../stage/service.mjs';

export const reactions = {
  key: 'g',
  title: 'Reactions: a full queue is worked off, each event adds to a counter; no requests meanwhile',
  run,
};

const EVENTS = 40_000;
const BATCH = 1_000;
/** Events that are worked off before the measurement begins, and those that are left when it ends. */
const MARGIN = 4_000;
const PATIENCE_MS = 120_000;
const LOOK_AGAIN_MS = 50;
const DEFINE = '/v1/campaigns/{campaign_id}/reactions:define';
const CASES = {
  own: { eventType: 'order.own', path: 'state.user.points' },
  shared: { eventType: 'order.shared', path: 'state.campaign.counter' },
};

/** Fills the queue while no worker runs, then measures workers between two marks: filling it does not count. */
async function run(bench) {
  const service = await bench.service('queue', { ROLE: 'api', WORKERS: 'auto' });
  const { paths } = await service.call('/docs-json');
  if (paths[DEFINE] === undefined) return [];
  await bench.campaign(service);
  for (const { eventType, path } of Object.values(CASES)) {
    const reaction = { name: eventType, eventType, ops: [{ path, op: 'inc', value: 1 }] };
    await service.call(DEFINE.replace('{campaign_id}', 'bench'), reaction);
  }
  const { own, shared } = await interleave(bench.options.rounds, {
    own: (round) => drain(bench, service, CASES.own, round),
    shared: (round) => drain(bench, service, CASES.shared, round),
  });
  await bench.stopService('queue');
  const unit = 'events/s';
  return [
    { what: 'worked off, a counter of its own for each customer', unit, ...own, rateMin: 8_000 },
    { what: 'worked off, one counter that all share', unit, ...shared },
  ];
}

async function drain(bench, service, { eventType }, round) {
  await fill(service, eventType, round);
  await bench.server.checkpoint();
  const worker = await startService(bench.server, service.database, { ROLE: 'worker', WORKERS: 'auto' });
  await untilLeft(bench, service, EVENTS - MARGIN);
  const began = performance.now();
  const meter = cpuMeter({ service: worker.pid, postgres: bench.server.pid });
  const first = await leftIn(bench, service);
  const last = await untilLeft(bench, service, MARGIN);
  const cpuMs = Object.entries(meter());
  const seconds = (performance.now() - began) / 1_000;
  await untilLeft(bench, service, 0);
  await worker.stop();
  const drained = first - last;
  const cpu = Object.fromEntries(cpuMs.map(([who, ms]) => [who, (ms * 1_000) / drained]));
  return { rate: drained / seconds, cpu };
}

async function fill(service, eventType, round) {
  const prefix = `${eventType}-${process.pid}-${round}`;
  for (let from = 0; from < EVENTS; from += BATCH) {
    const items = Array.from({ length: BATCH }, (_, index) => JSON.parse(eventText(prefix, from + index)));
    await service.call('/v1/external-events:batch', { items: items.map((item) => ({ ...item, type: eventType })) });
  }
}

/** Returns how many are left as soon as these are at most so many. */
async function untilLeft(bench, service, most) {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until;) {
    const left = await leftIn(bench, service);
    if (left <= most) return left;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  throw new Error('The queue was not worked off.');
}

async function leftIn(bench, { database }) {
  const { rows } = await bench.server.query(database, 'SELECT count(*)::int AS entries FROM event_queue');
  return rows[0].entries;
}

/** How many events a second get their reaction on a running service, from the first one that is sent to the last effect. */
export async function drainReactions(bench, service) {
  await bench.campaign(service);
  const { eventType, path } = CASES.shared;
  const reaction = { name: eventType, eventType, ops: [{ path, op: 'inc', value: 1 }] };
  await service.call(DEFINE.replace('{campaign_id}', 'bench'), reaction);
  const began = performance.now();
  await fill(service, eventType, 'drained');
  await untilLeft(bench, service, 0);
  return { rate: EVENTS / ((performance.now() - began) / 1_000) };
}
