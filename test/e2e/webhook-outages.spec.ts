import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, expectProblem, theReviewEntry, type Client } from '../support/client';
import { rowsOf, withClient } from '../support/database';
import { beginReplay, replayOnce } from '../support/review';
import { until } from '../support/until';
import { aWebhook, makeDue, numbersOf, startReceiver, type Receiver } from '../support/webhooks';

const ann = { type: 'EXTERNAL', value: 'ann' };

let service: SharedApp;
let receiver: Receiver;
let tenantId: string;
let client: Client;

beforeAll(async () => {
  service = await sharedApp({ processesEvents: true });
});
beforeEach(async () => {
  const [started, workspace] = await Promise.all([startReceiver(), aWorkspace(service)]);
  [receiver, tenantId, client] = [started, workspace.tenantId, workspace.admin];
});
afterEach(() => receiver.stop());

async function send(n: number, identity: object = ann): Promise<string> {
  const { status, body } = await client.post('/v1/external-events', anExternalEvent({ identity, attributes: { n } }));
  expect(status).toBe(202);
  return body.event_id;
}

const deliveriesOf = async (id: string): Promise<any[]> =>
  (await client.get(`/v1/webhooks/${id}/deliveries`)).body.items;
const statesOf = async (id: string): Promise<string[]> => (await deliveriesOf(id)).map(({ state }) => state);

const passTime = (id: string): Promise<void> => makeDue(service.databaseUrl, id);

it('disables an endpoint that answers 410, keeps what happens, and sends it in order when it is enabled', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 410 }));
  for (const n of [1, 2]) await send(n);
  await until(async () => (await client.get(`/v1/webhooks/${id}`)).body.enabled === false);
  expect((await client.get(`/v1/webhooks/${id}`)).body).toMatchObject({ disabledReason: 'gone' });
  const entries = (await client.get('/v1/review-entries?reason=webhook_disabled')).body.items;
  expect(entries).toEqual([expect.objectContaining({ stage: 'processing', severity: 'error' })]);
  for (const n of [3, 4, 5]) await send(n);
  await until(async () => (await statesOf(id)).filter((state) => state === 'pending').length === 5);
  const before = receiver.calls.length;
  receiver.answer(() => ({ status: 200 }));
  expect((await client.post(`/v1/webhooks/${id}:enable`, {})).body).toMatchObject({ enabled: true });
  await receiver.until(before + 5);
  expect(numbersOf(receiver.calls.slice(before))).toEqual([1, 2, 3, 4, 5]);
});

it('holds up no other workspace where a queue is locked while its call ends, and repeats no call', async () => {
  const other = await aWorkspace(service);
  const [{ id }, { id: otherId }] = [await aWebhook(client, receiver.url), await aWebhook(other.admin, receiver.url)];
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  receiver.answer(async () => {
    await released;
    return { status: 200 };
  });
  await send(1);
  await other.admin.post('/v1/external-events', anExternalEvent({ identity: ann, attributes: { n: 2 } }));
  await receiver.until(2);
  await withClient(service.databaseUrl, async (holder) => {
    await holder.query('BEGIN');
    const lock = 'SELECT FROM webhook_queues WHERE tenant_id = $1 AND endpoint_id = $2 FOR UPDATE';
    await holder.query(lock, [tenantId, id]);
    release();
    const stateOfOther = async () => (await other.admin.get(`/v1/webhooks/${otherId}/deliveries`)).body.items[0].state;
    await until(async () => (await stateOfOther()) === 'delivered');
    expect(await statesOf(id)).toEqual(['pending']);
    await holder.query('COMMIT');
  });
  await until(async () => (await statesOf(id)).join() === 'delivered');
  expect(receiver.calls).toHaveLength(2);
});

it('holds up no other workspace where a customer is locked, while calls are begun and while they end', async () => {
  const other = await aWorkspace(service);
  await Promise.all([aWebhook(client, receiver.url), aWebhook(other.admin, receiver.url)]);
  const numbers = () => numbersOf(receiver.calls).toSorted();
  const sendOther = (n: number) =>
    other.admin.post('/v1/external-events', anExternalEvent({ identity: ann, attributes: { n } }));
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  receiver.answer(async ({ body }) => {
    if (body.data.properties.n === 1) await released;
    return { status: 200 };
  });
  await send(1);
  await receiver.until(1);
  await withClient(service.databaseUrl, async (holder) => {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM profiles WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
    release();
    for (const n of [2, 3]) {
      await sendOther(n);
      await until(() => numbers().includes(n));
    }
    const waits = `SELECT FROM webhook_queues WHERE tenant_id = $1 AND claim_id IS NOT NULL`;
    expect(await rowsOf(service.databaseUrl, waits, [tenantId])).toHaveLength(1);
    await holder.query('COMMIT');
  });
  await send(4);
  await until(() => numbers().includes(4));
  expect(numbers()).toEqual([1, 2, 3, 4]);
});

