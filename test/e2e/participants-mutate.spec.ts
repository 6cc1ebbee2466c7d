import { startApp, type TestApp } from '../support/app';
import { aWorkspace, expectProblem, type Answer, type Client } from '../support/client';
import { growth, metricsOf } from '../support/metrics';
import { aCampaign, inc, mutate, set, stateOf, summary, type Campaign } from '../support/runtime';

let service: TestApp;
let campaign: Campaign;
let backend: Client;

beforeAll(async () => {
  service = await startApp();
});
beforeEach(async () => {
  campaign = await aCampaign(service);
  backend = await campaign.workspace.client({ scopes: ['state:write'] });
  await campaign.define(POINTS, 'number', { default: 5 });
});
afterAll(() => service.stop());

const POINTS = 'state.user.points';
const MISMATCH = 'mutation-payload-mismatch';

const pathOf = (sub: string): string =>
  `/v1/campaigns/${campaign.campaignId}/participants/${encodeURIComponent(sub)}/state:mutate`;
const change = (sub: string, ops: unknown, fields: object = {}, by = backend): Promise<Answer> =>
  by.post(pathOf(sub), { ops, ...fields });
const pointsOf = async (sub: string): Promise<unknown> => (await stateOf(campaign.participant({ sub }))).user.points;

describe('POST /v1/campaigns/{campaign_id}/participants/{sub}/state:mutate', () => {
  it('changes what the participant reads, and answers what was before and after', async () => {
    await campaign.define('state.campaign.total', 'number');
    const { status, body } = await change('ann', [inc(POINTS, 2.5), inc('state.campaign.total'), set(POINTS, 9)]);
    expect([status, body]).toEqual([
      200,
      {
        status: 'applied',
        mutations: [
          { path: POINTS, previous: 5, current: 7.5 },
          { path: 'state.campaign.total', previous: null, current: 1 },
          { path: POINTS, previous: 7.5, current: 9 },
        ],
      },
    ]);
    expect([await pointsOf('ann'), await pointsOf('bob')]).toEqual([9, 5]);
  });

  it('shares the name space of mutation_id with the participant, in whatever spelling', async () => {
    const first = await change('ann', [inc(POINTS)], { mutation_id: 'm' });
    const own = await mutate(campaign.participant({ sub: 'ann' }), [inc(POINTS)], { mutation_id: 'm' });
    expect([summary(first), summary(own)]).toEqual(['200 applied', '200 duplicate']);
    expect(own.body.mutations).toEqual(first.body.mutations);
    await mutate(campaign.participant({ sub: 'ann' }), [inc(POINTS)], { mutation_id: 'n' });
    const key = { headers: { 'idempotency-key': '"n"' } };
    const repeated = await backend.send(pathOf('ann'), JSON.stringify({ ops: [inc(POINTS)] }), key);
    expect([summary(repeated), repeated.headers.get(MISMATCH)]).toEqual(['200 duplicate', null]);
    const other = await change('ann', [inc(POINTS, 2)], { mutationId: 'n' });
    expect([summary(other), other.headers.get(MISMATCH)]).toEqual(['200 duplicate', 'true']);
    expect(summary(await change('bob', [inc(POINTS)], { mutation_id: 'm' }))).toBe('200 applied');
    expect([await pointsOf('ann'), await pointsOf('bob')]).toEqual([7, 6]);
  });

  it('applies one id once, of 16 senders, participants and backends at once', async () => {
    const participant = campaign.participant({ sub: 'ann' });
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        n % 2 === 0
          ? change('ann', [inc(POINTS)], { mutation_id: 'm' })
          : mutate(participant, [inc(POINTS)], { mutation_id: 'm' }),
      ),
    );
    expect(answers.map(summary).sort()).toEqual(['200 applied', ...Array.from({ length: 15 }, () => '200 duplicate')]);
    expect(await pointsOf('ann')).toBe(6);
  });

  it('applies wholly or not at all, and refuses what participants are refused', async () => {
    const refused = async (ops: unknown) => {
      const { status, body } = await change('ann', ops, { mutation_id: 'm' });
      return [`${status} ${body.error_code}`, body.path];
    };
    expect(await refused([inc(POINTS), inc('state.user.nothing')])).toEqual([
      '400 undeclared_variable',
      'state.user.nothing',
    ]);
    expect(await refused([set('state.user.sessionId', 'x')])).toEqual(['400 system_field', 'state.user.sessionId']);
    expect(await refused([inc(POINTS), set(POINTS, 'x')])).toEqual(['422 validation_failed', undefined]);
    expect(await refused([])).toEqual(['422 validation_failed', undefined]);
    expect(await refused(Array.from({ length: 101 }, () => inc(POINTS)))).toEqual(['422 validation_failed', undefined]);
    expect(await pointsOf('ann')).toBe(5);
    expect(summary(await change('ann', [inc(POINTS)], { mutation_id: 'm' }))).toBe('200 applied');
  });

  it('takes the body fields of the runtime where they say what the address says, and any app', async () => {
    await campaign.define('state.app.visits', 'number');
    const same = { campaign_id: campaign.campaignId, user_id: ' ann ', app_id: 'web' };
    expect(summary(await change('ann', [inc('state.app.visits')], same))).toBe('200 applied');
    expect(summary(await change('ann', [inc('state.app.visits', 10)]))).toBe('200 applied');
    const visits = async (query: string) =>
      (await campaign.workspace.admin.get(`${pathOf('ann').replace(':mutate', '')}${query}`)).body.state.app.visits;
    expect([await visits('?app_id=web'), await visits('')]).toEqual([1, 10]);
    const other = await change('ann', [inc(POINTS)], { campaignId: 'another', user_id: 'bob' });
    expectProblem(other, 422, 'validation_failed', ['campaignId conflicting_fields', 'user_id conflicting_fields']);
    expectProblem(await change('ann', [inc(POINTS)], { colour: 1 }), 422, 'validation_failed', [
      'colour unknown_field',
    ]);
    expect(await pointsOf('ann')).toBe(5);
  });

  it('trims the subject as tokens are trimmed, and refuses what no token can have', async () => {
    for (const sub of ['ann', ' ann ', '\u00a0ann\u200b'])
      expect(summary(await change(sub, [inc(POINTS)]))).toBe('200 applied');
    expect(await pointsOf('ann')).toBe(8);
    expectProblem(await change(' \u00a0', [inc(POINTS)]), 422, 'validation_failed', ['sub empty']);
    expectProblem(await change('x'.repeat(257), [inc(POINTS)]), 422, 'validation_failed', ['sub too_long']);
    for (const sub of ['a/b', '__proto__', 'state', 'ä😀']) {
      expect(summary(await change(sub, [inc(POINTS)]))).toBe('200 applied');
      expect(await pointsOf(sub)).toBe(6);
    }
  });

  it('leaves the session of the participant as it was', async () => {
    await mutate(campaign.participant({ sub: 'ann', sid: 's-1' }), [inc(POINTS)]);
    await change('ann', [inc(POINTS)]);
    const { system } = (await campaign.workspace.admin.get(pathOf('ann').replace(':mutate', ''))).body.state;
    expect(system).toEqual({ sessionId: 's-1' });
  });

  it('lets an erased participant begin anew, as the runtime does', async () => {
    await change('ann', [set(POINTS, 77)], { mutation_id: 'm' });
    await campaign.workspace.admin.post('/v1/cdp/profiles:erase', { type: 'EXTERNAL', value: 'ann' });
    const again = await change('ann', [inc(POINTS)], { mutation_id: 'm' });
    expect(again.body).toMatchObject({ status: 'applied', mutations: [{ previous: 5, current: 6 }] });
  });

  it('is for keys with state:write of the workspace, and the runtime takes none still', async () => {
    const reader = await campaign.workspace.client({ scopes: ['state:read', 'variables:write'] });
    expectProblem(await change('ann', [inc(POINTS)], {}, reader), 403, 'insufficient_scope');
    expectProblem(await change('ann', [inc(POINTS)], {}, campaign.participant({ sub: 'ann' })), 401, 'invalid_api_key');
    expectProblem(await mutate(backend, [inc(POINTS)]), 401, 'invalid_token');
    const stranger = (await aWorkspace(service)).admin;
    expect(summary(await change('ann', [inc(POINTS)], {}, stranger))).toBe('400 undeclared_variable');
    expect(await pointsOf('ann')).toBe(5);
  });

  it('counts in the metrics of mutations, and against the limit of events', async () => {
    const before = await metricsOf(service.url);
    for (const ops of [[inc(POINTS)], [inc(POINTS)], []]) await change('ann', ops, { mutation_id: 'm' });
    const grown = growth(before, await metricsOf(service.url), 'cds_mutations_total');
    expect(Object.values(grown)).toEqual([1, 1, 1]);
    const limited = await startApp(
      { RATE_LIMIT_EVENTS_PER_SECOND: '1000', RATE_LIMIT_RUNTIME_PER_SECOND: '1' },
      service.databaseUrl,
    );
    try {
      const { headers } = await fetch(`${limited.url}${pathOf('ann')}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${backend.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ops: [inc(POINTS)] }),
      });
      expect(headers.get('ratelimit-policy')).toBe('"events";q=1000;w=1');
    } finally {
      await limited.stop();
    }
  });
});
