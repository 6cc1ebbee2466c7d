import { Webhook } from 'standardwebhooks';
import { firstIdAt } from '../../src/platform/values/ids';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Client, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';
import { aTokenIssuer } from '../support/tokens';
import { until } from '../support/until';
import { aWebhook, keepUpDeliveries, startReceiver, type ReceivedCall, type Receiver } from '../support/webhooks';

const CAMPAIGN = 'spring';
const POINTS = { change: { scope: 'user', name: 'points' } };
const STOCK = { change: { scope: 'campaign', name: 'stock', campaignId: CAMPAIGN } };

let service: TestApp;
let receiver: Receiver;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  const environment = { WEBHOOKS_ALLOW_PRIVATE: 'true', STATE_HISTORY_DAYS: '0' };
  service = await startApp(environment, undefined, [], { processesEvents: true });
});
beforeEach(async () => {
  [receiver, workspace] = await Promise.all([startReceiver(), aWorkspace(service)]);
  client = workspace.admin;
  for (const [scope, name, type] of [
    ['user', 'points', 'number'],
    ['user', 'email', 'string'],
    ['campaign', 'stock', 'number'],
    ['app', 'theme', 'string'],
  ]) {
    await client.post(`/v1/campaigns/${CAMPAIGN}/variables:define`, { scope, name, type });
  }
});
afterEach(() => receiver.stop());
afterAll(() => service.stop());

async function mutate(sub: string, path: string, value: unknown, op = 'set', campaign = CAMPAIGN): Promise<void> {
  const body = { ops: [{ path, op, value }] };
  const answer = await client.post(`/v1/campaigns/${campaign}/participants/${sub}/state:mutate`, body);
  if (answer.status !== 200) throw new Error(`State was not changed: ${JSON.stringify(answer.body)}`);
}

const deliveriesOf = async (id: string): Promise<any[]> =>
  (await client.get(`/v1/webhooks/${id}/deliveries`)).body.items;

const dataOf = (calls: readonly ReceivedCall[]): any[] => calls.map(({ body }) => body.data);

/** What is stored anywhere for webhooks about changes, as text. */
async function storedText(): Promise<string> {
  const rows = await rowsOf(
    service.databaseUrl,
    `SELECT (SELECT json_agg(c)::text FROM webhook_changes c WHERE tenant_id = $1) AS changes,
       (SELECT json_agg(d)::text FROM webhook_deliveries d WHERE tenant_id = $1 AND is_change) AS deliveries,
       (SELECT json_agg(q)::text FROM webhook_queues q WHERE tenant_id = $1) AS queues`,
    [workspace.tenantId],
  );
  return JSON.stringify(rows);
}

it('sends each change of a subscribed variable once, signed, also while no history is kept', async () => {
  const { id, secret } = await aWebhook(client, receiver.url, { events: [POINTS, STOCK], unmask: true });
  await mutate('ann', 'state.user.points', 10);
  await mutate('ann', 'state.user.email', 'ann@example.com');
  await mutate('ann', 'state.user.points', 5, 'inc');
  await mutate('ann', 'state.campaign.stock', 7);
  await receiver.until(3);
  await until(async () => (await deliveriesOf(id)).every(({ state }) => state === 'delivered'));
  expect(receiver.calls).toHaveLength(3);
  const [first, second] = dataOf(receiver.calls.filter(({ body }) => body.type === 'change.user.points'));
  const entry = { scope: 'user', campaignId: CAMPAIGN, name: 'points', participant: 'ann' };
  const cause = { kind: 'mutation', actor: expect.any(String) };
  expect(first).toMatchObject({ ...entry, op: 'set', previous: null, current: 10, cause });
  expect(second).toMatchObject({ ...entry, op: 'inc', previous: 10, current: 15, cause });
  expect(dataOf(receiver.calls)).toContainEqual(
    expect.objectContaining({ scope: 'campaign', campaignId: CAMPAIGN, name: 'stock', current: 7 }),
  );
  for (const { text, headers, body } of receiver.calls) {
    expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toEqual(body);
    expect(headers['webhook-id']).toBe(body.data.changeId);
  }
  const listed = await deliveriesOf(id);
  expect(listed.map(({ kind }) => kind)).toEqual(['change', 'change', 'change']);
  expect(new Set(listed.map((each) => each.id))).toEqual(new Set(dataOf(receiver.calls).map((d) => d.changeId)));
});

