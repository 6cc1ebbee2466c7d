import { spawnSync } from 'node:child_process';
import { Webhook } from 'standardwebhooks';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Client, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';
import { until } from '../support/until';
import { aWebhook, makeDue, numbersOf, startReceiver, type ReceivedCall, type Receiver } from '../support/webhooks';

let service: SharedApp;
let receiver: Receiver;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  service = await sharedApp({ processesEvents: true });
});
beforeEach(async () => {
  [receiver, workspace] = await Promise.all([startReceiver(), aWorkspace(service)]);
  client = workspace.admin;
});
afterEach(() => receiver.stop());
async function send(fields: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await client.post('/v1/external-events', anExternalEvent(fields));
  expect(status).toBe(202);
  return body.event_id;
}

/** One event after the other, numbered from `from`, of a customer. */
async function sendNumbered(count: number, identity: object, from = 1): Promise<void> {
  for (let n = from; n < from + count; n += 1) await send({ identity, attributes: { n } });
}

async function deliveriesOf(id: string, state = ''): Promise<any[]> {
  const { status, body } = await client.get(`/v1/webhooks/${id}/deliveries${state === '' ? '' : `?state=${state}`}`);
  expect(status).toBe(200);
  return body.items;
}

const passTime = (id: string): Promise<void> => makeDue(service.databaseUrl, id);

const ann = { type: 'EXTERNAL', value: 'ann' };
const annsEmail = { type: 'EMAIL', value: 'ann@example.com' };

/** Sends the event `n`, which says that both of the identities above are Ann. */
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

const headersOf = ({ headers }: ReceivedCall) => headers as Record<string, string>;

it('sends the masked record of an event once, signed as Standard Webhooks says', async () => {
  const { id, secret } = await aWebhook(client, `${receiver.url}/hooks?x=1`);
  const identity = { type: 'EMAIL', value: 'jane@example.com' };
  const eventId = await send({ identity, attributes: { amount: 29.33, phone: '+4917012345678' } });
  const [call] = await receiver.until(1);
  expect(call).toMatchObject({
    path: '/hooks?x=1',
    body: {
      type: 'event.purchase',
      timestamp: '2026-01-02T03:04:05.000Z',
      data: { eventId, eventType: 'purchase', identity: { value: 'j***@e***.com' }, properties: { amount: 29.33 } },
    },
  });
  expect(call!.text).not.toMatch(/jane|4917012345678/);
  expect(call!.headers['webhook-id']).toBe(eventId);
  expect(new Webhook(secret).verify(call!.text, headersOf(call!))).toEqual(call!.body);
  expect(() => new Webhook(secret).verify(`${call!.text} `, headersOf(call!))).toThrow();
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 1);
  const [delivery] = await deliveriesOf(id);
  expect(delivery).toMatchObject({ id: eventId, state: 'delivered', attemptCount: 1 });
  expect(delivery.attempts).toEqual([expect.objectContaining({ outcome: 'delivered', status: 204, answer: '' })]);
  expect(receiver.calls).toHaveLength(1);
  const { processing } = (await client.get(`/v1/events/${eventId}`)).body;
  expect(processing.deliveries).toEqual([{ webhookId: id, state: 'delivered', attemptCount: 1 }]);
});

it('is verified by the standard library of Python', async () => {
  const { secret } = await aWebhook(client, receiver.url);
  await send();
  const [call] = await receiver.until(1);
  const input = JSON.stringify({ secret, headers: call!.headers, body: call!.text });
  const verified = spawnSync('python3', ['-c', PYTHON], { input, encoding: 'utf8' });
  if (verified.error !== undefined) throw new Error('This test needs python3, which cannot be started here');
  expect(verified).toMatchObject({ status: 0, stdout: 'verified\n' });
  const forged = JSON.stringify({ secret, headers: call!.headers, body: `${call!.text} ` });
  expect(spawnSync('python3', ['-c', PYTHON], { input: forged, encoding: 'utf8' }).stdout).toBe('refused\n');
});

const PYTHON = `
import base64, hashlib, hmac, json, sys
call = json.load(sys.stdin)
headers = call["headers"]
key = base64.b64decode(call["secret"].removeprefix("whsec_"))
signed = ".".join([headers["webhook-id"], headers["webhook-timestamp"], call["body"]]).encode()
expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
signatures = headers["webhook-signature"].split(" ")
print("verified" if any(hmac.compare_digest(expected, each) for each in signatures) else "refused")
`;