it('has a review entry without an event, which no replay takes', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 410 }));
  await send(1);
  await until(async () => (await client.get(`/v1/webhooks/${id}`)).body.enabled === false);
  const entry = await theReviewEntry(client);
  for (const body of [{}, { payload: anExternalEvent() }]) {
    const answer = await client.post(`/v1/review-entries/${entry.id}:replay`, body);
    expectProblem(answer, 422, 'validation_failed', [' not_replayable']);
  }
  expect(await replayOnce(() => client, await beginReplay(client, {}))).toMatchObject({ total: 0, failed: 0 });
  expect(await theReviewEntry(client)).toEqual(entry);
});

it('stays enabled if it got another address while the former one answered 410', async () => {
  const { id } = await aWebhook(client, `${receiver.url}/former`);
  let isMoved = false;
  receiver.answer(async ({ path }) => {
    if (path !== '/former') return { status: 200 };
    await until(() => isMoved);
    return { status: 410 };
  });
  await send(1);
  await receiver.until(1);
  const moved = await client.send(`/v1/webhooks/${id}`, JSON.stringify({ url: receiver.url }), { method: 'PATCH' });
  isMoved = moved.status === 200;
  // The second attempt, at the new address, may be made already.
  await until(async () => ((await deliveriesOf(id))[0]?.attemptCount ?? 0) >= 1);
  expect((await client.get(`/v1/webhooks/${id}`)).body.enabled).toBe(true);
});

it('disables an endpoint whose every attempt failed for five days; until then nothing is given up', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 500 }));
  const eventId = await send(1);
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 1);
  await rowsOf(service.databaseUrl, `UPDATE webhook_queues SET failures = 12 WHERE endpoint_id = $1`, [id]);
  await rowsOf(
    service.databaseUrl,
    `UPDATE webhook_deliveries SET first_attempt_at = now() - interval '4 days' WHERE endpoint_id = $1`,
    [id],
  );
  const age = async (days: number) =>
    rowsOf(
      service.databaseUrl,
      `UPDATE webhook_endpoints SET failing_since = now() - $2 * interval '1 day' WHERE id = $1`,
      [...[id, days]],
    );
  await age(4.9);
  await passTime(id);
  await until(async () => (await deliveriesOf(id))[0].attemptCount === 2);
  expect((await client.get(`/v1/webhooks/${id}`)).body.enabled).toBe(true);
  expect((await deliveriesOf(id))[0].state).toBe('pending');
  await age(5.1);
  await passTime(id);
  await until(async () => (await client.get(`/v1/webhooks/${id}`)).body.enabled === false);
  expect((await client.get(`/v1/webhooks/${id}`)).body.disabledReason).toBe('failing');
  receiver.answer(() => ({ status: 200 }));
  await client.post(`/v1/webhooks/${id}:enable`, {});
  await until(async () => (await statesOf(id)).join() === 'delivered');
  expect(new Set(receiver.calls.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([eventId]));
});

/** In UTC, because a cluster takes no expression that depends on the time zone of a session. */
const earlier = (column: string): string =>
  `${column} = (${column} AT TIME ZONE 'UTC' - interval '75 hours') AT TIME ZONE 'UTC'`;

/** As if nine attempts at each first delivery had failed in the last 75 hours. */
async function ageFailures(id: string): Promise<void> {
  for (const change of [
    `UPDATE webhook_deliveries SET ${earlier('first_attempt_at')} WHERE endpoint_id = $1`,
    `UPDATE webhook_endpoints SET ${earlier('failing_since')} WHERE id = $1`,
    'UPDATE webhook_queues SET failures = 9 WHERE endpoint_id = $1',
  ])
    await rowsOf(service.databaseUrl, change, [id]);
}

