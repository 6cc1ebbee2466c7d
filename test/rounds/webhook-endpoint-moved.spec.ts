import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Client, type Workspace } from '../support/client';
import { rowsOf, waitingForLocks, withClient } from '../support/database';
import { until } from '../support/until';
import { aWebhook, startReceiver, type Receiver } from '../support/webhooks';

/* An endpoint that is moved or disabled while a claim of its deliveries waits for a customer that another transaction holds. */

let service: TestApp;
let receiver: Receiver;
let moved: Receiver;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  service = await startApp({ WEBHOOKS_ALLOW_PRIVATE: 'true' }, undefined, [], { processesEvents: true });
});
beforeEach(async () => {
  [receiver, moved, workspace] = await Promise.all([startReceiver(), startReceiver(), aWorkspace(service)]);
  client = workspace.admin;
});
afterEach(() => Promise.all([receiver.stop(), moved.stop()]));
afterAll(() => service.stop());

/** Resolves once the claim has got the lock, with the endpoint; it was called once before. */
async function whileAClaimWaits(change: (id: string) => Promise<unknown>): Promise<string> {
  const { id } = await aWebhook(client, receiver.url);
  const event = anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' } });
  const eventId = (await client.post('/v1/external-events', event)).body.event_id;
  const path = `/v1/webhooks/${id}/deliveries`;
  await until(async () => (await client.get(path)).body.items[0]?.state === 'delivered');
  await withClient(service.databaseUrl, async (other) => {
    await other.query('BEGIN');
    // As an erasure locks it.
    await other.query('SELECT 1 FROM profiles WHERE tenant_id = $1 FOR UPDATE', [workspace.tenantId]);
    await client.post(`${path}/${eventId}:retry`, {});
    await until(async () => (await waitingForLocks(service.databaseUrl, { application: 'cds-webhooks' })) === 1);
    await change(id);
    await other.query('COMMIT');
  });
  return id;
}

it('gets the call at the new address', async () => {
  const id = await whileAClaimWaits(async (webhookId) => {
    const body = JSON.stringify({ url: moved.url });
    expect((await client.send(`/v1/webhooks/${webhookId}`, body, { method: 'PATCH' })).status).toBe(200);
  });
  await until(async () => (await client.get(`/v1/webhooks/${id}/deliveries`)).body.items[0]?.state === 'delivered');
  expect([receiver.calls.length, moved.calls.length]).toEqual([1, 1]);
});

it('gets the call once it is enabled again', async () => {
  const id = await whileAClaimWaits(async (webhookId) => {
    expect((await client.post(`/v1/webhooks/${webhookId}:disable`, {})).status).toBe(200);
  });
  // Until the claim has ended.
  const open = `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'cds-webhooks' AND xact_start IS NOT NULL`;
  await until(async () => (await rowsOf(service.databaseUrl, open)).length === 0);
  const queue = 'SELECT claim_id AS "claimId" FROM webhook_queues WHERE tenant_id = $1';
  expect(await rowsOf(service.databaseUrl, queue, [workspace.tenantId])).toEqual([{ claimId: null }]);
  expect(receiver.calls).toHaveLength(1);
  expect((await client.post(`/v1/webhooks/${id}:enable`, {})).status).toBe(200);
  await until(async () => (await client.get(`/v1/webhooks/${id}/deliveries`)).body.items[0]?.state === 'delivered');
  expect(receiver.calls).toHaveLength(2);
});
