import { Clock } from '../../src/platform/values/clock';
import { startApp, type TestApp } from '../support/app';
import { aWorkspace, Client, expectProblem, type Workspace } from '../support/client';
import { startOpenIdProvider, type OpenIdProvider } from '../support/openid-provider';
import { PROBE, ProbeController } from '../support/probe';

/** Contract section 2: so often an unknown key id may cause a fetch. */
const UNKNOWN_KEY_INTERVAL_MS = 10_000;

let service: TestApp;
let provider: OpenIdProvider;
let workspace: Workspace;
let audience: string;
let aheadMs = 0;

beforeAll(async () => {
  [service, provider] = await Promise.all([
    startApp({ JWKS_ALLOW_PRIVATE: 'true' }, undefined, [ProbeController]),
    startOpenIdProvider(),
  ]);
  // The clock of this service can be put forward, so that nobody has to wait.
  const clock = service.app.get(Clock);
  const monotonicMs = clock.monotonicMs.bind(clock);
  clock.monotonicMs = () => monotonicMs() + aheadMs;
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  audience = `campaigns of ${workspace.tenantId}`;
  const { issuer, jwksUri } = provider;
  const { status } = await workspace.admin.post('/v1/jwt-issuers', { issuer, audience, jwksUri });
  expect(status).toBe(201);
});

afterAll(() => Promise.all([service.stop(), provider.stop()]));

const statusOf = async (token: string): Promise<number> => (await new Client(service.url, token).get(PROBE)).status;

describe('tokens of a real OpenID provider', () => {
  it.each(['RS256', 'PS256', 'ES256'] as const)('are taken when they are signed with %s', async (alg) => {
    const token = await provider.token({ audience, alg, claims: { sub: 'jane', campaign_id: 'spring' } });
    const { status, body } = await new Client(service.url, token).get(PROBE);
    expect([status, body]).toMatchObject([
      200,
      { tenantId: workspace.tenantId, subject: 'jane', campaignId: 'spring', appId: null },
    ]);
  });

  it('are refused when they are for somebody else, or were changed', async () => {
    const [header, , signature] = (await provider.token({ audience })).split('.');
    const [, payload] = (await provider.token({ audience, claims: { sub: 'admin' } })).split('.');
    for (const token of [await provider.token({ audience: 'others' }), [header, payload, signature].join('.')]) {
      expectProblem(await new Client(service.url, token).get(PROBE), 401, 'invalid_token', []);
    }
  });

  it('go on being taken while its keys are rotated, until the old key is withdrawn', async () => {
    const old = await Promise.all([1, 2, 3].map(() => provider.token({ audience })));
    expect(await statusOf(old[0]!)).toBe(200);

    await provider.rotateKeys({ publishOld: true });
    aheadMs += UNKNOWN_KEY_INTERVAL_MS;
    expect(await statusOf(await provider.token({ audience }))).toBe(200);
    expect(await statusOf(old[1]!)).toBe(200);

    await provider.rotateKeys({ publishOld: false });
    aheadMs += UNKNOWN_KEY_INTERVAL_MS;
    expect(await statusOf(await provider.token({ audience }))).toBe(200);
    expect(await statusOf(old[2]!)).toBe(401);
  });
});