it('gives up nothing of an endpoint that takes nothing, nor what it refused first of all', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 500 }));
  const attemptsOf = async (): Promise<number[]> => (await deliveriesOf(id)).map(({ attemptCount }) => attemptCount);
  for (const value of ['ann', 'bob']) await send(1, { type: 'EXTERNAL', value });
  await until(async () => (await attemptsOf()).join() === '1,1');
  await ageFailures(id);
  await passTime(id);
  await until(async () => (await attemptsOf()).join() === '2,2');
  expect(await statesOf(id)).toEqual(['pending', 'pending']);
  receiver.answer(() => ({ status: 200 }));
  await passTime(id);
  await until(async () => (await statesOf(id)).join() === 'delivered,delivered');
});

it('gives up nothing by the 410 that disables the endpoint', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 500 }));
  await send(1);
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 1);
  await ageFailures(id);
  // Others were taken since.
  await rowsOf(service.databaseUrl, 'UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1', [id]);
  receiver.answer(() => ({ status: 410 }));
  await passTime(id);
  await until(async () => (await client.get(`/v1/webhooks/${id}`)).body.disabledReason === 'gone');
  expect(await deliveriesOf(id)).toEqual([expect.objectContaining({ state: 'pending', attemptCount: 2 })]);
  receiver.answer(() => ({ status: 200 }));
  await client.post(`/v1/webhooks/${id}:enable`, {});
  await until(async () => (await statesOf(id)).join() === 'delivered');
});

/** Answers calls to `/former` with this once the endpoint is at another address, where calls are taken. */
async function refuseDuringMove(id: string, refusal: { status: number; headers?: Record<string, string> }) {
  let isMoved = false;
  receiver.answer(async ({ path }) => {
    if (path !== '/former') return { status: 200 };
    await until(() => isMoved);
    return refusal;
  });
  const before = receiver.calls.length;
  await passTime(id);
  await receiver.until(before + 1);
  const body = JSON.stringify({ url: `${receiver.url}/moved` });
  isMoved = (await client.send(`/v1/webhooks/${id}`, body, { method: 'PATCH' })).status === 200;
  await receiver.until(1, ({ path }) => path === '/moved');
}

it('sends at once to another address what the former one refused meanwhile, whatever it asked for', async () => {
  const { id } = await aWebhook(client, `${receiver.url}/former`);
  receiver.answer(() => ({ status: 500 }));
  await send(1);
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 1);
  await refuseDuringMove(id, { status: 503, headers: { 'retry-after': '86400' } });
  await until(async () => (await statesOf(id)).join() === 'delivered');
  expect((await client.get(`/v1/webhooks/${id}`)).body.failingSince).toBeNull();
});

it('gives up nothing for what the former address refused meanwhile', async () => {
  const { id } = await aWebhook(client, `${receiver.url}/former`);
  receiver.answer(() => ({ status: 500 }));
  await send(1);
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 1);
  await ageFailures(id);
  // Others were taken since.
  await rowsOf(service.databaseUrl, 'UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1', [id]);
  await refuseDuringMove(id, { status: 500 });
  await until(async () => (await statesOf(id)).join() === 'delivered');
});

it('begins the attempts at each delivery anew when it is enabled', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 500 }));
  await send(1);
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 1);
  await client.post(`/v1/webhooks/${id}:disable`, {});
  await ageFailures(id);
  await passTime(id);
  await client.post(`/v1/webhooks/${id}:enable`, {});
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 2);
  expect((await deliveriesOf(id))[0].state).toBe('pending');
  const [queue] = await rowsOf(service.databaseUrl, 'SELECT failures FROM webhook_queues WHERE endpoint_id = $1', [id]);
  expect(queue).toEqual({ failures: 1 });
});

it('begins the attempts anew at another address, at once', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 500 }));
  await send(1);
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 1);
  await ageFailures(id);
  await rowsOf(
    service.databaseUrl,
    `UPDATE webhook_queues SET due_at = now() + interval '1 day' WHERE endpoint_id = $1`,
    [id],
  );
  const move = (url: string) => client.send(`/v1/webhooks/${id}`, JSON.stringify({ url }), { method: 'PATCH' });
  // The same address is no move.
  expect((await move(receiver.url)).body.failingSince).not.toBeNull();
  const moved = await move(`${receiver.url}/moved`);
  expect(moved.body.failingSince).toBeNull();
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 2);
  expect((await deliveriesOf(id))[0].state).toBe('pending');
  const [queue] = await rowsOf(service.databaseUrl, 'SELECT failures FROM webhook_queues WHERE endpoint_id = $1', [id]);
  expect(queue).toEqual({ failures: 1 });
});
