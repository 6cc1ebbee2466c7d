import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, expectProblem, type Answer, type Client, type Workspace } from '../support/client';
import { rowsOf, waitingForLocks, withClient } from '../support/database';
import { untilDrained } from '../support/processing';
import { until } from '../support/until';
import { aWebhook, numbersOf, startReceiver, startReplay, type Receiver } from '../support/webhooks';

const CAMPAIGN = 'spring';
const ann = { type: 'EXTERNAL', value: 'ann' };
const annsEmail = { type: 'EMAIL', value: 'ann@example.com' };

let service: TestApp;
let receiver: Receiver;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  service = await startApp({ WEBHOOKS_ALLOW_PRIVATE: 'true' }, undefined, [], { processesEvents: true });
});
beforeEach(async () => {
  [receiver, workspace] = await Promise.all([startReceiver(), aWorkspace(service)]);
  client = workspace.admin;
});
afterEach(() => receiver.stop());
afterAll(() => service.stop());

async function send(fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await client.post('/v1/external-events', anExternalEvent(fields));
  expect(status).toBe(202);
  return body.event_id;
}

const sql = (text: string, values: readonly unknown[] = []) =>
  rowsOf<Record<string, unknown>>(service.databaseUrl, text, [...values]);

async function deliveriesOf(id: string, state = ''): Promise<any[]> {
  const query = state === '' ? '?limit=200' : `?limit=200&state=${state}`;
  return (await client.get(`/v1/webhooks/${id}/deliveries${query}`)).body.items.toReversed();
}

/** From now on calls that fit are answered only after `release`. */
function holdCalls(fits: (data: any) => boolean, body = ''): () => void {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  receiver.answer(async (call) => {
    if (fits(call.body.data)) await released;
    return { status: 200, body };
  });
  return release;
}

/** Says that both of the identities above are Ann's, by the event `n`. */
async function mergeAnn(n: number): Promise<void> {
  await client.post('/v1/cdp/event-types', { eventType: 'purchase', properties: { n: { type: 'integer' } } });
  const event = {
    source: 'shop',
    externalEventId: 'm',
    eventType: 'purchase',
    occurredAt: '2026-01-02T03:04:05Z',
    identity: { externalUserId: 'ann', email: 'ann@example.com' },
    properties: { n },
  };
  expect((await client.post('/v1/cdp/events', event)).status).toBe(202);
}

/** The answer to an erasure once it has come. */
interface Erasing {
  readonly answer: () => Answer | undefined;
}

/** Begins to erase a person; resolves when nothing more is taken of them. */
async function beginErasure(profileId: string): Promise<Erasing> {
  let answer: Answer | undefined;
  void client.post(`/v1/cdp/profiles/${profileId}:erase`, {}).then((came) => (answer = came));
  const marked = 'SELECT FROM profiles WHERE tenant_id = $1 AND profile_id = $2 AND erased_at IS NOT NULL';
  await until(async () => (await sql(marked, [workspace.tenantId, profileId])).length === 1);
  return { answer: () => answer };
}

/** Longer than an erasure takes that waits for nothing. */
async function doOtherWork(): Promise<void> {
  for (let n = 0; n < 100; n += 1) await client.get('/v1/webhooks');
}

