import { startApp, type TestApp } from '../support/app';
import { aWorkspace, type Client, type Workspace } from '../support/client';
import { rowsOf, waitingForLocks, withClient } from '../support/database';
import { until } from '../support/until';
import { aWebhook } from '../support/webhooks';

const URL_OF_A_HOOK = 'https://hooks.example.com/campaigns';

let service: TestApp;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  // Not the shared one, which may call addresses of this machine.
  service = await startApp();
});
afterAll(() => service.stop());
beforeEach(async () => {
  workspace = await aWorkspace(service);
  client = workspace.admin;
});

const patch = (id: string, body: object, by = client) =>
  by.send(`/v1/webhooks/${id}`, JSON.stringify(body), { method: 'PATCH' });

const codesOf = (answer: { body: any }): string[] =>
  answer.body.details.map(({ path, code }: { path: string; code: string }) => `${path} ${code}`);

/** Runs requests that wait for an endpoint which another transaction changes. Resolves with their answers. */
function whileHeld<Answered>(id: string, work: () => Promise<Answered>[], { commits }: { commits: string }) {
  return withClient(service.databaseUrl, async (holder) => {
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
      workspace.tenantId,
      id,
    ]);
    const calls = work();
    await until(async () => {
      const waiting = await waitingForLocks(service.databaseUrl, { statement: 'webhook_endpoints' });
      return waiting === calls.length;
    });
    await holder.query(commits);
    await holder.query('COMMIT');
    return Promise.all(calls);
  });
}

/** What a dispatcher does when an endpoint answers 410. */
const automaticDisabling = (id: string): string =>
  `UPDATE webhook_endpoints SET enabled = false, disabled_reason = 'gone', disabled_at = now(), failing_since = now()
   WHERE tenant_id = '${workspace.tenantId}' AND id = '${id}'`;

it('shows the secret of a new endpoint once, and stores it encrypted', async () => {
  const events = [{ eventType: 'purchase', source: 'shop', when: { '>': [{ var: 'event.properties.amount' }, 1] } }];
  const created = await client.post('/v1/webhooks', { url: URL_OF_A_HOOK, events, description: 'loyalty' });
  expect(created.status).toBe(201);
  expect(created.headers.get('cache-control')).toBe('no-store');
  const { webhook, secret } = created.body;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(webhook).toMatchObject({ url: URL_OF_A_HOOK, events, description: 'loyalty', unmask: false, enabled: true });
  const shown = await client.get(`/v1/webhooks/${webhook.id}`);
  const listed = await client.get('/v1/webhooks');
  expect([shown.body, ...listed.body.items]).toEqual([webhook, webhook]);
  const [row] = await rowsOf<{ secret: Buffer }>(
    service.databaseUrl,
    'SELECT secret FROM webhook_endpoints WHERE id = $1',
    [webhook.id],
  );
  expect(row!.secret.includes(secret.slice(6, 20))).toBe(false);
});

it('changes what is sent and leaves the rest, and deletes', async () => {
  const { id } = await aWebhook(client, URL_OF_A_HOOK, { description: 'first' });
  const before = (await client.get(`/v1/webhooks/${id}`)).body;
  const changed = await patch(id, { events: [{ eventType: 'refund' }], description: '' });
  expect(changed).toMatchObject({ status: 200, body: { url: URL_OF_A_HOOK, description: null } });
  expect(changed.body.events).toEqual([{ eventType: 'refund' }]);
  expect(changed.body.updatedAt > before.updatedAt).toBe(true);
  const deleted = await client.send(`/v1/webhooks/${id}`, undefined, { method: 'DELETE' });
  expect(deleted.status).toBe(200);
  expect((await client.get(`/v1/webhooks/${id}`)).status).toBe(404);
  expect((await patch(id, {})).status).toBe(404);
});

it('disables and enables, each time with the same answer', async () => {
  const { id } = await aWebhook(client, URL_OF_A_HOOK);
  for (const _time of [1, 2]) {
    const { body } = await client.post(`/v1/webhooks/${id}:disable`, {});
    expect(body).toMatchObject({ enabled: false, disabledReason: 'manual' });
  }
  for (const _time of [1, 2]) {
    const { body } = await client.post(`/v1/webhooks/${id}:enable`, {});
    expect(body).toMatchObject({ enabled: true, disabledReason: null, disabledAt: null });
  }
});

