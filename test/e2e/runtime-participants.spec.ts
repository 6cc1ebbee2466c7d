import { sharedApp, type SharedApp } from '../support/app';
import { aWorkspace, expectProblem, type Answer, type Client } from '../support/client';
import { aCampaign, inc, mutate, set, summary, type Campaign } from '../support/runtime';

let service: SharedApp;
let campaign: Campaign;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  campaign = await aCampaign(service);
});

const show = (subject: string, query = '', by?: Client): Promise<Answer> =>
  (by ?? campaign.workspace.admin).get(
    `/v1/campaigns/${campaign.campaignId}/participants/${encodeURIComponent(subject)}/state${query}`,
  );

describe('GET /v1/campaigns/{campaign_id}/participants/{sub}/state', () => {
  it('shows the tree of the participant, with the fields of the system under system', async () => {
    await campaign.define('state.user.points', 'number', { default: 5 });
    await campaign.define('state.campaign.motto', 'string');
    const empty = { user: { points: 5 }, campaign: { motto: null }, app: {}, system: { sessionId: null } };
    expect((await show('ann')).body).toEqual({ state: empty });
    await mutate(campaign.participant({ sub: 'ann', sid: 's-1' }), [
      inc('state.user.points'),
      set('state.campaign.motto', 'go'),
    ]);
    const { status, body } = await show('ann');
    const state = { user: { points: 6 }, campaign: { motto: 'go' }, app: {}, system: { sessionId: 's-1' } };
    expect([status, body]).toEqual([200, { state }]);
    expect((await show('bob')).body.state).toEqual({ ...empty, campaign: { motto: 'go' } });
  });

  it('shows the session of the last token that changed something', async () => {
    await campaign.define('state.campaign.total', 'number');
    const sessionAfter = async (claims: object, path: string): Promise<unknown> => {
      await mutate(campaign.participant({ sub: 'ann', ...claims }), [inc(path)]);
      return (await show('ann')).body.state.system.sessionId;
    };
    expect(await sessionAfter({ sid: 's-1' }, 'state.campaign.total')).toBe('s-1');
    expect(await sessionAfter({ sid: 's-2' }, 'state.campaign.total')).toBe('s-2');
    expect(await sessionAfter({}, 'state.campaign.total')).toBe('s-2');
    expect(await sessionAfter({ sid: 's-3' }, 'state.campaign.undeclared')).toBe('s-2');
  });

  it('shows the values of the app default, or of the one that app_id names', async () => {
    await campaign.define('state.app.visits', 'number');
    await mutate(campaign.participant({ app_id: 'web' }), [set('state.app.visits', 3)]);
    await mutate(campaign.participant(), [set('state.app.visits', 1)]);
    const visits = async (query: string): Promise<unknown> => (await show('ann', query)).body.state.app.visits;
    expect([await visits(''), await visits('?app_id=web'), await visits('?app_id=tv')]).toEqual([1, 3, null]);
  });

  it('knows every subject that a token can have', async () => {
    await campaign.define('state.user.name', 'string');
    for (const sub of [
      'a/b',
      'a%2Fb',
      'a b',
      '..a',
      'ä😀',
      '?x=1#y',
      '__proto__',
      'state',
      'x'.repeat(256),
      '😀'.repeat(256),
    ]) {
      await mutate(campaign.participant({ sub }), [set('state.user.name', sub)]);
      expect((await show(sub)).body.state.user).toEqual({ name: sub });
    }
  });

  it('trims the subject as tokens and EXTERNAL identifiers are trimmed', async () => {
    await campaign.define('state.user.points', 'number', { default: 0 });
    for (const sub of ['ann', ' ann ', '\u00a0ann\u200b']) {
      const mutation = await mutate(campaign.participant({ sub }), [inc('state.user.points')], { user_id: `${sub}\t` });
      expect(summary(mutation)).toBe('200 applied');
    }
    for (const sub of ['ann', ' ann\n']) expect((await show(sub)).body.state.user).toEqual({ points: 3 });
    expect(summary(await mutate(campaign.participant({ sub: ' \u200b' }), []))).toBe('401 invalid_token');
  });

  it('is for keys with state:read, of the workspace', async () => {
    await campaign.define('state.user.points', 'number', { default: 5 });
    const { workspace } = campaign;
    const reader = await workspace.client({ scopes: ['state:read'] });
    const other = await workspace.client({ scopes: ['variables:read', 'profiles:read'] });
    expect(summary(await show('ann', '', reader))).toBe('200');
    expect(summary(await show('ann', '', other))).toBe('403 insufficient_scope');
    expectProblem(await show('ann', '', campaign.participant({ sub: 'ann' })), 401, 'invalid_api_key');
    const stranger = (await aWorkspace(service)).admin;
    expect((await show('ann', '', stranger)).body).toEqual({
      state: { user: {}, campaign: {}, app: {}, system: { sessionId: null } },
    });
  });

  it('refuses what can be no subject, no campaign and no app', async () => {
    expectProblem(await show('x'.repeat(257)), 422, 'validation_failed', ['sub too_long']);
    expectProblem(await show(' \u00a0'), 422, 'validation_failed', ['sub empty']);
    expectProblem(await show('a\u0000'), 422, 'validation_failed', ['sub invalid_characters']);
    expectProblem(await show('a', '?app_id=-a'), 422, 'validation_failed', ['app_id format']);
    expectProblem(await show('a', '?unmask=true'), 422, 'validation_failed', ['unmask unknown_field']);
    const odd = await campaign.workspace.admin.get('/v1/campaigns/-c/participants/ann/state');
    expectProblem(odd, 422, 'validation_failed', ['campaign_id format']);
  });
});