describe('an erasure', () => {
  it('is answered after the calls about the person that are under way; no repetition sends anything then', async () => {
    const othersEvent = await send({ identity: { type: 'EXTERNAL', value: 'bob' } });
    const { profileId: other } = (await client.get(`/v1/events/${othersEvent}`)).body;
    const { id } = await aWebhook(client, receiver.url, { unmask: true });
    const release = holdCalls(() => true, 'about ann-the-secret');
    const eventId = await send({ identity: ann, attributes: { n: 1 } });
    await receiver.until(1);
    const { profileId } = (await client.get(`/v1/events/${eventId}`)).body;
    const erasing = await beginErasure(profileId);
    const retry = () => client.post(`/v1/webhooks/${id}/deliveries/${eventId}:retry`, {});
    const retries = await Promise.all([retry(), retry()]);
    expect(retries.map(({ status }) => status)).toEqual([200, 200]);
    await doOtherWork();
    expect(erasing.answer()).toBeUndefined();
    // Erasures of others do not wait for it.
    expect(await client.post(`/v1/cdp/profiles/${other}:erase`, {})).toMatchObject({ status: 200 });
    expect(erasing.answer()).toBeUndefined();
    release();
    await until(() => erasing.answer() !== undefined);
    expect(erasing.answer()).toMatchObject({ status: 200 });
    await retry();
    await until(async () => (await deliveriesOf(id)).every(({ state }) => state === 'failed'));
    const [delivery] = await deliveriesOf(id);
    expect(delivery).toMatchObject({ reason: 'profile_erased', attempts: [{ status: 200, answer: '' }] });
    expect(receiver.calls).toHaveLength(1);
    expect(JSON.stringify(await sql('SELECT attempts FROM webhook_deliveries'))).not.toContain('secret');
  });

  it('is answered after the calls about changes that the person made', async () => {
    for (const [scope, name] of [
      ['user', 'points'],
      ['campaign', 'stock'],
    ]) {
      await client.post(`/v1/campaigns/${CAMPAIGN}/variables:define`, { scope, name, type: 'number' });
    }
    const events = [{ change: { scope: 'user', name: 'points' } }];
    const { id } = await aWebhook(client, receiver.url, { events, unmask: true });
    const release = holdCalls(() => true, 'about ann-the-secret');
    const eventId = await send({ identity: ann });
    const body = { ops: [{ path: 'state.user.points', op: 'set', value: 4711 }] };
    const path = `/v1/campaigns/${CAMPAIGN}/participants/ann/state:mutate`;
    expect((await client.post(path, body)).status).toBe(200);
    const [call] = await receiver.until(1);
    const erasing = await beginErasure((await client.get(`/v1/events/${eventId}`)).body.profileId);
    const deliveryId = call!.body.data.changeId;
    // Its delivery is gone by the first step of the erasure, and is not made anew.
    await until(async () => (await deliveriesOf(id)).length === 0);
    expectProblem(await client.post(`/v1/webhooks/${id}/deliveries/${deliveryId}:retry`, {}), 404, 'not_found', []);
    await doOtherWork();
    expect(erasing.answer()).toBeUndefined();
    release();
    await until(() => erasing.answer() !== undefined);
    expect(erasing.answer()).toMatchObject({ status: 200 });
    await until(async () => (await sql('SELECT FROM webhook_queues WHERE endpoint_id = $1', [id])).length === 0);
    expect(await deliveriesOf(id)).toEqual([]);
    expect(receiver.calls).toHaveLength(1);
  });

  it('lets no request to repeat a delivery make it anew', async () => {
    const { id } = await aWebhook(client, receiver.url);
    const eventId = await send({ identity: ann });
    await until(async () => (await deliveriesOf(id, 'delivered')).length === 1);
    // A transaction that removes it, as erasures and retention do, is open when the request comes.
    const retried = await withClient(service.databaseUrl, async (other) => {
      await other.query('BEGIN');
      await other.query('DELETE FROM webhook_deliveries WHERE endpoint_id = $1', [id]);
      const asked = client.post(`/v1/webhooks/${id}/deliveries/${eventId}:retry`, {});
      await until(async () => (await waitingForLocks(service.databaseUrl)) > 0);
      await other.query('COMMIT');
      return asked;
    });
    expectProblem(retried, 404, 'not_found', []);
    expect(await deliveriesOf(id)).toEqual([]);
  });
});

it('makes a queue due that is locked while its endpoint is enabled', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 503, headers: { 'retry-after': '86400' } }));
  await send({ identity: ann, attributes: { n: 1 } });
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 1);
  receiver.answer(() => ({ status: 200 }));
  await client.post(`/v1/webhooks/${id}:disable`, {});
  await withClient(service.databaseUrl, async (other) => {
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM webhook_queues WHERE tenant_id = $1 AND endpoint_id = $2 FOR UPDATE', [
      workspace.tenantId,
      id,
    ]);
    expect((await client.post(`/v1/webhooks/${id}:enable`, {})).status).toBe(200);
    const jobs = 'SELECT FROM cds_jobs._private_jobs WHERE key = $1';
    await until(async () => (await waitingForLocks(service.databaseUrl)) > 0 || (await sql(jobs, [id])).length === 0);
    await other.query('COMMIT');
  });
  await until(async () => (await deliveriesOf(id))[0].state === 'delivered');
});

