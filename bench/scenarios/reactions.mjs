export const reactions = {
  key: 'g',
  title: 'Reactions: events drained from the queue, each adding to a counter',
  run,
};

const EVENTS = 20_000;
const BATCH = 1_000;
const PATIENCE_MS = 120_000;
const LOOK_AGAIN_MS = 100;
const DEFINE = '/v1/campaigns/{campaign_id}/reactions:define';

/** Runs once the service has reactions. */
async function run(bench) {
  const service = await bench.service('auto');
  const { paths } = await service.call('/docs-json');
  if (paths[DEFINE] === undefined) return [];
  await bench.campaign(service);
  const { eventText } = await import('../load/requests.mjs');
  const ops = [{ path: 'state.campaign.counter', op: 'inc', value: 1 }];
  const eventType = 'order.drained';
  await service.call(DEFINE.replace('{campaign_id}', 'bench'), { name: 'count-orders', eventType, ops });
  await untilDrained(service);
  const began = performance.now();
  for (let from = 0; from < EVENTS; from += BATCH) {
    const items = Array.from({ length: BATCH }, (_, index) =>
      JSON.parse(eventText(`drain-${process.pid}`, from + index)),
    );
    await service.call('/v1/external-events:batch', { items: items.map((item) => ({ ...item, type: eventType })) });
  }
  await untilDrained(service);
  const rate = EVENTS / ((performance.now() - began) / 1_000);
  return [{ what: 'ours, sent in batches and worked off', unit: 'events/s', rate }];
}

async function untilDrained(service) {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until;) {
    const { queued } = await service.call('/v1/processing/summary');
    if (queued === 0) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  throw new Error('The queue was not worked off.');
}
