import { Client } from '../support/client';
import { anExternalEvent } from '../support/builders';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { startServiceProcess } from '../support/service-process';
import { until } from '../support/until';
import { aWebhook, replayOnce, startReceiver, startReplay } from '../support/webhooks';

const CUSTOMERS = 12;
const EVENTS_PER_CUSTOMER = 15;
const KILLS = 3;
const REPLAYED_PER_CUSTOMER = 75;
/** The numbers of live events. */
const LIVE_FROM = 1_000;
const MS_MAX = 240_000;

it(
  `loses nothing and keeps the order of each customer over ${KILLS} kills of a service that is sending`,
  async () => {
    const environment = {
      ...{ DATABASE_URL: await freshDatabaseUrl('webhooks'), SECRETS_KEY: 'webhooks-'.padEnd(40, 'x') },
      ...{ WEBHOOKS_ALLOW_PRIVATE: 'true', BOOTSTRAP_ADMIN_KEY: 'webhooks-admin-'.padEnd(40, 'x') },
    };
    const receiver = await startReceiver();
    let service = await startServiceProcess(environment);
    const { id } = await aWebhook(new Client(service.url, service.adminKey), receiver.url);
    for (let round = 0; round < KILLS; round += 1) {
      const admin = new Client(service.url, service.adminKey);
      const items = Array.from({ length: CUSTOMERS * EVENTS_PER_CUSTOMER }, (_unused, index) =>
        anExternalEvent({
          identity: { type: 'EXTERNAL', value: `customer-${index % CUSTOMERS}` },
          attributes: { n: round * EVENTS_PER_CUSTOMER + Math.floor(index / CUSTOMERS), who: index % CUSTOMERS },
        }),
      );
      const before = receiver.calls.length;
      const { body } = await admin.post('/v1/external-events:batch', { items });
      expect(body.results.every(({ status }: { status: string }) => status === 'accepted')).toBe(true);
      await until(() => receiver.calls.length >= before + CUSTOMERS * 3, 60);
      await service.kill();
      // As 30 seconds would: the claims of the killed process run out.
      await rowsOf(environment.DATABASE_URL, 'UPDATE webhook_queues SET due_at = now() WHERE endpoint_id = $1', [id]);
      service = await startServiceProcess(environment);
    }
    const total = KILLS * EVENTS_PER_CUSTOMER;
    await until(
      () => new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size === CUSTOMERS * total,
      120,
    );
    for (let who = 0; who < CUSTOMERS; who += 1) {
      const own = receiver.calls.map(({ body }) => body.data.properties).filter((each) => each.who === who);
      // A repetition is one of the call before it: no later event came between.
      const numbers = own.map(({ n }) => n).filter((n, index, all) => n !== all[index - 1]);
      expect(numbers).toEqual(Array.from({ length: total }, (_unused, n) => n));
    }
    await service.stop();
    await receiver.stop();
  },
  MS_MAX,
);

it(
  `replays every event in order for each customer over ${KILLS} kills of a worker, beside live events`,
  async () => {
    const environment = {
      ...{ DATABASE_URL: await freshDatabaseUrl('webhook_replays'), SECRETS_KEY: 'webhooks-'.padEnd(40, 'x') },
      ...{ WEBHOOKS_ALLOW_PRIVATE: 'true', BOOTSTRAP_ADMIN_KEY: 'webhooks-admin-'.padEnd(40, 'x') },
    };
    const receiver = await startReceiver();
    const api = await startServiceProcess({ ...environment, ROLE: 'api' });
    let worker = await startServiceProcess({ ...environment, ROLE: 'worker' });
    const admin = new Client(api.url, api.adminKey);
    const send = async (from: number, count: number): Promise<void> => {
      const items = Array.from({ length: CUSTOMERS * count }, (_unused, index) =>
        anExternalEvent({
          identity: { type: 'EXTERNAL', value: `customer-${index % CUSTOMERS}` },
          attributes: { n: from + Math.floor(index / CUSTOMERS), who: index % CUSTOMERS },
          occurred_at: new Date(1_700_000_000_000 + from * 1_000 + index).toISOString(),
        }),
      );
      const { body } = await admin.post('/v1/external-events:batch', { items });
      expect(body.results.every(({ status }: { status: string }) => status === 'accepted')).toBe(true);
    };
    await send(0, REPLAYED_PER_CUSTOMER);
    const { id } = await aWebhook(admin, receiver.url);
    const path = await startReplay(admin, id);
    const progress = async (): Promise<any> => (await admin.get(path)).body;
    const replayed = CUSTOMERS * REPLAYED_PER_CUSTOMER;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await until(async () => (await progress()).queued >= (replayed * kill) / (KILLS + 2), 60);
      await worker.kill();
      expect(await progress()).toMatchObject({ state: 'running' });
      // As 30 seconds would: the claims of the killed process run out.
      await rowsOf(environment.DATABASE_URL, 'UPDATE webhook_queues SET due_at = now() WHERE endpoint_id = $1', [id]);
      worker = await startServiceProcess({ ...environment, ROLE: 'worker' });
      await send(LIVE_FROM * kill, 2);
    }
    expect(await replayOnce(() => admin, path, 120)).toMatchObject({
      ...{ state: 'done', total: replayed, scanned: replayed, queued: replayed },
      ...{ alreadyQueued: 0, skipped: 0, failed: 0, expired: 0 },
    });
    const total = replayed + CUSTOMERS * 2 * KILLS;
    await until(() => new Set(receiver.calls.map(({ headers }) => headers['webhook-id'])).size === total, 120);
    for (let who = 0; who < CUSTOMERS; who += 1) {
      const own = receiver.calls.map(({ body }) => body.data.properties).filter((each) => each.who === who);
      const numbers = own.map(({ n }) => n).filter((n, index, all) => n !== all[index - 1]);
      // The replayed ones and the live ones have their order each, and nothing came twice but a lost answer.
      const expected = Array.from({ length: REPLAYED_PER_CUSTOMER }, (_unused, n) => n);
      expect(numbers.filter((n) => n < LIVE_FROM)).toEqual(expected);
      expect(numbers.filter((n) => n >= LIVE_FROM)).toHaveLength(2 * KILLS);
      expect(numbers.filter((n) => n >= LIVE_FROM)).toEqual(
        numbers.filter((n) => n >= LIVE_FROM).toSorted((a, b) => a - b),
      );
    }
    await Promise.all([api.stop(), worker.stop(), receiver.stop()]);
  },
  MS_MAX,
);