it('is disabled by one of two calls at the same time, and for the reason that comes first', async () => {
  const { id } = await aWebhook(client, URL_OF_A_HOOK);
  const disable = () => client.post(`/v1/webhooks/${id}:disable`, {});
  await whileHeld(id, () => [disable(), disable()], { commits: 'SELECT 1' });
  const actions = async () =>
    (await client.get(`/v1/audit-log?recordId=${id}`)).body.items.map(({ action }: { action: string }) => action);
  expect(await actions()).toEqual(['disabled', 'created']);
  await client.post(`/v1/webhooks/${id}:enable`, {});
  await whileHeld(id, () => [disable()], { commits: automaticDisabling(id) });
  expect((await client.get(`/v1/webhooks/${id}`)).body).toMatchObject({ enabled: false, disabledReason: 'gone' });
});

it('stays as it was disabled at the moment in which it gets another address', async () => {
  const { id } = await aWebhook(client, URL_OF_A_HOOK);
  const url = 'https://elsewhere.example.com/';
  const [moved] = await whileHeld(id, () => [patch(id, { url })], { commits: automaticDisabling(id) });
  const view = { url, enabled: false, disabledReason: 'gone', failingSince: expect.any(String) };
  expect(moved).toMatchObject({ status: 200, body: view });
  expect((await client.get(`/v1/webhooks/${id}`)).body).toMatchObject(view);
});

it.each([
  'http://hooks.example.com/',
  'https://localhost/',
  'https://127.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://2130706433/',
  'https://user:pass@hooks.example.com/',
  'https://intranet/',
  `https://hooks.example.com/${'x'.repeat(2_048)}`,
])('refuses the URL %s', async (url) => {
  const answer = await client.post('/v1/webhooks', { url, events: [{ eventType: 'purchase' }] });
  expect(answer.status).toBe(422);
  expect(JSON.stringify(answer.body)).not.toContain(url.slice(8));
  const { id } = await aWebhook(client, URL_OF_A_HOOK);
  expect((await patch(id, { url })).status).toBe(422);
});

it('names every fault of a body', async () => {
  const answer = await client.post('/v1/webhooks', {
    url: 'nowhere',
    events: [{ eventType: '', when: { no: [] } }, { source: 7 }],
    unmask: 'yes',
    extra: 1,
  });
  expect(answer.status).toBe(422);
  expect(codesOf(answer)).toEqual(
    expect.arrayContaining([
      'url format',
      'events[0].when.no unknown_operator',
      'events[1].eventType required',
      'events[1].source type',
      'unmask type',
      'extra unknown_field',
    ]),
  );
});

it('lets only those send or read personal data who may see it', async () => {
  const without = await workspace.client({ scopes: ['webhooks:write', 'webhooks:read'] });
  const body = { url: URL_OF_A_HOOK, events: [{ eventType: 'purchase' }] };
  expect((await without.post('/v1/webhooks', body)).status).toBe(201);
  const reading = { ...body, events: [{ eventType: 'purchase', when: { '==': [{ var: 'identity.value' }, 'ann'] } }] };
  for (const refused of [{ ...body, unmask: true }, reading]) {
    const answer = await without.post('/v1/webhooks', refused);
    expect(answer).toMatchObject({ status: 403, body: { error_code: 'insufficient_scope' } });
    expect((await client.post('/v1/webhooks', refused)).status).toBe(201);
  }
  // What another credential was allowed to send cannot be led elsewhere.
  const { id } = await aWebhook(client, URL_OF_A_HOOK, { unmask: true });
  expect((await patch(id, { url: 'https://elsewhere.example.com/' }, without)).status).toBe(403);
  expect((await patch(id, { unmask: false }, without)).status).toBe(200);
});

it('has at most 50 endpoints in a workspace, also when many are created at once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 55 }, (_unused, number) =>
      client.post('/v1/webhooks', { url: URL_OF_A_HOOK, events: [{ eventType: `type-${number}` }] }),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(50);
  const refused = answers.filter(({ status }) => status !== 201);
  for (const answer of refused) expect(codesOf(answer)).toEqual(['url limit_exceeded']);
});

it('has at most 50 rules for a type of events', async () => {
  const rules = (count: number) => Array.from({ length: count }, () => ({ eventType: 'purchase' }));
  await aWebhook(client, URL_OF_A_HOOK, { events: rules(30) });
  const answer = await client.post('/v1/webhooks', { url: URL_OF_A_HOOK, events: rules(21) });
  expect(codesOf(answer)).toEqual(['events[20].eventType limit_exceeded']);
  await aWebhook(client, URL_OF_A_HOOK, { events: rules(20) });
});
