import { WebhookReplayStep } from '../../src/webhooks/replay/webhook-replay-step';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, expectProblem, type Client, type Workspace } from '../support/client';
import { rowsOf, waitingForLocks, withClient } from '../support/database';
import { untilDrained } from '../support/processing';
import { until } from '../support/until';
import {
  ALL_OF_LATE,
  aWebhook,
  numbersOf,
  replayOnce,
  startReceiver,
  startReplay,
  type ReceivedCall,
  type Receiver,
} from '../support/webhooks';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

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

const of = (value: string, n: number, fields: object = {}) =>
  anExternalEvent({ identity: { type: 'EXTERNAL', value }, attributes: { n }, ...fields });

/** In one request, whose events have their order by the time of occurrence. */
async function send(...events: readonly Record<string, unknown>[]): Promise<string[]> {
  const items = events.map((event, index) => ({
    ...event,
    occurred_at: new Date(1_700_000_000_000 + index).toISOString(),
  }));
  const { status, body } = await client.post('/v1/external-events:batch', { items });
  expect(status).toBe(200);
  const ids = body.results.map((result: any) => result.event_id);
  expect(ids).not.toContain(undefined);
  return ids;
}

const drained = (): Promise<void> => untilDrained(service.databaseUrl, workspace.tenantId, 60);
const over = (path: string): Promise<any> => replayOnce(() => client, path);
const replay = async (id: string, range: object = {}): Promise<any> => over(await startReplay(client, id, range));
const idsOf = (calls: readonly ReceivedCall[]) => calls.map(({ headers }) => headers['webhook-id']);
const customerOf = ({ body }: ReceivedCall): string => body.data.profileId;

async function deliveriesOf(id: string, state = ''): Promise<any[]> {
  return (await client.get(`/v1/webhooks/${id}/deliveries?limit=200${state === '' ? '' : `&state=${state}`}`)).body
    .items;
}

/** Lets jobs that wait for a later time run now, as time would. */
async function passJobTime(): Promise<void> {
  await rowsOf(service.databaseUrl, `UPDATE cds_jobs._private_jobs SET run_at = now() WHERE run_at > now()`);
}

it('delivers what was received before the endpoint existed, and again what it got, in order for each customer', async () => {
  const early = await send(of('ann', 1), of('bob', 1), of('ann', 2), anExternalEvent({ type: 'login' }), of('ann', 3));
  const { id } = await aWebhook(client, receiver.url);
  const late = await send(of('ann', 4), of('bob', 2));
  await receiver.until(2);
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 2);
  const path = await startReplay(client, id);
  const done = { total: 6, scanned: 6, queued: 6, alreadyQueued: 0, skipped: 0, failed: 0, expired: 0 };
  const jobId = path.split('/').at(-1);
  const view = await over(path);
  expect(view).toEqual({
    jobId,
    webhookId: id,
    from: ALL_OF_LATE.from,
    to: TIME,
    state: 'done',
    ...done,
    createdAt: TIME,
    createdBy: expect.any(String),
    startedAt: TIME,
    finishedAt: TIME,
  });
  expect((await client.get(`/v1/webhooks/${id}/replays`)).body).toEqual({ items: [view], nextCursor: null });
  const again = (await receiver.until(8)).slice(2);
  const customers = [...new Set(again.map(customerOf))];
  const numbers = customers.map((customer) => numbersOf(again.filter((call) => customerOf(call) === customer)));
  expect(numbers.toSorted((a, b) => a.length - b.length)).toEqual([
    [1, 2],
    [1, 2, 3, 4],
  ]);
  expect(new Set(idsOf(again))).toEqual(new Set([...early.filter((_id, index) => index !== 3), ...late]));
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 6);
  const counts = Object.fromEntries((await deliveriesOf(id)).map((each) => [each.id, each.attemptCount]));
  expect([counts[early[0]!], counts[late[0]!]]).toEqual([1, 2]);
});

