import { sharedApp, type SharedApp } from '../support/app';
import { aWorkspace, expectProblem, type Answer } from '../support/client';
import { rowsOf } from '../support/database';
import { pagesOf } from '../support/pages';
import { aCampaign, campaignOf, inc, mutate, set, summary, type Campaign } from '../support/runtime';

let service: SharedApp;
let campaign: Campaign;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  campaign = await aCampaign(service);
  await campaign.define('state.user.points', 'number', { default: 5 });
});

const pathOf = ({ campaignId }: Campaign): string => `/v1/campaigns/${campaignId}/participants`;
const list = (query = ''): Promise<Answer> => campaign.workspace.admin.get(`${pathOf(campaign)}${query}`);
const subsOf = (items: readonly any[]): string[] => items.map(({ sub }) => sub);

/** Participants who have each changed a value of their own, one after the other. */
async function join(...subs: string[]): Promise<void> {
  for (const sub of subs)
    expect(summary(await mutate(campaign.participant({ sub }), [inc('state.user.points')]))).toBe('200 applied');
}

describe('GET /v1/campaigns/{campaign_id}/participants', () => {
  it('lists those who have values of their own, the newest first, with what their own address shows as theirs', async () => {
    expect((await list()).body).toEqual({ items: [], nextCursor: null });
    await campaign.define('state.user.name', 'string');
    await campaign.define('state.campaign.total', 'number');
    await join('ann', 'bob');
    await mutate(campaign.participant({ sub: 'cleo', sid: 's-1' }), [
      ...[set('state.user.name', 'Cleo'), inc('state.campaign.total')],
    ]);
    await join('ann');
    const { status, body } = await list();
    expect([status, body.nextCursor]).toEqual([200, null]);
    expect(body.items).toEqual([
      { sub: 'cleo', state: { user: { name: 'Cleo', points: 5 }, system: { sessionId: 's-1' } } },
      { sub: 'bob', state: { user: { name: null, points: 6 }, system: { sessionId: null } } },
      { sub: 'ann', state: { user: { name: null, points: 7 }, system: { sessionId: null } } },
    ]);
    for (const { sub, state } of body.items) {
      const { user, system } = (await campaign.workspace.admin.get(`${pathOf(campaign)}/${sub}/state`)).body.state;
      expect(state).toEqual({ user, system });
    }
  });

  it('leaves out whoever has read alone, was refused, or has changed shared values alone, until they have one', async () => {
    await campaign.define('state.campaign.total', 'number');
    const ann = campaign.participant({ sub: 'ann', sid: 's-1' });
    await ann.get('/v1/runtime/state');
    await mutate(ann, [inc('state.user.nothing')]);
    await mutate(ann, [inc('state.campaign.total')]);
    expect((await list()).body.items).toEqual([]);
    await join('ann');
    expect(subsOf((await list()).body.items)).toEqual(['ann']);
  });

  it.each([1, 2, 5, 200])(
    'shows each participant once, %i at a time, while others come and values change',
    async (limit) => {
      await join('p1', 'p2', 'p3', 'p4', 'p5');
      let late = 0;
      const arrive = () => join(`late-${(late += 1)}`, 'p5', 'p1');
      const pages = await pagesOf(campaign.workspace.admin, `${pathOf(campaign)}?limit=${limit}`, arrive);
      expect(subsOf(pages.flat())).toEqual(['p5', 'p4', 'p3', 'p2', 'p1']);
      expect(pages).toHaveLength(Math.ceil(5 / limit));
    },
  );

  it('lists every subject that a token can have, with a short cursor', async () => {
    const subs = ['a/b', '..', 'ä😀', '__proto__', 'x'.repeat(256), '\u0001'.repeat(256), '😀'.repeat(256)];
    await join(...subs);
    const pages = await pagesOf(campaign.workspace.admin, `${pathOf(campaign)}?limit=2`);
    expect(subsOf(pages.flat())).toEqual(subs.toReversed());
  });

  it('shows no archived variable, and those who have values of such ones alone as anybody new', async () => {
    await campaign.define('state.user.name', 'string');
    await mutate(campaign.participant({ sub: 'ann' }), [set('state.user.name', 'Ann')]);
    await campaign.archive('state.user.name');
    expect((await list()).body.items).toEqual([
      { sub: 'ann', state: { user: { points: 5 }, system: { sessionId: null } } },
    ]);
  });

  it('lists nobody who was erased, and whoever comes again as new', async () => {
    await join('ann', 'bob');
    const erased = await campaign.workspace.admin.post('/v1/cdp/profiles:erase', { type: 'EXTERNAL', value: 'ann' });
    expect(erased.status).toBe(200);
    expect(subsOf((await list()).body.items)).toEqual(['bob']);
    await join('ann');
    expect(subsOf((await list()).body.items)).toEqual(['ann', 'bob']);
  });

  it('knows those of its own campaign and workspace alone, and takes no cursor of another', async () => {
    await join('ann', 'bob');
    const other = campaignOf(campaign.workspace, campaign.issuer);
    expect((await campaign.workspace.admin.get(pathOf(other))).body).toEqual({ items: [], nextCursor: null });
    const stranger = (await aWorkspace(service)).admin;
    expect((await stranger.get(pathOf(campaign))).body).toEqual({ items: [], nextCursor: null });
    const { nextCursor } = (await list('?limit=1')).body;
    for (const by of [
      () => stranger.get(`${pathOf(campaign)}?cursor=${nextCursor}`),
      () => campaign.workspace.admin.get(`${pathOf(other)}?cursor=${nextCursor}`),
    ]) {
      expectProblem(await by(), 422, 'validation_failed', ['cursor format']);
    }
  });

  it('lists no row of nobody’s, as earlier versions wrote for reactions to shared values', async () => {
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at)
       VALUES ($1, '', $2, '{"points":1}', '{}', now())`,
      [campaign.workspace.tenantId, campaign.campaignId],
    );
    expect((await list()).body.items).toEqual([]);
  });

  it('ends where it weighs half a megabyte, what nobody has set and the default says included', async () => {
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at)
       SELECT $1, 'p' || n, $2, jsonb_build_object('note', repeat('x', 4000), 'points', n), '{}', now() FROM generate_series(1, 300) n`,
      [campaign.workspace.tenantId, campaign.campaignId],
    );
    await campaign.define('state.user.note', 'string');
    const lengths = async () =>
      (await pagesOf(campaign.workspace.admin, `${pathOf(campaign)}?limit=200`)).map(({ length }) => length);
    const plain = await lengths();
    expect(plain[0]).toBeLessThan(140);
    await campaign.define('state.user.motto', 'string', { default: 'y'.repeat(4_000) });
    const withDefault = await lengths();
    expect(withDefault[0]).toBeLessThan(70);
    for (const each of [plain, withDefault]) expect(each.reduce((sum, count) => sum + count, 0)).toBe(300);
  });

  it('goes on behind 10,000 rows without a value', async () => {
    await join('ann');
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO participant_states (tenant_id, subject, campaign_id, values, system, updated_at, id)
       SELECT $1, 'p' || n, $2, '{}', '{}', now(), ('ffffffff-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid
       FROM generate_series(1, 10000) n`,
      [campaign.workspace.tenantId, campaign.campaignId],
    );
    const pages = await pagesOf(campaign.workspace.admin, `${pathOf(campaign)}?limit=200`);
    expect(pages.map(subsOf)).toEqual([[], ['ann']]);
  });

  it('is for keys with state:read', async () => {
    const reader = await campaign.workspace.client({ scopes: ['state:read'] });
    const other = await campaign.workspace.client({ scopes: ['state:write', 'variables:read', 'profiles:read'] });
    expect((await reader.get(pathOf(campaign))).status).toBe(200);
    expectProblem(await other.get(pathOf(campaign)), 403, 'insufficient_scope');
    expectProblem(await campaign.participant().get(pathOf(campaign)), 401, 'invalid_api_key');
    const odd = await campaign.workspace.admin.get('/v1/campaigns/-c/participants?app_id=x');
    expect(odd.status).toBe(422);
  });
});
