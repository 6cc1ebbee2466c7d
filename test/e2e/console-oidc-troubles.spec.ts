import { OidcProvider } from '../../src/console/oidc/oidc-provider';
import { startApp, type TestApp } from '../support/app';
import { aWorkspace, expectProblem } from '../support/client';
import { Browser } from '../support/console';
import { databaseUrl, rowsOf } from '../support/database';
import {
  type GivenAnswer,
  type SignInProvider,
  startSignInProvider,
  TravellingBrowser,
} from '../support/sign-in-provider';

let service: TestApp;
let provider: SignInProvider;

beforeAll(async () => {
  provider = await startSignInProvider();
  const { name } = await aWorkspace({ url: '', databaseUrl: await databaseUrl() });
  service = await startApp({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: 'a secret of the console',
    OIDC_GROUPS: JSON.stringify({ readers: { workspace: name, scopes: ['events:read'] } }),
    OIDC_SCOPE: 'openid profile groups',
  });
  await provider.set({
    redirectUris: [`${service.url}/console/api/oidc/callback`],
    persons: { jane },
    next: 'jane',
  });
});

afterEach(() => provider.set({ answers: {}, isAway: false }));

afterAll(async () => {
  await service.stop();
  await provider.stop();
});

const signIn = async (): Promise<TravellingBrowser> => {
  const browser = new TravellingBrowser(service.url);
  const { address } = await browser.travel('/oidc/sign-in');
  expect(address).toBe(`${service.url}/console/`);
  return browser;
};
/** As if the last answer of the provider was a minute ago. */
const age = () =>
  rowsOf(service.databaseUrl, `UPDATE console_oidc_grants SET renewed_at = renewed_at - interval '60 seconds'`, []);

const jane = { name: 'Jane', groups: ['readers'] };
/** RFC 6749, 5.2: with the challenge for the credential of the client. */
const unknownClient: GivenAnswer = {
  status: 401,
  headers: { 'www-authenticate': 'Basic realm="tokens"' },
  body: { error: 'invalid_client' },
};

describe('a session by an identity provider that errs', () => {
  it.each<[string, string, GivenAnswer]>([
    ['too many requests for tokens', '/token', { status: 429, body: { error: 'too_many_requests' } }],
    ['a request for a token that took too long', '/token', { status: 408, body: { error: 'timeout' } }],
    ['another secret of the console', '/token', unknownClient],
    ['too many questions about persons', '/me', { status: 429, headers: { 'www-authenticate': 'Bearer' } }],
    [
      'an answer of more than 512 KiB',
      '/me',
      { status: 200, body: { ...jane, sub: 'jane', picture: 'x'.repeat(524_288) } },
    ],
    ['a fault of its own', '/me', { status: 503, headers: { 'www-authenticate': 'Bearer' } }],
  ])('is refused and goes on: %s', async (_fault, path, answer) => {
    const browser = await signIn();
    await age();
    await provider.set({ answers: { [path]: answer } });
    expectProblem(await browser.get('/v1/events'), 503, 'unavailable');
    await provider.set({ answers: {} });
    expect((await browser.get('/v1/events')).status).toBe(200);
  });

  it.each<[string, (issuer: string) => object]>([
    ['nothing', () => ({})],
    ['another issuer', () => ({ issuer: 'https://login.example.com' })],
    ['no endpoints', (issuer) => ({ issuer })],
  ])('is refused and goes on where the metadata name %s at first', async (_fault, metadata) => {
    const browser = await signIn();
    await age();
    // As after a start.
    Object.assign(service.app.get(OidcProvider), { connecting: undefined });
    const body = metadata(provider.issuer);
    await provider.set({ answers: { '/.well-known/openid-configuration': { status: 200, body } } });
    expectProblem(await browser.get('/v1/events'), 503, 'unavailable');
    expectProblem(await new Browser(service.url).get('/oidc/sign-in'), 503, 'unavailable');
    await provider.set({ answers: {} });
    expect((await browser.get('/v1/events')).status).toBe(200);
    await signIn();
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['without a challenge', {}],
    ['with a challenge that names no scheme', { 'www-authenticate': 'error="invalid_access_token"' }],
    ['with a challenge of another scheme', { 'www-authenticate': 'DPoP error="invalid_token"' }],
  ])('ends where its access token is refused %s', async (_words, headers) => {
    const browser = await signIn();
    await age();
    await provider.set({ answers: { '/me': { status: 401, headers } } });
    expectProblem(await browser.get('/v1/events'), 401, 'unauthenticated');
  });

  it('is ended by its person while the provider is away', async () => {
    const browser = await signIn();
    const { cookie } = browser;
    await age();
    await provider.set({ isAway: true });
    expect((await browser.delete('/session')).body).toEqual({ signedIn: false });
    expect(browser.cookie).toBeUndefined();
    await provider.set({ isAway: false });
    browser.cookie = cookie;
    expectProblem(await browser.get('/session'), 401, 'unauthenticated');
    expectProblem(await browser.delete('/session'), 401, 'unauthenticated');
  });
});

describe('two tabs of a browser that sign in at the same time', () => {
  it('end one after the other: the one begun first is refused, and costs the other nothing', async () => {
    const browser = new TravellingBrowser(service.url);
    const [first, second] = [
      await browser.travel('/oidc/sign-in', /\/oidc\/callback\?/),
      await browser.travel('/oidc/sign-in', /\/oidc\/callback\?/),
    ];
    expect((await browser.visit(first.address, true)).status).toBe(401);
    expect((await browser.visit(second.address, true)).status).toBe(303);
    expect((await browser.get('/session')).status).toBe(200);
    expect((await browser.visit(second.address, true)).status).toBe(401);
  });
});