it('sends what fits a rule only, and personal data only to an endpoint that may have it', async () => {
  const when = { '>=': [{ var: 'event.properties.amount' }, 20] };
  await aWebhook(client, `${receiver.url}/masked`, { events: [{ eventType: 'purchase', when, source: 'shop' }] });
  await aWebhook(client, `${receiver.url}/whole`, { unmask: true });
  const identity = { type: 'EMAIL', value: 'jane@example.com' };
  const fits = await send({ identity, source: 'shop', attributes: { amount: 20 } });
  const others = [
    await send({ identity, source: 'shop', attributes: { amount: 19 } }),
    await send({ identity, source: 'till', attributes: { amount: 20 } }),
  ];
  await send({ identity, type: 'refund' });
  const whole = await receiver.until(3, ({ path }) => path === '/whole');
  expect(whole.map(({ body }) => body.data.eventId)).toEqual([fits, ...others]);
  expect(whole[0]!.body.data.identity).toEqual({ type: 'EMAIL', value: 'jane@example.com' });
  const masked = await receiver.until(1, ({ path }) => path === '/masked');
  expect(masked.map(({ body }) => body.data.eventId)).toEqual([fits]);
});

it('masks in views what a receiver that gets personal data repeats in its answers', async () => {
  const properties = { shoe: { type: 'string', pii: true } };
  await client.post('/v1/cdp/event-types', { eventType: 'purchase', properties });
  const { id } = await aWebhook(client, receiver.url, { unmask: true });
  receiver.answer(({ text }) => ({ status: 422, body: `Refused, of jane@example.com: ${text}` }));
  const identity = { type: 'EMAIL', value: 'jane@example.com' };
  const eventId = await send({ identity, attributes: { shoe: 'forty-two' } });
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 1);
  const retried = await client.post(`/v1/webhooks/${id}/deliveries/${eventId}:retry`, {});
  for (const delivery of [(await deliveriesOf(id))[0], retried.body]) {
    const [{ answer }] = delivery.attempts;
    expect(answer).toContain('Refused, of j***@e***.com: {"type":"event.purchase"');
    expect(answer).not.toMatch(/jane|forty-two/);
  }
});

it('sends an event over 20 KB as a reference', async () => {
  await aWebhook(client, receiver.url);
  const eventId = await send({ attributes: { long: 'x'.repeat(21_000) } });
  const [call] = await receiver.until(1);
  expect(call!.body.data).toMatchObject({ eventId, isReference: true, source: 'shop.orders' });
  expect(call!.body.data).not.toHaveProperty('properties');
  expect(call!.text.length).toBeLessThan(1_000);
});

it('lets a customer wait for a failed delivery, in order, and nobody else', async () => {
  const { id } = await aWebhook(client, receiver.url);
  let isBroken = true;
  receiver.answer(({ body }) => ({ status: isBroken && body.data.properties.n === 1 ? 500 : 200, body: 'oh no' }));
  await sendNumbered(3, ann);
  await receiver.until(1);
  await sendNumbered(3, { type: 'EXTERNAL', value: 'bob' }, 11);
  await receiver.until(3, ({ body }) => body.data.properties.n > 10);
  expect(numbersOf(receiver.calls).filter((n) => n < 10)).toEqual([1]);
  await until(async () => (await deliveriesOf(id, 'pending')).some(({ attemptCount }) => attemptCount === 1));
  const [first] = (await deliveriesOf(id, 'pending')).toReversed();
  expect(first.attempts).toEqual([
    expect.objectContaining({ outcome: 'refused_status', status: 500, answer: 'oh no' }),
  ]);
  isBroken = false;
  const { status } = await client.post(`/v1/webhooks/${id}/deliveries/${first.id}:retry`, {});
  expect(status).toBe(200);
  await receiver.until(4, ({ body }) => body.data.properties.n < 10);
  expect(numbersOf(receiver.calls).filter((n) => n < 10)).toEqual([1, 1, 2, 3]);
  const ids = receiver.calls
    .filter(({ body }) => body.data.properties.n === 1)
    .map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(1);
});

