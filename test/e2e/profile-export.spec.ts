import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Client, expectProblem, type Workspace } from '../support/client';
import { withClient } from '../support/database';
import { aFullPerson, anEchoingWebhook, preparePersons } from '../support/persons';
import { startReceiver, type Receiver } from '../support/webhooks';

let service: TestApp;
let workspace: Workspace;
let receiver: Receiver;

beforeAll(async () => {
  const environment = { WEBHOOKS_ALLOW_PRIVATE: 'true' };
  [service, receiver] = await Promise.all([
    startApp(environment, undefined, [], { processesEvents: true }),
    startReceiver(),
  ]);
  workspace = await aWorkspace(service);
  await preparePersons(workspace.admin);
});

afterAll(() => Promise.all([service.stop(), receiver.stop()]));

interface Exported {
  readonly status: number;
  readonly headers: Headers;
  readonly records: readonly { record: string; data: any }[];
}

async function exportOf({ url, key }: Client, id: string): Promise<Exported> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v1/cdp/profiles/${id}:export`, { method: 'POST', headers });
  const text = await response.text();
  expect(text.endsWith('\n')).toBe(true);
  const records = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { status: response.status, headers: response.headers, records };
}

describe('POST /v1/cdp/profiles/{id}:export', () => {
  it('hands out all that is held of a person, unmasked, and nothing of anybody else', async () => {
    const { admin } = workspace;
    const webhook = await anEchoingWebhook(admin, receiver);
    const [person, other] = [await aFullPerson(admin, webhook), await aFullPerson(admin, webhook)];
    await admin.post('/v1/external-events:batch', {
      items: [{ identity: { type: 'EXTERNAL', value: other.subject } }],
      about: [person.email],
    });
    const { status, headers, records } = await exportOf(admin, person.profileId);
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'application/x-ndjson',
      'no-store',
    ]);
    const text = JSON.stringify(records);
    for (const mark of person.marks) expect(text).toContain(mark);
    for (const mark of other.marks) expect(text).not.toContain(mark);
    const of = (record: string) => records.filter((each) => each.record === record).map(({ data }) => data);
    expect(of('profile')).toEqual([(await admin.get(`/v1/cdp/profiles/${person.profileId}?unmask=true`)).body]);
    expect(of('profile')[0].identifiers).toHaveLength(4);
    expect(of('merge')).toEqual((await admin.get(`/v1/cdp/profiles/${person.profileId}/merges`)).body.items);
    expect(new Set(of('event').map(({ eventId }) => eventId))).toEqual(new Set(person.eventIds));
    const named = { email: person.email, deviceKey: person.device };
    expect(of('named_in_event')).toMatchObject([{ identity: named }]);
    expect(of('review_entry').length).toBeGreaterThanOrEqual(6);
    expect(of('participant_state')).toMatchObject([{ campaignId: 'spring', values: { motto: person.marks[6] } }]);
    const paths = ['state.user.motto', 'state.campaign.slogan'];
    expect(of('mutation_outcome')).toMatchObject([{ mutations: paths.map((path) => ({ path })) }]);
    const deliveriesOf = (kind: string) => of('webhook_delivery').filter((each) => each.kind === kind);
    expect(new Set(deliveriesOf('event').map(({ id }) => id))).toEqual(new Set(person.eventIds));
    expect(deliveriesOf('change')).toHaveLength(2);
    for (const { attempts } of deliveriesOf('event')) expect(attempts[0].answer).toContain('"identity"');
    expect(of('value_change')).toMatchObject([
      { scope: 'user', name: 'motto', previous: null, current: person.marks[6] },
      { scope: 'campaign', name: 'slogan', op: 'set', current: 'hello' },
    ]);
  });

  it('has only kinds of records that the OpenAPI document lists', async () => {
    const { admin } = workspace;
    const webhook = await anEchoingWebhook(admin, receiver);
    const { profileId } = await aFullPerson(admin, webhook);
    const { records } = await exportOf(admin, profileId);
    const document = (await admin.get('/docs-json')).body;
    const listed: string[] = document.components.schemas.ExportedRecordDto.properties.record.enum;
    expect(new Set(records.map(({ record }) => record))).toEqual(new Set(listed));
  });

  it('is written down before the first line', async () => {
    const { admin, tenantId } = workspace;
    const { profileId } = await aFullPerson(admin);
    await exportOf(admin, profileId);
    const { rows } = await withClient(service.databaseUrl, (client) =>
      client.query('SELECT what FROM unmask_audit WHERE tenant_id = $1 ORDER BY id DESC LIMIT 1', [tenantId]),
    );
    expect(rows).toEqual([{ what: `POST /v1/cdp/profiles/${profileId}:export` }]);
  });

  it('streams thousands of events, each once', async () => {
    const { admin } = workspace;
    const identity = { type: 'EXTERNAL', value: `busy-${randomUUID()}` };
    const items = Array.from({ length: 1_000 }, () => anExternalEvent({ identity }));
    const { body } = await admin.post('/v1/external-events:batch', { items });
    const id = (await admin.post('/v1/cdp/profiles:lookup', identity)).body.id;
    const { records } = await exportOf(admin, id);
    const events = records.filter(({ record }) => record === 'event').map(({ data }) => data.eventId);
    expect(events).toHaveLength(1_000);
    expect(new Set(events)).toEqual(
      new Set(body.results.map(({ event_id: eventId }: { event_id: string }) => eventId)),
    );
  });

  it('takes profiles:read and pii:read, both, and names the one that is missing', async () => {
    const { profileId } = await aFullPerson(workspace.admin);
    const path = `/v1/cdp/profiles/${profileId}:export`;
    for (const [scope, missing] of [
      ['profiles:read', 'pii:read'],
      ['pii:read', 'profiles:read'],
      ['profiles:write', 'profiles:read'],
    ] as const) {
      const answer = await (await workspace.client({ scopes: [scope] })).send(path, undefined);
      expectProblem(answer, 403, 'insufficient_scope', []);
      expect(answer.headers.get('www-authenticate')).toContain(`scope="${missing}"`);
    }
    const both = await workspace.client({ scopes: ['profiles:read', 'pii:read'] });
    expect((await exportOf(both, profileId)).status).toBe(200);
  });

  it('answers 404, as a problem, for whom nobody or another workspace knows', async () => {
    const { profileId } = await aFullPerson(workspace.admin);
    const stranger = (await aWorkspace(service)).admin;
    for (const id of [randomUUID(), 'x', profileId]) {
      expectProblem(await stranger.send(`/v1/cdp/profiles/${id}:export`, undefined), 404, 'not_found', []);
    }
  });

  it('hands out what was refused because it is nested as deep as no stack is', async () => {
    const { admin } = workspace;
    const { profileId, subject } = await aFullPerson(admin);
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    const event = JSON.stringify(anExternalEvent({ identity: { type: 'EXTERNAL', value: subject } }));
    expect((await admin.send('/v1/external-events', event.replace('{"amount":29.33}', deep))).status).toBe(400);
    const { status, records } = await exportOf(admin, profileId);
    expect(status).toBe(200);
    expect(records.filter(({ record }) => record === 'review_entry').length).toBeGreaterThan(0);
  });
});