it('takes the range by receipt and the rules of the endpoint, and neither erased persons nor expired events', async () => {
  const ids = await send(...Array.from({ length: 6 }, (_unused, index) => of(`customer-${index}`, index)));
  await drained();
  for (const [index, id] of ids.entries()) {
    await rowsOf(service.databaseUrl, 'UPDATE events SET received_at = $3 WHERE tenant_id = $1 AND event_id = $2', [
      ...[workspace.tenantId, id, `2026-03-0${index + 1}T00:00:00Z`],
    ]);
  }
  const { profileId } = (await client.get(`/v1/events/${ids[3]!}`)).body;
  expect((await client.post(`/v1/cdp/profiles/${profileId}:erase`, {})).status).toBe(200);
  const when = { '!=': [{ var: 'event.properties.n' }, 2] };
  const { id } = await aWebhook(client, receiver.url, { events: [{ eventType: 'purchase', when }] });
  const range = { from: '2026-03-02T00:00:00Z', to: '2026-03-06T01:00:00+01:00' };
  expect(await replay(id, range)).toMatchObject({ total: 4, scanned: 4, queued: 2, skipped: 2, failed: 0, expired: 0 });
  await receiver.until(2);
  expect(new Set(idsOf(receiver.calls))).toEqual(new Set([ids[1], ids[4]]));
  // One goes after it was counted, as retention would have it.
  await client.post(`/v1/webhooks/${id}:disable`, {});
  const path = await startReplay(client, id, range);
  await until(async () => (await client.get(path)).body.total === 4);
  await rowsOf(service.databaseUrl, 'DELETE FROM events WHERE tenant_id = $1 AND event_id = $2', [
    ...[workspace.tenantId, ids[1]],
  ]);
  await client.post(`/v1/webhooks/${id}:enable`, {});
  await passJobTime();
  expect(await over(path)).toMatchObject({ state: 'done', total: 4, scanned: 3, queued: 1, skipped: 2, expired: 1 });
});

it('does not double a delivery that waits, and leaves it its place', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 500 }));
  const ids = await send(of('ann', 1), of('ann', 2), of('ann', 3));
  await until(async () => (await deliveriesOf(id))[2]?.attemptCount === 1);
  expect(await replay(id)).toMatchObject({ total: 3, scanned: 3, queued: 0, alreadyQueued: 3 });
  receiver.answer(() => ({ status: 200 }));
  const before = receiver.calls.length;
  await client.post(`/v1/webhooks/${id}/deliveries/${ids[0]!}:retry`, {});
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 3);
  expect(numbersOf(receiver.calls.slice(before))).toEqual([1, 2, 3]);
});