it('keeps the order of a customer that is merged while deliveries wait', async () => {
  const { id } = await aWebhook(client, receiver.url);
  // Two customers, so that the events after the merge have another profile than the one that waits.
  await send({ identity: ann, attributes: { n: 0 } });
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 1);
  let isBroken = true;
  receiver.answer(() => ({ status: isBroken ? 503 : 200 }));
  await send({ identity: annsEmail, attributes: { n: 1 } });
  await receiver.until(2);
  await mergeAnn(2);
  await send({ identity: ann, attributes: { n: 3 } });
  await until(async () => (await deliveriesOf(id, 'pending')).length === 3);
  // Only the first one was tried: the others wait for it, though they are due.
  const [{ profiles }] = (await rowsOf<{ profiles: number }>(
    service.databaseUrl,
    'SELECT count(*)::int AS profiles FROM webhook_queues WHERE endpoint_id = $1',
    [id],
  )) as [{ profiles: number }];
  expect(profiles).toBe(2);
  isBroken = false;
  const before = receiver.calls.length;
  expect(numbersOf(receiver.calls)).toEqual([0, 1]);
  await until(async () => {
    await passTime(id);
    return (await deliveriesOf(id, 'delivered')).length === 4;
  });
  expect(numbersOf(receiver.calls.slice(before))).toEqual([1, 2, 3]);
});

it('goes on at once with a customer that is merged during a call', async () => {
  const { id } = await aWebhook(client, receiver.url);
  await send({ identity: ann, attributes: { n: 0 } });
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 1);
  let answer: (status: { status: number }) => void = () => undefined;
  const answered = new Promise<{ status: number }>((resolve) => (answer = resolve));
  receiver.answer(() => answered);
  await send({ identity: annsEmail, attributes: { n: 1 } });
  await receiver.until(2);
  await mergeAnn(2);
  // The second queue has been looked at, and waits for the call: for an hour, if nobody wakes it.
  const wait = `UPDATE webhook_queues SET due_at = now() + interval '1 hour'
    WHERE endpoint_id = $1 AND claim_id IS NULL AND due_at > now() + interval '1 second' RETURNING 1`;
  await until(async () => (await rowsOf(service.databaseUrl, wait, [id])).length === 1);
  answer({ status: 200 });
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 3);
  expect(numbersOf(receiver.calls)).toEqual([0, 1, 2]);
});

it('signs with both secrets after a rotation', async () => {
  const { id, secret } = await aWebhook(client, receiver.url);
  const rotated = await client.post(`/v1/webhooks/${id}:rotate-secret`, {});
  expect(rotated.status).toBe(201);
  await send();
  const [call] = await receiver.until(1);
  for (const each of [secret, rotated.body.secret]) {
    expect(new Webhook(each).verify(call!.text, headersOf(call!))).toEqual(call!.body);
  }
  await rowsOf(service.databaseUrl, `UPDATE webhook_endpoints SET previous_secret_until = now() WHERE id = $1`, [id]);
  await send();
  const [, second] = await receiver.until(2);
  expect(() => new Webhook(secret).verify(second!.text, headersOf(second!))).toThrow();
  new Webhook(rotated.body.secret).verify(second!.text, headersOf(second!));
});

it('signs with a secret that was rotated by an id in upper case', async () => {
  const { id } = await aWebhook(client, receiver.url);
  const rotated = await client.post(`/v1/webhooks/${id.toUpperCase()}:rotate-secret`, {});
  await send();
  const [call] = await receiver.until(1);
  expect(new Webhook(rotated.body.secret).verify(call!.text, headersOf(call!))).toEqual(call!.body);
});

it('lets each of two secrets that were rotated within a day sign until its own end, and no third one', async () => {
  const { id, secret: first } = await aWebhook(client, receiver.url);
  const rotate = async (): Promise<string> => (await client.post(`/v1/webhooks/${id}:rotate-secret`, {})).body.secret;
  const verifies = async (...secrets: readonly string[]): Promise<boolean[]> => {
    const before = receiver.calls.length;
    await send();
    const call = (await receiver.until(before + 1)).at(-1)!;
    return secrets.map((secret) => {
      try {
        return new Webhook(secret).verify(call.text, headersOf(call)) !== undefined;
      } catch {
        return false;
      }
    });
  };
  const second = await rotate();
  const third = await rotate();
  expect(await verifies(first, second, third)).toEqual([true, true, true]);
  await rowsOf(service.databaseUrl, `UPDATE webhook_endpoints SET older_secret_until = now() WHERE id = $1`, [id]);
  expect(await verifies(first, second, third)).toEqual([false, true, true]);
  // At once, and so one after the other: each of them signs.
  const [fourth, fifth] = await Promise.all([rotate(), rotate()]);
  expect(await verifies(second, third, fourth, fifth)).toEqual([false, true, true, true]);
});

