import { startApp, type TestApp } from '../support/app';
import { aWorkspace, expectProblem, type Answer, type Client, type Workspace } from '../support/client';
import { campaignOf, inc, mutate, stateOf, summary } from '../support/runtime';
import { aTokenIssuer, type TokenIssuer } from '../support/tokens';

type Fields = Readonly<Record<string, unknown>>;

let service: TestApp;
let workspace: Workspace;

beforeAll(async () => {
  service = await startApp();
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
});
afterAll(() => service.stop());

const OPS = [inc('state.user.points')];

/** An issuer in a workspace where each of the campaigns declares a variable that tells it from the others. */
async function anIssuer(fields: Fields = {}): Promise<TokenIssuer> {
  const issuer = await aTokenIssuer(workspace.admin, { fields });
  for (const [number, campaignId] of ['spring', 'summer', 'autumn'].entries()) {
    await campaignOf(workspace, issuer, campaignId).define('state.user.points', 'number', { default: 100 * number });
  }
  return issuer;
}

/** The campaign that a request turned out to be about, by its default. */
async function campaignRead(client: Client, path: string): Promise<string> {
  const { status, body } = await client.get(path);
  return status === 200 ? (['spring', 'summer', 'autumn'][body.state.user.points / 100] ?? '?') : body.error_code;
}

describe('the campaign of a request', () => {
  it('is the one that the address, the query or the body names', async () => {
    const participant = (await anIssuer({ defaultCampaignId: 'autumn' })).participant();
    expect(await campaignRead(participant, '/v1/campaigns/summer/runtime/state')).toBe('summer');
    for (const spelling of ['campaign_id', 'campaignId']) {
      expect(await campaignRead(participant, `/v1/runtime/state?${spelling}=summer`)).toBe('summer');
      const { body } = await mutate(participant, OPS, { [spelling]: 'spring' });
      expect(body.mutations[0].previous).toBe(spelling === 'campaign_id' ? 0 : 1);
    }
    const { body } = await participant.post('/v1/campaigns/summer/runtime/state:mutate', { ops: OPS });
    expect(body.mutations[0].previous).toBe(100);
    for (const spelling of ['campaign_id', 'campaignId']) {
      const inQuery = await participant.post(`/v1/runtime/state:mutate?${spelling}=summer`, { ops: OPS });
      expect(inQuery.body.mutations[0].previous).toBe(spelling === 'campaign_id' ? 101 : 102);
    }
  });

  it('is else the token’s, else the issuer’s default, else 422 campaign_required', async () => {
    const issuer = await anIssuer({ defaultCampaignId: 'autumn' });
    const claimed = issuer.participant({ campaign_id: 'summer' });
    expect(await campaignRead(claimed, '/v1/runtime/state')).toBe('summer');
    expect(await campaignRead(issuer.participant(), '/v1/runtime/state')).toBe('autumn');
    expect((await mutate(issuer.participant(), OPS)).body.mutations[0].previous).toBe(200);
    const homeless = (await anIssuer()).participant();
    const faults = ['campaign_id required'];
    expectProblem(await homeless.get('/v1/runtime/state'), 422, 'campaign_required', faults);
    expectProblem(await mutate(homeless, OPS), 422, 'campaign_required', faults);
    expect(await campaignRead(homeless, '/v1/runtime/state?campaign_id=summer')).toBe('summer');
  });

  it('is told by the claim that the issuer’s record names', async () => {
    const issuer = await anIssuer({ claims: { campaign: 'https://x.example/campaign' }, defaultCampaignId: 'autumn' });
    const participant = issuer.participant({ 'https://x.example/campaign': 'summer', campaign_id: 'spring' });
    expect(await campaignRead(participant, '/v1/runtime/state')).toBe('summer');
  });

  it('may be named in several places, which must agree', async () => {
    const participant = (await anIssuer()).participant();
    const at = (query: string): Promise<Answer> => participant.get(`/v1/campaigns/spring/runtime/state${query}`);
    expect((await at('?campaign_id=spring&campaignId=spring')).status).toBe(200);
    expectProblem(await at('?campaign_id=summer'), 422, 'validation_failed', ['campaign_id conflicting_fields']);
    expectProblem(await at('?campaign_id=spring&campaignId=summer'), 422, 'validation_failed', [
      'campaignId conflicting_fields',
    ]);
    const both = await mutate(participant, OPS, { campaign_id: 'spring', campaignId: 'summer' });
    expectProblem(both, 422, 'validation_failed', ['campaignId conflicting_fields']);
    const other = { ops: OPS, campaignId: 'summer' };
    const inAddress = await participant.post('/v1/campaigns/spring/runtime/state:mutate', other);
    expectProblem(inAddress, 422, 'validation_failed', ['campaignId conflicting_fields']);
    const inQuery = await participant.post('/v1/runtime/state:mutate?campaign_id=spring', other);
    expectProblem(inQuery, 422, 'validation_failed', ['campaignId conflicting_fields']);
    expect((await stateOf(participant, '?campaign_id=spring')).user.points).toBe(0);
  });

  it('has a name, else 422', async () => {
    const participant = (await anIssuer()).participant();
    for (const name of ['-a', 'a b', '', 'x'.repeat(129)]) {
      const query = `?campaign_id=${encodeURIComponent(name)}`;
      expectProblem(await participant.get(`/v1/runtime/state${query}`), 422, 'validation_failed', [
        'campaign_id format',
      ]);
      const answer = await mutate(participant, OPS, { campaignId: name });
      expectProblem(answer, 422, 'validation_failed', ['campaignId format']);
    }
    const path = '/v1/campaigns/-a/runtime/state';
    expectProblem(await participant.get(path), 422, 'validation_failed', ['campaign_id format']);
    expectProblem(await participant.post(`${path}:mutate`, { ops: OPS }), 422, 'validation_failed', [
      'campaign_id format',
    ]);
  });
});

