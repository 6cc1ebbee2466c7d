import { AUDIT_KINDS } from '../../src/platform/audit/audit-kinds';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, anExternalEvent, PURCHASE } from '../support/builders';
import { aWorkspace, type Client, expectProblem, type Workspace } from '../support/client';
import { withClient } from '../support/database';
import { pagesOf } from '../support/pages';

const PATH = '/v1/audit-log';
const SECRET = 'a shared secret, as long as it has to be';
const ANY_PURCHASE = { eventType: 'purchase' };
const PERSON = { type: 'EXTERNAL', value: 'customer-4711' };

let service: SharedApp;
let workspace: Workspace;
let admin: Client;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
  ({ admin } = workspace);
});

async function made(path: string, body: object = {}, method = 'POST'): Promise<any> {
  const answer = await admin.send(path, JSON.stringify(body), { method });
  expect(answer.status).toBeLessThan(300);
  return answer.body;
}

/** A customer of two profiles, each with an event of its own. */
async function aMergedCustomer(): Promise<any> {
  await made('/v1/cdp/event-types', PURCHASE);
  const [email, external] = [{ email: 'ann@example.com' }, { externalUserId: 'ann' }];
  for (const identity of [email, external, { ...email, ...external }]) {
    await made('/v1/cdp/events', aCdpEvent({ identity }));
  }
  return (await admin.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: 'ann' })).body;
}

async function aCustomer(): Promise<string> {
  const { event_id: event } = await made('/v1/external-events', anExternalEvent({ identity: PERSON }));
  return (await admin.get(`/v1/events/${event}`)).body.profileId;
}

/** As the list has it, the newest first, without the creation of the admin key. */
async function entries(query = ''): Promise<any[]> {
  const { items } = (await admin.get(`${PATH}${query}`)).body;
  return items.filter(({ by }: any) => by !== 'test' && by !== 'command line');
}
const wordsOf = (items: readonly any[]): string[] => items.map(({ kind, action }) => `${kind} ${action}`);

/** One of each kind; answers what the list must say, the newest first. */
async function oneOfEach(): Promise<string[]> {
  const { apiKey } = await made('/v1/api-keys', { name: 'shop', scopes: ['events:read'] });
  const { apiKey: next } = await made(`/v1/api-keys/${apiKey.id}:rotate`);
  await made(`/v1/api-keys/${next.id}:revoke`);
  const issuer = { issuer: 'https://login.example.com/', audience: 'campaigns', secret: SECRET };
  const { id } = await made('/v1/jwt-issuers', issuer);
  await made(`/v1/jwt-issuers/${id}`, { defaultCampaignId: 'spring' }, 'PUT');
  await admin.send(`/v1/jwt-issuers/${id}`, undefined, { method: 'DELETE' });
  const { serviceCredential } = await made('/v1/service-credentials', { name: 'erp', algorithm: 'hmac-sha256' });
  await made(`/v1/service-credentials/${serviceCredential.id}:revoke`);
  await made(`/v1/service-credentials/${serviceCredential.id}:revoke`);
  const profile = await aCustomer();
  await admin.get(`/v1/cdp/profiles/${profile}?unmask=true`);
  await admin.send(`/v1/cdp/profiles/${profile}:export`, '{}');
  await made(`/v1/cdp/profiles/${profile}:erase`);
  await made('/v1/cdp/erasures:lift', PERSON);
  await made('/v1/cdp/erasures:lift', PERSON);
  const hook = await made('/v1/webhooks', { url: 'https://hooks.example.com/secret-path', events: [ANY_PURCHASE] });
  const webhook = `/v1/webhooks/${hook.webhook.id}`;
  await made(webhook, { description: 'crm' }, 'PATCH');
  await made(`${webhook}:rotate-secret`);
  await made(`${webhook}:disable`);
  await made(`${webhook}:disable`);
  await made(`${webhook}:enable`);
  await admin.send(webhook, undefined, { method: 'DELETE' });
  await made('/v1/retention', { eventDays: 365 }, 'PUT');
  await made('/v1/retention', { eventDays: 365 }, 'PUT');
  return [
    ...['retention changed', 'webhook deleted', 'webhook enabled', 'webhook disabled', 'webhook secret_rotated'],
    ...['webhook changed', 'webhook created'],
    ...['erasure lifted', 'erasure erased', 'unmasked_read exported', 'unmasked_read read'],
    ...['service_credential revoked', 'service_credential created'],
    ...['jwt_issuer deleted', 'jwt_issuer changed', 'jwt_issuer created'],
  ];
}

