import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, registerTypes } from '../support/builders';
import { aWorkspace, expectProblem, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';
import { pagesOf } from '../support/pages';

const PATH = '/v1/cdp/profiles';

let service: SharedApp;
let workspace: Workspace;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
  await registerTypes(workspace.admin);
});

/** Sends an event and answers the profile that it is stored under. */
async function send(identity: object, fields: object = {}): Promise<string> {
  const { status, body } = await workspace.admin.post('/v1/cdp/events', aCdpEvent({ identity, ...fields }));
  expect(status).toBe(202);
  return (await workspace.admin.get(`/v1/events/${body.event_id}`)).body.profileId;
}

async function customers(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 1; n <= count; n++) ids.push(await send({ externalUserId: `customer-${n}` }));
  return ids;
}

const idsOf = (items: readonly any[]): string[] => items.map(({ id }) => id);

describe('GET /v1/cdp/profiles', () => {
  it('lists customers, the newest first, each as its own address shows it', async () => {
    expect((await workspace.admin.get(PATH)).body).toEqual({ items: [], nextCursor: null });
    const ids = await customers(3);
    await send({ externalUserId: 'customer-1', email: 'jane@example.com', phone: '+4917012345612' });
    const { status, body } = await workspace.admin.get(PATH);
    const single = await Promise.all(ids.map(async (id) => (await workspace.admin.get(`${PATH}/${id}`)).body));
    expect([status, body]).toEqual([200, { items: single.toReversed(), nextCursor: null }]);
    expect(body.items[2]).toMatchObject({
      eventCount: 2,
      identifiers: [{ value: 'cu***' }, { value: 'j***@e***.com' }, {}],
    });
  });

  it.each([1, 2, 5, 200])('shows each customer once, %i at a time, while others come', async (limit) => {
    const ids = await customers(5);
    let late = 0;
    const arrive = () => send({ externalUserId: `late-${(late += 1)}` });
    const pages = await pagesOf(workspace.admin, `${PATH}?limit=${limit}`, arrive);
    expect(idsOf(pages.flat())).toEqual(ids.toReversed());
    expect(pages).toHaveLength(Math.ceil(5 / limit));
  });

  it('lists a merged customer once, by its surviving profile, and both again once that is undone', async () => {
    const first = await send({ externalUserId: 'jane' });
    const second = await send({ email: 'jane@example.com' });
    expect(idsOf((await workspace.admin.get(PATH)).body.items)).toEqual([second, first]);
    await send({ externalUserId: 'jane', email: 'jane@example.com' });
    const { items } = (await workspace.admin.get(PATH)).body;
    expect(items).toEqual([(await workspace.admin.get(`${PATH}/${second}`)).body]);
    expect(items[0]).toMatchObject({ eventCount: 3, mergedFrom: [expect.any(String)] });
    const [{ id: merge }] = (await workspace.admin.get(`${PATH}/${first}/merges`)).body.items;
    expect((await workspace.admin.post(`/v1/cdp/merges/${merge}:undo`, {})).status).toBe(200);
    expect(idsOf((await workspace.admin.get(PATH)).body.items).toSorted()).toEqual([first, second].toSorted());
  });

  it('ends at the last customer, where older profiles were merged into it', async () => {
    const merged = await send({ email: 'jane@example.com' });
    const surviving = await send({ externalUserId: 'jane' });
    await send({ externalUserId: 'jane', email: 'jane@example.com' });
    const { items, nextCursor } = (await workspace.admin.get(`${PATH}?limit=1`)).body;
    expect([idsOf(items), items[0].mergedFrom, nextCursor]).toEqual([[surviving], [merged], null]);
  });

  it('lists nobody who was erased', async () => {
    const [erased, other] = await customers(2);
    expect((await workspace.admin.post(`${PATH}/${erased}:erase`, {})).status).toBe(200);
    expect(idsOf((await workspace.admin.get(PATH)).body.items)).toEqual([other]);
  });

  it('shows identifiers unmasked to whoever has pii:read, and writes down of whom', async () => {
    const ids = await customers(2);
    const { body, headers } = await workspace.admin.get(`${PATH}?unmask=true`);
    expect(body.items.map(({ identifiers }: any) => identifiers[0].value)).toEqual(['customer-2', 'customer-1']);
    expect(headers.get('cache-control')).toBe('no-store');
    const audit = await rowsOf<{ what: string }>(
      service.databaseUrl,
      'SELECT what FROM unmask_audit WHERE tenant_id = $1',
      [workspace.tenantId],
    );
    expect(audit).toEqual([{ what: `GET ${PATH} ${ids.toReversed().join(' ')}` }]);
    const masked = await workspace.client({ scopes: ['profiles:read'] });
    expect((await masked.get(PATH)).status).toBe(200);
    expectProblem(await masked.get(`${PATH}?unmask=true`), 403, 'insufficient_scope');
    const other = await workspace.client({ scopes: ['events:read', 'pii:read'] });
    expectProblem(await other.get(PATH), 403, 'insufficient_scope');
  });

  it('lists nobody of another workspace, and takes no cursor of another list', async () => {
    await customers(2);
    const stranger = (await aWorkspace(service)).admin;
    expect((await stranger.get(PATH)).body).toEqual({ items: [], nextCursor: null });
    const { nextCursor } = (await workspace.admin.get(`${PATH}?limit=1`)).body;
    expectProblem(await stranger.get(`${PATH}?cursor=${nextCursor}`), 422, 'validation_failed', ['cursor format']);
    expectProblem(await workspace.admin.get(`${PATH}?cursor=x&order=asc`), 422, 'validation_failed');
  });

  it('goes on behind 10,000 merged profiles', async () => {
    const [oldest] = await customers(1);
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO profiles (tenant_id, profile_id, root_id, external_id, email_count, phone_count, device_count, version, created_at)
       SELECT $1, ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $2, NULL, 0, 0, 0, 1, now()
       FROM generate_series(1, 10000) n`,
      [workspace.tenantId, oldest],
    );
    const pages = await pagesOf(workspace.admin, `${PATH}?limit=200`);
    expect(pages.map(idsOf)).toEqual([[], [oldest]]);
  });

  it('ends where it has counted 100,000 events, and goes on there', async () => {
    const ids = await customers(4);
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
         profile_id, identity, properties, content_hash, batch_id)
       SELECT $1, gen_random_uuid(), 'external', 'shop', 'x' || n, 'purchase', now(), now(), ($2::uuid[])[1 + n % 2], '{}', '{}', '\\x00',
         gen_random_uuid()
       FROM generate_series(1, 200000) n`,
      [workspace.tenantId, [ids[1], ids[2]]],
    );
    const pages = await pagesOf(workspace.admin, `${PATH}?limit=200`);
    expect(pages.map(idsOf)).toEqual([[ids[3], ids[2]], [ids[1]], [ids[0]]]);
    expect(pages.flat().map(({ eventCount }) => eventCount)).toEqual([1, 100_001, 100_001, 1]);
  });
});

