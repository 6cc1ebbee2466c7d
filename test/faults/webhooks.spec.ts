import { Client } from '../support/client';
import { anExternalEvent } from '../support/builders';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { startServiceProcess } from '../support/service-process';
import { until } from '../support/until';
import { aWebhook, startReceiver } from '../support/webhooks';

const CUSTOMERS = 12;
const EVENTS_PER_CUSTOMER = 15;
const KILLS = 3;
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