describe('GET /v1/audit-log', () => {
  it('lists what was done to keys, issuers, credentials and persons, the newest first', async () => {
    const rest = await oneOfEach();
    const found = await entries();
    expect(wordsOf(found).slice(0, rest.length)).toEqual(rest);
    // A rotation writes two entries at one moment.
    const ofKeys = wordsOf(found.slice(rest.length));
    expect(ofKeys[0]).toBe('api_key revoked');
    expect(ofKeys.filter((words) => words === 'api_key rotated')).toHaveLength(1);
    const { items: keys } = (await admin.get('/v1/api-keys')).body;
    const self = keys.find(({ scopes }: any) => scopes.includes('admin')).id;
    for (const entry of found.slice(0, -1)) {
      expect(entry).toMatchObject({
        by: self,
        address: expect.stringMatching(/127\.0\.0\.1|::1/),
        at: expect.any(String),
      });
    }
    const details = found.flatMap(({ detail }) => detail ?? []);
    expect(details).toEqual(
      expect.arrayContaining([
        'erp',
        'crm',
        'https://hooks.example.com',
        'eventDays null → 365',
        'https://login.example.com/ for campaigns',
        expect.stringMatching(/^GET .*profiles/),
      ]),
    );
  });

  it('names no value of a person and no credential', async () => {
    await oneOfEach();
    await admin.send('/v1/cdp/profiles:lookup?unmask=true', JSON.stringify(PERSON));
    const text = JSON.stringify((await admin.get(`${PATH}?limit=200`)).body);
    for (const value of [PERSON.value, SECRET, admin.key, 'secret-path']) expect(text).not.toContain(value);
  });

  it('keeps no entry of what was refused', async () => {
    const issuer = { issuer: 'https://login.example.com/', audience: 'campaigns', secret: SECRET };
    const { id } = await made('/v1/jwt-issuers', issuer);
    expectProblem(await admin.post('/v1/jwt-issuers', issuer), 409, 'issuer_taken');
    const refused = await admin.send(`/v1/jwt-issuers/${id}`, '{"defaultCampaignId":"?"}', { method: 'PUT' });
    expectProblem(refused, 422, 'validation_failed');
    expect(wordsOf(await entries('?kind=jwt_issuer'))).toEqual(['jwt_issuer created']);
  });

  it('lists one kind alone', async () => {
    await oneOfEach();
    const all = await entries('?limit=200');
    for (const kind of AUDIT_KINDS) {
      const expected = all.filter((entry) => entry.kind === kind);
      expect(expected.length).toBeGreaterThan(0);
      expect(await entries(`?kind=${kind}`)).toEqual(expected);
    }
  });

  it('shows each entry once, however many at a time, while others come', async () => {
    await oneOfEach();
    for (const limit of [1, 3, 200]) {
      const all = (await admin.get(`${PATH}?limit=200`)).body.items;
      const pages = await pagesOf(admin, `${PATH}?limit=${limit}`, () => admin.get('/v1/events?unmask=true'));
      expect(pages.flat()).toEqual(all);
    }
  });

  it('pages through entries of one moment, of every kind', async () => {
    await oneOfEach();
    const at = '2026-01-01T00:00:00Z';
    await withClient(service.databaseUrl, async (database) => {
      for (const table of ['api_key_audit', 'unmask_audit', 'audit_log']) {
        await database.query(`UPDATE ${table} SET at = $2 WHERE tenant_id = $1`, [workspace.tenantId, at]);
      }
      await database.query('UPDATE erasures SET erased_at = $2 WHERE tenant_id = $1', [workspace.tenantId, at]);
    });
    const all = (await admin.get(`${PATH}?limit=200`)).body.items;
    expect(all.length).toBeGreaterThan(15);
    expect((await pagesOf(admin, `${PATH}?limit=1`)).flat()).toEqual(all);
  });

  it('lists what was done in a range of time', async () => {
    await oneOfEach();
    const all = await entries();
    const [erasure, exported] = all.slice(all.findIndex(({ action }) => action === 'erased'));
    const from = encodeURIComponent(erasure.at);
    expect(wordsOf(await entries(`?from=${from}`))).toContain('erasure erased');
    expect(wordsOf(await entries(`?to=${encodeURIComponent(exported.at)}`))).not.toContain('erasure erased');
    expect(await entries('?from=2999-01-01T00:00:00Z')).toEqual([]);
    expectProblem(await admin.get(`${PATH}?from=yesterday&kind=x`), 422, 'validation_failed');
  });

  it('lists what was done to one record, and who has seen unmasked data of one customer', async () => {
    await oneOfEach();
    const profile = await aCustomer();
    const { items: events } = (await admin.get(`/v1/cdp/profiles/${profile}/events`)).body;
    for (const path of [
      ...[`/v1/cdp/profiles/${profile}`, '/v1/cdp/profiles', `/v1/cdp/profiles/${profile}/events`],
      ...[`/v1/events/${events[0].eventId}`, '/v1/events'],
    ]) {
      expect((await admin.get(`${path}?unmask=true`)).status).toBe(200);
    }
    for (const path of ['/v1/cdp/profiles:lookup?unmask=true', '/v1/cdp/profiles:export']) {
      expect((await admin.send(path, JSON.stringify(PERSON))).status).toBe(200);
    }
    await admin.get('/v1/review-entries?unmask=true');
    const ofCustomer = await entries(`?recordId=${profile}`);
    expect(wordsOf(ofCustomer)).toEqual([
      'unmasked_read exported',
      ...Array.from({ length: 6 }, () => 'unmasked_read read'),
    ]);
    const all = await entries('?limit=200');
    for (const recordId of new Set(all.flatMap((entry) => entry.recordId ?? []))) {
      const expected = all.filter((entry) => entry.recordId === recordId);
      const found = await entries(`?recordId=${recordId}`);
      expect(found.filter(({ kind }) => kind !== 'unmasked_read')).toEqual(expected);
    }
    expectProblem(await admin.get(`${PATH}?recordId=me`), 422, 'validation_failed', ['recordId format']);
  });

  it('finds what was seen of a customer before a merge, by the id of either profile', async () => {
    const send = (identity: object) => made('/v1/cdp/events', aCdpEvent({ identity }));
    await made('/v1/cdp/event-types', PURCHASE);
    const profiles: string[] = [];
    for (const identity of [{ email: 'a@example.com' }, { externalUserId: 'a' }]) {
      const { event_id: event } = await send(identity);
      const { profileId } = (await admin.get(`/v1/events/${event}`)).body;
      await admin.get(`/v1/cdp/profiles/${profileId}?unmask=true`);
      profiles.push(profileId);
    }
    await send({ email: 'a@example.com', externalUserId: 'a' });
    for (const profile of profiles) expect(await entries(`?recordId=${profile}`)).toHaveLength(2);
  });

  it('lists a read once that has shown several profiles of one customer', async () => {
    const { id } = await aMergedCustomer();
    for (let read = 0; read < 3; read += 1) await admin.get('/v1/events?unmask=true');
    const ids = (await entries(`?recordId=${id}`)).map((entry) => entry.id);
    expect([ids.length, new Set(ids).size]).toEqual([3, 3]);
    const pages = await pagesOf(admin, `${PATH}?recordId=${id}&limit=2`);
    expect(pages.map((page) => page.map((entry: any) => entry.id))).toEqual([ids.slice(0, 2), ids.slice(2)]);
  });

  it('finds what was seen of a customer before a merge was undone, by the id of either side', async () => {
    const { id, mergedFrom } = await aMergedCustomer();
    const ofMerged = [`/v1/cdp/profiles/${id}`, '/v1/cdp/profiles', `/v1/cdp/profiles/${id}/events`];
    for (const path of ofMerged) expect((await admin.get(`${path}?unmask=true`)).status).toBe(200);
    for (const path of ['/v1/cdp/profiles:lookup?unmask=true', '/v1/cdp/profiles:export']) {
      expect((await admin.post(path, { type: 'EMAIL', value: 'ann@example.com' })).status).toBe(200);
    }
    expect((await admin.send(`/v1/cdp/profiles/${id}:export`, undefined)).status).toBe(200);
    const seen = await entries(`?recordId=${id}`);
    expect(seen).toHaveLength(6);
    const [merge] = (await admin.get(`/v1/cdp/profiles/${id}/merges`)).body.items;
    await made(`/v1/cdp/merges/${merge.id}:undo`);
    for (const side of [id, ...mergedFrom]) expect(await entries(`?recordId=${side}`)).toEqual(seen);
  });

  it('leaves out webhooks without webhooks:read, and retention without admin', async () => {
    await oneOfEach();
    const scopes = ['api-keys:read', 'jwt-issuers:read', 'service-credentials:read', 'profiles:read'] as const;
    const auditor = await workspace.client({ scopes: [...scopes] });
    const operator = await workspace.client({ scopes: [...scopes, 'webhooks:read'] });
    const kindsFor = async (client: Client) =>
      new Set((await client.get(`${PATH}?limit=200`)).body.items.map(({ kind }: any) => kind));
    const others = ['api_key', 'jwt_issuer', 'service_credential', 'unmasked_read', 'erasure'];
    expect(await kindsFor(auditor)).toEqual(new Set(others));
    expect(await kindsFor(operator)).toEqual(new Set([...others, 'webhook']));
    expect(await kindsFor(admin)).toEqual(new Set(AUDIT_KINDS));
    for (const kind of ['webhook', 'retention']) {
      expectProblem(await auditor.get(`${PATH}?kind=${kind}`), 403, 'insufficient_scope');
    }
  });

  it('needs the scopes that read what it is about, and is for one workspace', async () => {
    await oneOfEach();
    const scopes = ['api-keys:read', 'jwt-issuers:read', 'service-credentials:read', 'profiles:read'] as const;
    const auditor = await workspace.client({ scopes: [...scopes] });
    expect((await auditor.get(PATH)).status).toBe(200);
    for (const missing of scopes) {
      const reader = await workspace.client({ scopes: scopes.filter((scope) => scope !== missing) });
      expectProblem(await reader.get(PATH), 403, 'insufficient_scope');
    }
    const stranger = (await aWorkspace(service)).admin;
    const text = JSON.stringify((await stranger.get(`${PATH}?limit=200`)).body);
    expect(text).not.toContain('erp');
    const { nextCursor } = (await admin.get(`${PATH}?limit=1`)).body;
    expectProblem(await stranger.get(`${PATH}?cursor=${nextCursor}`), 422, 'validation_failed', ['cursor format']);
  });
});