/** Every way to name a campaign. */
async function named(participant: Client, campaignId: string): Promise<string[]> {
  const address = `/v1/campaigns/${campaignId}/runtime/state`;
  const answers = await Promise.all([
    ...['campaign_id', 'campaignId'].map((field) => participant.get(`/v1/runtime/state?${field}=${campaignId}`)),
    ...['campaign_id', 'campaignId'].map((field) => mutate(participant, OPS, { [field]: campaignId })),
    participant.get(address),
    participant.post(`${address}:mutate`, { ops: OPS }),
  ]);
  return [...new Set(answers.map(({ status, body }) => `${status} ${body.error_code ?? ''}`))];
}

describe('a token with a campaign of its own', () => {
  it('may name that one only, even where the issuer allows others', async () => {
    const issuer = await anIssuer({ allowedCampaignIds: ['spring', 'summer', 'autumn'], defaultCampaignId: 'autumn' });
    const participant = issuer.participant({ campaign_id: 'spring' });
    expect(await named(participant, 'spring')).toEqual(['200 ']);
    for (const other of ['summer', 'autumn', 'Spring']) {
      expect(await named(participant, other)).toEqual(['403 context_violation']);
    }
  });
});

describe('a token without a campaign', () => {
  it('may name those in the issuer’s allowedCampaignIds, and be for its default', async () => {
    const issuer = await anIssuer({ allowedCampaignIds: ['spring', 'summer', 'autumn'], defaultCampaignId: 'autumn' });
    const participant = issuer.participant();
    expect([await named(participant, 'spring'), await named(participant, 'summer')]).toEqual([['200 '], ['200 ']]);
    expect(await named(participant, 'winter')).toEqual(['403 context_violation']);
    expect(await campaignRead(participant, '/v1/runtime/state')).toBe('autumn');
  });

  it('may name any campaign of the workspace where the issuer allows all', async () => {
    const participant = (await anIssuer()).participant();
    for (const campaignId of ['spring', 'summer']) expect(await named(participant, campaignId)).toEqual(['200 ']);
    expect(await campaignRead(participant, '/v1/campaigns/autumn/runtime/state')).toBe('autumn');
  });
});

describe('a mutation that names who it is for', () => {
  it('is taken when it names the token’s campaign, app and participant, in either spelling', async () => {
    const participant = (await anIssuer()).participant({ sub: 'ann', campaign_id: 'spring', app_id: 'web' });
    const ours = { campaign_id: 'spring', app_id: 'web', user_id: 'ann' };
    const inCamelCase = { campaignId: 'spring', appId: 'web', userId: 'ann' };
    for (const fields of [ours, inCamelCase, { ...ours, ...inCamelCase }]) {
      expect(summary(await mutate(participant, OPS, fields))).toBe('200 applied');
    }
    const unnamed = { campaign_id: null, appId: null, userId: null, mutation_id: null };
    expect(summary(await mutate(participant, OPS, unnamed))).toBe('200 applied');
    const byDefault = (await anIssuer()).participant({ campaign_id: 'spring' });
    expect(summary(await mutate(byDefault, OPS, { app_id: 'default' }))).toBe('200 applied');
  });

  it('is refused with 403 context_violation when it names others, with every one of them in details', async () => {
    const participant = (await anIssuer()).participant({ sub: 'ann', campaign_id: 'spring', app_id: 'web' });
    const cases: [Fields, string[]][] = [
      [{ campaign_id: 'summer' }, ['campaign_id']],
      [{ app_id: 'default' }, ['app_id']],
      [{ user_id: 'bob' }, ['user_id']],
      [{ campaignId: 'summer', appId: 'tv', userId: 'Ann' }, ['campaignId', 'appId', 'userId']],
    ];
    for (const [fields, paths] of cases) {
      const faults = paths.map((path) => `${path} context_violation`);
      const answer = await mutate(participant, OPS, fields);
      expectProblem(answer, 403, 'context_violation', faults);
      expect(JSON.stringify(answer.body)).not.toMatch(/bob|summer|Ann/);
    }
    expect((await stateOf(participant)).user.points).toBe(0);
  });

  it('is refused with 422 when both spellings of a field differ', async () => {
    const participant = (await anIssuer()).participant({ sub: 'ann', campaign_id: 'spring' });
    const differ = { app_id: 'web', appId: 'tv', user_id: 'ann', userId: 'bob', mutation_id: '1', mutationId: '2' };
    expectProblem(await mutate(participant, OPS, differ), 422, 'validation_failed', [
      'appId conflicting_fields',
      'userId conflicting_fields',
      'mutationId conflicting_fields',
    ]);
  });
});

describe('with CONTEXT_VIOLATION_STATUS=409', () => {
  it('a context violation is answered with 409 and the same code', async () => {
    const strict = await startApp({ CONTEXT_VIOLATION_STATUS: '409' });
    try {
      const issuer = await aTokenIssuer((await aWorkspace(strict)).admin);
      const participant = issuer.participant({ campaign_id: 'spring' });
      const answer = await participant.get('/v1/campaigns/summer/runtime/state');
      expectProblem(answer, 409, 'context_violation', ['campaign_id context_violation']);
      expectProblem(await mutate(participant, OPS, { user_id: 'x' }), 409, 'context_violation');
    } finally {
      await strict.stop();
    }
  });
});
