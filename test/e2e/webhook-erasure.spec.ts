import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Client } from '../support/client';
import { rowsOf, withClient } from '../support/database';
import { until } from '../support/until';
import { aWebhook, makeDue, startReceiver, type Receiver } from '../support/webhooks';

/** Longer than the dispatcher waits for any lock. */
const HELD_SECONDS = 5;

let service: SharedApp;
let receiver: Receiver;
let other: Receiver;
let client: Client;
let otherClient: Client;
let tenantId: string;

beforeAll(async () => {
  service = await sharedApp({ processesEvents: true });
});
beforeEach(async () => {
  [receiver, other] = await Promise.all([startReceiver(), startReceiver()]);
  const [workspace, otherWorkspace] = await Promise.all([aWorkspace(service), aWorkspace(service)]);
  ({ admin: client, tenantId } = workspace);
  otherClient = otherWorkspace.admin;
});
afterEach(() => Promise.all([receiver.stop(), other.stop()]));

async function send(to: Client, n: number): Promise<void> {
  const event = anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' }, attributes: { n } });
  expect((await to.post('/v1/external-events', event)).status).toBe(202);
}

const deliveriesOf = async (of: Client, id: string): Promise<any[]> =>
  (await of.get(`/v1/webhooks/${id}/deliveries`)).body.items;

/**
 * Begins to erase the only customer, and runs `work` while its last transaction holds the profile and waits: an
 * identifier, which it deletes, is locked.
 */
const whileErasing = (work: () => Promise<void>): Promise<void> =>
  withClient(service.databaseUrl, async (holder) => {
    const [profile] = (await client.get('/v1/cdp/profiles')).body.items;
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM profile_identifiers WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
    const erased = client.post(`/v1/cdp/profiles/${profile.id}:erase`, {});
    const free = 'SELECT 1 FROM profiles WHERE tenant_id = $1 FOR KEY SHARE SKIP LOCKED';
    const isHeld = async () => (await rowsOf(service.databaseUrl, free, [tenantId])).length === 0;
    await until(isHeld);
    await work();
    expect(await isHeld()).toBe(true);
    await holder.query('COMMIT');
    expect((await erased).status).toBe(200);
  });

it('sends to others, and ends deliveries of the person, while the last transaction of an erasure holds a customer', async () => {
  const { id } = await aWebhook(client, receiver.url);
  const { id: otherId } = await aWebhook(otherClient, other.url);
  receiver.answer(() => ({ status: 500 }));
  await send(client, 1);
  await until(async () => (await deliveriesOf(client, id))[0]?.attemptCount === 1);
  await whileErasing(async () => {
    await makeDue(service.databaseUrl, id);
    for (const n of [1, 2]) {
      await send(otherClient, n);
      await until(() => other.calls.length === n, HELD_SECONDS);
    }
    const isOver = async (of: Client, webhookId: string, state: string): Promise<boolean> =>
      (await deliveriesOf(of, webhookId)).every((delivery) => delivery.state === state);
    await until(() => isOver(otherClient, otherId, 'delivered'), HELD_SECONDS);
    await until(() => isOver(client, id, 'failed'), HELD_SECONDS);
  });
  expect(receiver.calls).toHaveLength(1);
  expect((await deliveriesOf(client, id))[0]).toMatchObject({ reason: 'profile_erased', attemptCount: 1 });
});