describe('GET /v1/cdp/profiles/{id}/campaigns', () => {
  const define = async (campaign: string, name: string, fields: object = {}): Promise<void> => {
    const variable = { scope: 'user', name, type: 'number', default: 5, ...fields };
    expect((await workspace.admin.post(`/v1/campaigns/${campaign}/variables:define`, variable)).status).toBe(200);
  };
  const change = async (campaign: string, sub: string, path = 'state.user.points'): Promise<void> => {
    const address = `/v1/campaigns/${campaign}/participants/${encodeURIComponent(sub)}/state:mutate`;
    expect((await workspace.admin.post(address, { ops: [{ path, op: 'inc', value: 1 }] })).status).toBe(200);
  };
  const campaignsOf = async (id: string): Promise<any[]> =>
    (await workspace.admin.get(`${PATH}/${id}/campaigns`)).body.items;
  const updatedAt = expect.stringMatching(/Z$/);
  const system = { sessionId: null };

  it('lists the campaigns in which the customer has values, with what a read of the state shows', async () => {
    const id = await send({ externalUserId: 'jane' });
    expect(await campaignsOf(id)).toEqual([]);
    for (const campaign of ['summer', 'spring', 'autumn', 'winter']) await define(campaign, 'points');
    await define('spring', 'visits', { default: null });
    await define('autumn', 'total', { scope: 'campaign' });
    for (const campaign of ['summer', 'spring']) await change(campaign, 'jane');
    await change('autumn', 'jane', 'state.campaign.total');
    await change('winter', 'somebody-else');
    expect(await campaignsOf(id)).toEqual([
      { campaignId: 'spring', state: { user: { points: 6, visits: null }, system }, updatedAt },
      { campaignId: 'summer', state: { user: { points: 6 }, system }, updatedAt },
    ]);
  });

  it.each([1, 2, 200])('shows each campaign once, %i at a time', async (limit) => {
    const id = await send({ externalUserId: 'jane' });
    const campaigns = ['a', 'b', 'c'];
    for (const campaign of campaigns) {
      await define(campaign, 'points');
      await change(campaign, 'jane');
    }
    const pages = await pagesOf(workspace.admin, `${PATH}/${id}/campaigns?limit=${limit}`);
    expect(pages.flat().map(({ campaignId }) => campaignId)).toEqual(campaigns);
    expect(pages).toHaveLength(Math.ceil(3 / limit));
  });

  it('follows the EXTERNAL identifier through a merge and its undo', async () => {
    await define('spring', 'points');
    const merged = await send({ email: 'jane@example.com' });
    const surviving = await send({ externalUserId: 'jane' });
    await change('spring', 'jane');
    expect(await campaignsOf(merged)).toEqual([]);
    await send({ externalUserId: 'jane', email: 'jane@example.com' });
    for (const id of [merged, surviving]) expect(await campaignsOf(id)).toMatchObject([{ campaignId: 'spring' }]);
    const [{ id: merge }] = (await workspace.admin.get(`${PATH}/${surviving}/merges`)).body.items;
    await workspace.admin.post(`/v1/cdp/merges/${merge}:undo`, {});
    expect([await campaignsOf(merged), await campaignsOf(surviving)]).toMatchObject([[], [{ campaignId: 'spring' }]]);
  });

  it('shows no identifier, needs both scopes, and nothing of an erased customer or another workspace', async () => {
    await define('spring', 'points');
    const id = await send({ externalUserId: 'customer-jane' });
    await change('spring', 'customer-jane');
    const path = `${PATH}/${id}/campaigns`;
    const reader = await workspace.client({ scopes: ['profiles:read', 'state:read'] });
    expect(JSON.stringify((await reader.get(path)).body)).not.toContain('jane');
    for (const scope of ['profiles:read', 'state:read'] as const) {
      const half = await workspace.client({ scopes: [scope] });
      expectProblem(await half.get(path), 403, 'insufficient_scope');
    }
    const anonymous = await send({ email: 'jane@example.com' });
    expectProblem(await reader.get(`${PATH}/${anonymous}/campaigns?cursor=x`), 422, 'validation_failed');
    const stranger = (await aWorkspace(service)).admin;
    expectProblem(await stranger.get(path), 404, 'not_found');
    expect((await workspace.admin.post(`${PATH}/${id}:erase`, {})).status).toBe(200);
    expectProblem(await reader.get(path), 404, 'not_found');
  });
});