it('keeps the order of each customer when a merge is undone while deliveries wait, and loses none', async () => {
  const { id } = await aWebhook(client, receiver.url);
  await send({ identity: ann, attributes: { n: 0 } });
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 1);
  // The first call about the e-mail's customer stays under way; the others wait for it.
  const release = holdCalls(({ properties: { n } }) => n === 1);
  const first = await send({ identity: annsEmail, attributes: { n: 1 } });
  await receiver.until(2);
  await mergeAnn(2);
  await send({ identity: ann, attributes: { n: 3 } });
  await send({ identity: annsEmail, attributes: { n: 4 } });
  await until(async () => (await deliveriesOf(id, 'pending')).length === 4);
  expect(numbersOf(receiver.calls)).toEqual([0, 1]);
  const { profileId } = (await client.get(`/v1/events/${first}`)).body;
  const [merge] = (await client.get(`/v1/cdp/profiles/${profileId}/merges`)).body.items;
  // Nothing but the undo makes the queues due.
  await sql(`UPDATE webhook_queues SET due_at = now() + '1 hour' WHERE endpoint_id = $1 AND claim_id IS NULL`, [id]);
  expect((await client.post(`/v1/cdp/merges/${merge.id}:undo`, {})).status).toBe(200);
  // Ann's own events wait for nobody any more.
  const own = await receiver.until(2, ({ body }) => [2, 3].includes(body.data.properties.n));
  expect(numbersOf(own)).toEqual([2, 3]);
  expect(numbersOf(receiver.calls)).toEqual([0, 1, 2, 3]);
  release();
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 5);
  expect(numbersOf(receiver.calls)).toEqual([0, 1, 2, 3, 4]);
});

it('sends replayed and live events of one customer one at a time, each in their order', async () => {
  for (let n = 0; n < 20; n += 1) await send({ identity: ann, attributes: { n } });
  await untilDrained(service.databaseUrl, workspace.tenantId);
  const { id } = await aWebhook(client, receiver.url);
  let underWay = 0;
  let most = 0;
  receiver.answer(async () => {
    most = Math.max(most, (underWay += 1));
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
    return { status: 204 };
  });
  const [path] = await Promise.all([
    startReplay(client, id),
    (async () => {
      for (let n = 100; n < 120; n += 1) await send({ identity: ann, attributes: { n } });
    })(),
  ]);
  await until(async () => (await client.get(path)).body.state === 'done');
  await until(async () => (await deliveriesOf(id, 'pending')).length === 0);
  const numbers = numbersOf(receiver.calls);
  const from = (first: number) => Array.from({ length: 20 }, (_unused, n) => first + n);
  expect(numbers.filter((n) => n < 100)).toEqual(from(0));
  // Those that the replay finds delivered come again, behind.
  expect([...new Set(numbers.filter((n) => n >= 100))]).toEqual(from(100));
  expect(most).toBe(1);
});

it('adds the deliveries of a whole turn of the worker at once, however many endpoints get them', async () => {
  const endpoints = 50;
  const events = 100;
  for (let n = 0; n < endpoints; n += 1) {
    const { id } = await aWebhook(client, `${receiver.url}/${n}`);
    await client.post(`/v1/webhooks/${id}:disable`, {});
  }
  const items = Array.from({ length: events }, (_unused, n) =>
    anExternalEvent({ identity: { type: 'EXTERNAL', value: `customer-${n % 7}` }, attributes: { n } }),
  );
  expect((await client.post('/v1/external-events:batch', { items })).status).toBe(200);
  await untilDrained(service.databaseUrl, workspace.tenantId);
  const of = `FROM webhook_deliveries WHERE tenant_id = $1`;
  const [added] = await sql(`SELECT count(*)::int AS rows, count(DISTINCT xmin::text)::int AS transactions ${of}`, [
    workspace.tenantId,
  ]);
  expect(added).toMatchObject({ rows: endpoints * events });
  // Each shard of the queue may take some turns; a transaction for each endpoint, or event, would be far more.
  expect(added!['transactions']).toBeLessThanOrEqual(20);
  const [stored] = await sql('SELECT count(*)::int AS queues FROM webhook_queues WHERE tenant_id = $1', [
    workspace.tenantId,
  ]);
  expect(stored).toEqual({ queues: endpoints * 7 });
  expect(receiver.calls).toEqual([]);
});

it('makes four test calls of a workspace at a time, and refuses those that are too many to wait', async () => {
  const { id } = await aWebhook(client, receiver.url);
  const release = holdCalls(() => true);
  const refused: Answer[] = [];
  const testing = Array.from({ length: 30 }, async () => {
    const answer = await client.post(`/v1/webhooks/${id}:test`, {});
    if (answer.status !== 200) refused.push(answer);
    return answer;
  });
  // Four are under way and 20 wait.
  await until(() => refused.length === 6);
  const [first] = refused;
  expectProblem(first!, 503, 'unavailable', []);
  expect(Number(first!.headers.get('retry-after'))).toBeGreaterThan(0);
  await receiver.until(4);
  expect(receiver.calls).toHaveLength(4);
  release();
  const answers = await Promise.all(testing);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(24);
  expect(receiver.calls).toHaveLength(24);
});