it('keeps the order of a merged customer, whose events of one step have several profiles', async () => {
  await client.post('/v1/cdp/event-types', { eventType: 'purchase', properties: { n: { type: 'integer' } } });
  const emails = Array.from({ length: 3 }, (_unused, index) => `ann-${index}@example.com`);
  const byEmail = (value: string, fields: object) => anExternalEvent({ identity: { type: 'EMAIL', value }, ...fields });
  // The profiles are made in one order, and send events in another.
  await send(...emails.map((email) => byEmail(email, { type: 'login' })));
  const senders = [...emails, ...emails].toReversed();
  await send(...senders.map((email, n) => byEmail(email, { attributes: { n } })));
  for (const [index, email] of emails.entries()) {
    const merging = {
      source: 'shop',
      externalEventId: `m-${index}`,
      eventType: 'purchase',
      occurredAt: '2026-01-02T03:04:05Z',
      identity: { externalUserId: 'ann', email },
      properties: { n: 6 + index },
    };
    expect((await client.post('/v1/cdp/events', merging)).status).toBe(202);
  }
  await drained();
  const { id } = await aWebhook(client, receiver.url);
  expect(await replay(id)).toMatchObject({ state: 'done', queued: 9 });
  await receiver.until(9);
  expect(numbersOf(receiver.calls)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

it('adds no more than 500 deliveries that wait, and goes on as they are made', async () => {
  const events = Array.from({ length: 650 }, (_unused, index) => of(`customer-${index % 200}`, index));
  await send(...events);
  const { id } = await aWebhook(client, receiver.url);
  let answer: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  receiver.answer(async () => {
    await held;
    return { status: 204 };
  });
  const path = await startReplay(client, id);
  await until(async () => (await client.get(path)).body.queued >= 500);
  const key = { tenantId: workspace.tenantId, endpointId: id, id: path.split('/').at(-1)! };
  expect(await service.app.get(WebhookReplayStep).run(key)).toMatchObject({ next: 'wait', events: 0 });
  expect((await client.get(path)).body).toMatchObject({ state: 'running', total: 650, queued: 500 });
  answer();
  expect(await over(path)).toMatchObject({ state: 'done', total: 650, queued: 650 });
  await receiver.until(650);
  expect(new Set(idsOf(receiver.calls)).size).toBe(650);
});

it('runs once at a time for an endpoint, waits while it is disabled, and ends with its rules', async () => {
  await send(of('ann', 1));
  const { id } = await aWebhook(client, receiver.url);
  await client.post(`/v1/webhooks/${id}:disable`, {});
  const path = await startReplay(client, id);
  await until(async () => (await client.get(path)).body.total === 1);
  expectProblem(await client.post(`/v1/webhooks/${id}:replay`, ALL_OF_LATE), 409, 'replay_running', []);
  const cancelled = await client.post(`${path}:cancel`, {});
  expect([cancelled.status, cancelled.body]).toMatchObject([200, { state: 'cancelled', queued: 0, finishedAt: TIME }]);
  expect((await client.post(`${path}:cancel`, {})).body).toEqual(cancelled.body);
  const second = await startReplay(client, id);
  await until(async () => (await client.get(second)).body.total === 1);
  await client.send(`/v1/webhooks/${id}`, JSON.stringify({ events: [{ eventType: 'refund' }] }), { method: 'PATCH' });
  await passJobTime();
  expect(await over(second)).toMatchObject({ state: 'failed', reason: 'webhook_changed', queued: 0 });
  expect(receiver.calls).toHaveLength(0);
  const third = await startReplay(client, id);
  await client.send(`/v1/webhooks/${id}`, undefined, { method: 'DELETE' });
  expectProblem(await client.get(third), 404, 'not_found', []);
  await until(async () => {
    const sql = 'SELECT FROM webhook_replays WHERE tenant_id = $1';
    return (await rowsOf(service.databaseUrl, sql, [workspace.tenantId])).length === 0;
  });
});

it('ends at once for a range in the future, which it shows as empty', async () => {
  const { id } = await aWebhook(client, receiver.url);
  const from = '2998-01-01T00:00:00.000Z';
  const ended = await replay(id, { from, to: '2998-02-01T00:00:00Z' });
  expect(ended).toMatchObject({ state: 'done', total: 0, from, to: from });
});

it('refuses ranges that are none or too long, and endpoints of others', async () => {
  const { id } = await aWebhook(client, receiver.url);
  const start = (body: object, by = client) => by.post(`/v1/webhooks/${id}:replay`, body);
  const at = '2026-01-01T00:00:00Z';
  expectProblem(await start({ from: at, to: at }), 422, 'validation_failed', ['to range']);
  expectProblem(await start({ from: '2020-01-01T00:00:00Z', to: at }), 422, 'validation_failed', ['to range']);
  expectProblem(await start({ from: at }), 422, 'validation_failed', ['to required']);
  expectProblem(await start({ from: 'x', to: '2026' }), 422, 'validation_failed', ['from format', 'to format']);
  expectProblem(await start(ALL_OF_LATE, (await aWorkspace(service)).admin), 404, 'not_found', []);
  const reader = await workspace.client({ scopes: ['webhooks:read'] });
  expectProblem(await start(ALL_OF_LATE, reader), 403, 'insufficient_scope');
});

it('ends no earlier than it began when it is cancelled in the moment of its first step', async () => {
  await send(of('ann', 1));
  const { id } = await aWebhook(client, receiver.url);
  await client.post(`/v1/webhooks/${id}:disable`, {});
  const path = await startReplay(client, id);
  await until(async () => (await client.get(path)).body.total === 1);
  const statement = "SET state = 'cancelled'";
  const cancelled = await withClient(service.databaseUrl, async (step) => {
    await step.query('BEGIN');
    await step.query('SELECT 1 FROM webhook_replays WHERE tenant_id = $1 FOR UPDATE', [workspace.tenantId]);
    const cancelling = client.post(`${path}:cancel`, {});
    await until(async () => (await waitingForLocks(service.databaseUrl, { statement })) === 1);
    await step.query('UPDATE webhook_replays SET started_at = statement_timestamp() WHERE tenant_id = $1', [
      workspace.tenantId,
    ]);
    await step.query('COMMIT');
    return cancelling;
  });
  const { state, startedAt, finishedAt } = cancelled.body;
  expect([state, Date.parse(finishedAt) >= Date.parse(startedAt)]).toEqual(['cancelled', true]);
});

it('is not started of an endpoint that is deleted at the same time', async () => {
  const { id } = await aWebhook(client, receiver.url);
  const waiting = (sessions: number) =>
    until(async () => (await waitingForLocks(service.databaseUrl, { statement: 'webhook_sets' })) === sessions);
  const [deleted, started] = await withClient(service.databaseUrl, async (holder) => {
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM webhook_sets WHERE tenant_id = $1 FOR UPDATE', [workspace.tenantId]);
    const deleting = client.send(`/v1/webhooks/${id}`, undefined, { method: 'DELETE' });
    await waiting(1);
    const starting = client.post(`/v1/webhooks/${id}:replay`, ALL_OF_LATE);
    await waiting(2);
    await holder.query('COMMIT');
    return Promise.all([deleting, starting]);
  });
  expect(deleted.status).toBe(200);
  expectProblem(started, 404, 'not_found');
});