it('keeps the order of each participant and of each shared value while an attempt fails, and its id', async () => {
  const { id } = await aWebhook(client, receiver.url, { events: [POINTS, STOCK], unmask: true });
  let isBroken = true;
  receiver.answer(({ body }) => ({ status: isBroken && body.data.current === 1 ? 500 : 204 }));
  for (const value of [1, 2, 3]) await mutate('ann', 'state.user.points', value);
  for (const value of [11, 12, 13]) await mutate('bob', 'state.user.points', value);
  for (const value of [1, 22, 23]) await mutate('bob', 'state.campaign.stock', value);
  await receiver.until(5);
  await until(async () => (await deliveriesOf(id)).filter(({ state }) => state === 'delivered').length === 3);
  isBroken = false;
  for (const { id: deliveryId, state, attemptCount } of await deliveriesOf(id)) {
    if (state === 'pending' && attemptCount === 1)
      await client.post(`/v1/webhooks/${id}/deliveries/${deliveryId}:retry`, {});
  }
  await until(async () => (await deliveriesOf(id)).every(({ state }) => state === 'delivered'));
  const valuesOf = (fits: (data: any) => boolean) =>
    dataOf(receiver.calls)
      .filter(fits)
      .map(({ current }) => current);
  expect(valuesOf(({ participant }) => participant === 'ann')).toEqual([1, 1, 2, 3]);
  expect(valuesOf(({ participant }) => participant === 'bob')).toEqual([11, 12, 13]);
  expect(valuesOf(({ name }) => name === 'stock')).toEqual([1, 1, 22, 23]);
  const firsts = receiver.calls.filter(({ body }) => body.data.participant === 'ann').slice(0, 2);
  expect(new Set(firsts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

it('sends what a reaction changed, with the event as its cause', async () => {
  await client.post(`/v1/campaigns/${CAMPAIGN}/reactions:define`, {
    name: 'count',
    eventType: 'purchase',
    ops: [{ path: 'state.user.points', op: 'inc', value: 1 }],
  });
  await aWebhook(client, receiver.url, { events: [POINTS] });
  const { body } = await client.post(
    '/v1/external-events',
    anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' } }),
  );
  const [call] = await receiver.until(1);
  const cause = { kind: 'reaction', campaignId: CAMPAIGN, reaction: 'count', eventId: body.event_id };
  expect(call!.body.data).toMatchObject({ current: 1, cause });
});

it('leaves out other variables, campaigns and workspaces, and what happened before', async () => {
  const other = await aWorkspace(service);
  await client.post(`/v1/campaigns/autumn/variables:define`, { scope: 'campaign', name: 'stock', type: 'number' });
  await mutate('ann', 'state.campaign.stock', 1);
  await aWebhook(other.admin, `${receiver.url}/other`, { events: [{ change: { scope: 'campaign', name: 'stock' } }] });
  await aWebhook(client, `${receiver.url}/one`, { events: [STOCK, { change: { scope: 'campaign', name: 'stock' } }] });
  await aWebhook(client, `${receiver.url}/theme`, { events: [{ change: { scope: 'app', name: 'theme' } }] });
  await mutate('ann', 'state.campaign.stock', 2, 'set', 'autumn');
  await mutate('ann', 'state.campaign.stock', 3);
  await mutate('ann', 'state.user.points', 4);
  await mutate('ann', 'state.app.theme', 'dark');
  await receiver.until(3);
  await until(async () => !(await storedText()).includes('"pending"'));
  const seen = receiver.calls.map(({ path, body }) => [path, body.data.current]);
  expect(seen.toSorted()).toEqual([
    ['/one', 2],
    ['/one', 3],
    ['/theme', 'dark'],
  ]);
  expect(dataOf(receiver.calls.filter(({ path }) => path === '/theme'))[0]).toMatchObject({ appId: 'default' });
});

it('masks participants and contact data unless the endpoint may have them', async () => {
  const events = [{ change: { scope: 'user', name: 'email' } }, { change: { scope: 'app', name: 'theme' } }];
  await aWebhook(client, `${receiver.url}/masked`, { events });
  await aWebhook(client, `${receiver.url}/whole`, { events, unmask: true });
  const participant = (await aTokenIssuer(client)).participant({ sub: 'participant-ann', campaign_id: CAMPAIGN });
  const ops = [
    { path: 'state.user.email', op: 'set', value: 'ann@example.com' },
    { path: 'state.app.theme', op: 'set', value: 'call +4917012345678' },
  ];
  const answer = await participant.post('/v1/runtime/state:mutate', { ops, mutation_id: 'of ann@example.com' });
  expect(answer.status).toBe(200);
  await receiver.until(4);
  const textOf = (path: string) =>
    receiver.calls
      .filter((call) => call.path === path)
      .map(({ text }) => text)
      .join();
  for (const secret of ['participant-ann', 'ann@example.com', '4917012345678']) {
    expect(textOf('/masked')).not.toContain(secret);
    expect(textOf('/whole')).toContain(secret);
  }
  expect(textOf('/masked')).toContain('"participant":"pa***"');
});

it('erases changes of a person, sent or not, and who changed a shared value', async () => {
  const events = [POINTS, STOCK];
  const { id } = await aWebhook(client, receiver.url, { events, unmask: true });
  receiver.answer(() => ({ status: 500, body: 'no points for subject-ann' }));
  const eventId = (
    await client.post('/v1/external-events', anExternalEvent({ identity: { type: 'EXTERNAL', value: 'subject-ann' } }))
  ).body.event_id;
  await until(async () => (await client.get(`/v1/events/${eventId}`)).body.profileId !== undefined);
  const participant = (await aTokenIssuer(client)).participant({ sub: 'subject-ann', campaign_id: CAMPAIGN });
  // So long that no part of a time or of an id looks like them.
  const ops = [
    { path: 'state.user.points', op: 'set', value: 77_000_004_711 },
    { path: 'state.user.points', op: 'inc', value: 1 },
    { path: 'state.campaign.stock', op: 'set', value: 5 },
  ];
  await participant.post('/v1/runtime/state:mutate', { ops, mutation_id: 'chosen-by-ann' });
  await until(async () => (await deliveriesOf(id)).filter(({ attemptCount }) => attemptCount === 1).length === 2);
  const { profileId } = (await client.get(`/v1/events/${eventId}`)).body;
  const exported = await fetch(`${service.url}/v1/cdp/profiles/${profileId}:export`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.key}` },
  });
  expect(await exported.text()).toMatch(/webhook_change.*77000004712/);
  expect((await client.post(`/v1/cdp/profiles/${profileId}:erase`, {})).status).toBeLessThan(300);
  expect(await storedText()).not.toMatch(/ann|77000004711|77000004712/);
  // The change of the shared value stays, for the chain, and is sent without who it was.
  receiver.answer(() => ({ status: 204 }));
  const [left, ...others] = await deliveriesOf(id);
  expect(others).toEqual([]);
  const before = receiver.calls.length;
  await client.post(`/v1/webhooks/${id}/deliveries/${left.id}:retry`, {});
  const [call] = (await receiver.until(before + 1)).slice(before);
  expect(call!.body.data).toMatchObject({ name: 'stock', current: 5, cause: { kind: 'mutation' } });
  expect(call!.text).not.toContain('ann');
});

it('keeps a change as long as its deliveries', async () => {
  const { id } = await aWebhook(client, receiver.url, { events: [POINTS] });
  for (const value of [1, 2, 3]) await mutate('ann', 'state.user.points', value);
  await until(async () => (await deliveriesOf(id)).filter(({ state }) => state === 'delivered').length === 3);
  // Two of them, 40 days old; of one the delivery is not done yet.
  const age = async (each: string, number: number, pending: boolean): Promise<void> => {
    const old = firstIdAt(new Date(Date.now() - 40 * 86_400_000)).slice(0, -1) + String(number);
    await rowsOf(service.databaseUrl, 'UPDATE webhook_changes SET id = $2 WHERE id = $1', [each, old]);
    await rowsOf(
      service.databaseUrl,
      `UPDATE webhook_deliveries SET event_id = $2, seq = 1000000 + seq % 1000, done_at = now() - interval '40 days',
         state = $3 WHERE event_id = $1`,
      [each, old, pending ? 'pending' : 'delivered'],
    );
  };
  const [newest, , oldest] = await deliveriesOf(id);
  await age(oldest.id, 1, false);
  await age(newest.id, 2, true);
  await keepUpDeliveries(service.app);
  const left = await rowsOf<{ value: number }>(
    service.databaseUrl,
    `SELECT (change->>'current')::int AS value FROM webhook_changes WHERE tenant_id = $1 ORDER BY 1`,
    [workspace.tenantId],
  );
  expect(left.map(({ value }) => value)).toEqual([2, 3]);
});

it('names every fault of a subscription, and needs the scope that shows values', async () => {
  const url = 'https://hooks.example.com/';
  const refused = await client.post('/v1/webhooks', {
    url,
    events: [
      { change: { scope: 'user', name: 'userId' }, eventType: 'purchase' },
      { change: { scope: 'app', name: 'theme', campaignId: CAMPAIGN } },
      { change: { scope: 'everything', name: 'no-name', campaign: 'x' } },
      {},
    ],
  });
  expect(refused.status).toBe(422);
  const codes = refused.body.details.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);
  expect(codes.toSorted()).toEqual([
    'events[0].change.name reserved_name',
    'events[0].eventType conflicting_fields',
    'events[1].change.campaignId conflicting_fields',
    'events[2].change.campaign unknown_field',
    'events[2].change.name format',
    'events[2].change.scope enum',
    'events[3].eventType required',
  ]);
  const without = await workspace.client({ scopes: ['webhooks:write', 'webhooks:read'] });
  expect(await without.post('/v1/webhooks', { url, events: [POINTS] })).toMatchObject({ status: 403 });
  // Nobody leads elsewhere what another credential may send.
  const { id } = await aWebhook(client, url, { events: [POINTS] });
  expect((await client.get(`/v1/webhooks/${id}`)).body.events).toEqual([POINTS]);
  const elsewhere = JSON.stringify({ url: 'https://elsewhere.example.com/' });
  expect((await without.send(`/v1/webhooks/${id}`, elsewhere, { method: 'PATCH' })).status).toBe(403);
});
