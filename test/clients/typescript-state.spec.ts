import { createClient } from '../../clients/typescript/src/client';
import { sharedApp, type SharedApp } from '../support/app';
import { aWorkspace, type Workspace } from '../support/client';
import { aTokenIssuer, type TokenIssuer } from '../support/tokens';
import { startUnreliableLine, type Mishap, type UnreliableLine } from '../support/unreliable-line';

let service: SharedApp;
let line: UnreliableLine;
let issuer: TokenIssuer;
let workspace: Workspace;

beforeAll(async () => {
  service = await sharedApp();
  line = await startUnreliableLine(service.url);
  workspace = await aWorkspace(service);
  const { admin } = workspace;
  issuer = await aTokenIssuer(admin, { fields: { defaultCampaignId: 'spring' } });
  for (const campaign of ['spring', 'summer']) {
    const variable = { scope: 'user', name: 'points', type: 'number', default: 100 };
    expect((await admin.post(`/v1/campaigns/${campaign}/variables:define`, variable)).status).toBe(200);
  }
});

afterAll(() => line.close());

const TEN_MORE = [{ path: 'state.user.points', op: 'inc', value: 10 } as const];
const client = (token: string | (() => Promise<string>) = issuer.token()) =>
  createClient({ baseUrl: line.url, token, retry: { pauseMsMin: 5, pauseMsMax: 20 } });

describe('state', () => {
  it('is read and changed by its participant', async () => {
    const { state } = client();
    expect(await state.read()).toEqual({ user: { points: 100 }, campaign: {}, app: {} });
    expect(await state.mutate(TEN_MORE)).toEqual({
      status: 'applied',
      mutations: [{ path: 'state.user.points', previous: 100, current: 110 }],
      mutationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      payloadMismatch: false,
    });
    expect((await state.read()).user).toEqual({ points: 110 });
  });

  it('is that of the campaign that is named', async () => {
    const { state } = client();
    await state.mutate(TEN_MORE, { campaignId: 'summer' });
    expect((await state.read({ campaignId: 'summer' })).user).toEqual({ points: 110 });
    expect((await state.read()).user).toEqual({ points: 100 });
  });

  it('is that of the workspace that is named, where several have registered the issuer', async () => {
    const { admin, name } = await aWorkspace(service);
    const { key, audience } = issuer;
    const fields = { issuer: issuer.issuer, audience, defaultCampaignId: 'spring' };
    await aTokenIssuer(admin, { key, fields });
    const variable = { scope: 'user', name: 'stars', type: 'number' };
    expect((await admin.post('/v1/campaigns/spring/variables:define', variable)).status).toBe(200);
    const token = issuer.token();
    const named = (named?: string) =>
      createClient({ baseUrl: line.url, token, ...(named === undefined ? {} : { workspace: named }) }).state;
    await named(name).mutate([{ path: 'state.user.stars', op: 'inc', value: 1 }]);
    expect((await named(name).read()).user).toEqual({ stars: 1 });
    expect((await named().read()).user).toEqual({ points: 100 });
    expect((await named(workspace.name).read()).user).toEqual({ points: 100 });
    await expect(named('nobody').read()).rejects.toMatchObject({ status: 401, errorCode: 'invalid_token' });
  });

  it.each(['', 'a b', 'a\nb'])('takes no name of a workspace that a header cannot carry: %j', (name) => {
    expect(() => createClient({ baseUrl: line.url, token: 'x', workspace: name })).toThrow(TypeError);
  });

  it('changes once when the answer was lost, under one mutation id', async () => {
    const { state } = client();
    const before = line.sent.length;
    line.next('answer lost');
    expect(await state.mutate(TEN_MORE)).toMatchObject({ status: 'duplicate', mutations: [{ current: 110 }] });
    const ids = line.sent.slice(before).map(({ body }) => body.mutation_id);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
    expect((await state.read()).user).toEqual({ points: 110 });
  });

  it('says when an id was used for another change before', async () => {
    const { state } = client();
    await state.mutate(TEN_MORE, { mutationId: 'checkout-1' });
    const again = await state.mutate([{ ...TEN_MORE[0]!, value: 99 }], { mutationId: 'checkout-1' });
    expect(again).toMatchObject({ status: 'duplicate', payloadMismatch: true, mutations: [{ current: 110 }] });
  });

  it('is read and changed again after a success of another server, which changed nothing', async () => {
    const { state } = client();
    const maintenance: Mishap = { status: 200, body: { status: 'ok' } };
    line.next(maintenance);
    expect(await state.mutate(TEN_MORE)).toMatchObject({ status: 'applied', mutations: [{ current: 110 }] });
    line.next(maintenance);
    expect((await state.read()).user).toEqual({ points: 110 });
  });

  it('asks for a token before each attempt', async () => {
    let asked = 0;
    const token = issuer.token();
    line.next({ status: 503 });
    await client(() => Promise.resolve(asked++ === 0 ? 'not.the.last' : token)).state.read();
    expect(asked).toBe(2);
  });

  it('is refused with the path and every fault', async () => {
    const wrong = client().state.mutate([{ path: 'state.user.pionts', op: 'set', value: 1 }]);
    await expect(wrong).rejects.toMatchObject({
      name: 'CampaignDataError',
      status: 400,
      errorCode: 'undeclared_variable',
      path: 'state.user.pionts',
      details: [{ path: 'ops[0].path', code: 'undeclared_variable' }],
    });
  });
});