it('signs with the new secret when the old one was sealed under a key that is lost', async () => {
  const { id } = await aWebhook(client, receiver.url);
  const rotated = await client.post(`/v1/webhooks/${id}:rotate-secret`, {});
  const lost = `UPDATE webhook_endpoints SET previous_secret = previous_secret || '\\x00' WHERE id = $1`;
  await rowsOf(service.databaseUrl, lost, [id]);
  await send();
  const [call] = await receiver.until(1);
  expect(new Webhook(rotated.body.secret).verify(call!.text, headersOf(call!))).toEqual(call!.body);
  expect(call!.headers['webhook-signature']).not.toContain(' ');
  expect((await client.post(`/v1/webhooks/${id}:test`, {})).body).toMatchObject({ outcome: 'delivered' });
});

it('gives up a delivery that alone fails, keeps it listed, and goes on with the customer', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(({ body }) => ({ status: body.data.properties.n === 1 ? 400 : 200 }));
  await sendNumbered(2, ann);
  await until(async () => (await deliveriesOf(id)).some(({ attemptCount }) => attemptCount === 1));
  await rowsOf(service.databaseUrl, `UPDATE webhook_queues SET failures = 9 WHERE endpoint_id = $1`, [id]);
  await send({ identity: { type: 'EXTERNAL', value: 'bob' }, attributes: { n: 9 } });
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 1);
  await passTime(id);
  await until(async () => (await deliveriesOf(id, 'delivered')).length === 2);
  const [failed] = await deliveriesOf(id, 'failed');
  expect(failed).toMatchObject({ reason: 'attempts_used_up', attemptCount: 2 });
});

it('waits as long as Retry-After says', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 429, headers: { 'retry-after': '7200' } }));
  await send();
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 1);
  const [{ seconds }] = (await rowsOf<{ seconds: number }>(
    service.databaseUrl,
    `SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM webhook_queues WHERE endpoint_id = $1`,
    [id],
  )) as [{ seconds: number }];
  expect(seconds).toBeGreaterThan(7_100);
  expect(seconds).toBeLessThanOrEqual(7_200);
});

it('sends nothing about a person who was erased meanwhile, and keeps no answer about them', async () => {
  const { id } = await aWebhook(client, receiver.url);
  receiver.answer(() => ({ status: 500, body: 'cannot take ann-the-secret' }));
  const eventId = await send({ identity: ann });
  await until(async () => (await deliveriesOf(id))[0]?.attemptCount === 1);
  const { profileId } = (await client.get(`/v1/events/${eventId}`)).body;
  const exported = await fetch(`${service.url}/v1/cdp/profiles/${profileId}:export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.key}` },
  });
  expect(await exported.text()).toContain('cannot take ann-the-secret');
  expect((await client.post(`/v1/cdp/profiles/${profileId}:erase`, {})).status).toBeLessThan(300);
  await until(async () => (await deliveriesOf(id))[0].attempts[0].answer === '');
  await passTime(id);
  await until(async () => (await deliveriesOf(id))[0].state === 'failed');
  expect((await deliveriesOf(id))[0]).toMatchObject({ reason: 'profile_erased', attemptCount: 1 });
  expect(receiver.calls).toHaveLength(1);
});

it('sends a test call, and answers with what came of it', async () => {
  const { id, secret } = await aWebhook(client, receiver.url, { algorithm: 'hmac-sha256' });
  receiver.answer(() => ({ status: 202, body: 'thanks' }));
  const { status, body } = await client.post(`/v1/webhooks/${id}:test`, {});
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { outcome: 'delivered', status: 202, answer: 'thanks' },
  });
  const [call] = receiver.calls;
  expect(new Webhook(secret).verify(call!.text, headersOf(call!))).toMatchObject({ type: 'webhook.test' });
  expect(await deliveriesOf(id)).toEqual([]);
});

it('lets seven endpoints have everything while three others of their host never answer', async () => {
  receiver.answer(({ path }) => (path.startsWith('/silent') ? undefined : { status: 204 }));
  // Two of them alone could hold all calls that a host may have.
  for (let n = 1; n <= 3; n += 1) await aWebhook(client, `${receiver.url}/silent/${n}`);
  for (let n = 1; n <= 7; n += 1) await aWebhook(client, `${receiver.url}/works/${n}`);
  const customers = 40;
  for (let n = 0; n < customers; n += 1) await send({ identity: { type: 'EXTERNAL', value: `customer-${n}` } });
  await receiver.until(7 * customers, ({ path }) => !path.startsWith('/silent'));
  const silent = receiver.calls.filter(({ path }) => path.startsWith('/silent'));
  // Its first calls are still under way.
  expect(silent.length).toBeGreaterThan(0);
  expect(silent.length).toBeLessThanOrEqual(24 + 2);
});
