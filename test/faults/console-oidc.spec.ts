import { startAlternatingProxy, type HttpProxy } from '../support/http-proxy';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { startSignInProvider, TravellingBrowser, type SignInProvider } from '../support/sign-in-provider';

const GROUPS = {
  readers: { workspace: 'default', scopes: ['events:read'] },
  reviewers: { workspace: 'default', scopes: ['review:read'] },
};

describe('sign-in by an identity provider, with two processes behind one address', () => {
  let url: string;
  let provider: SignInProvider;
  let nodes: ServiceProcess[];
  let proxy: HttpProxy;

  beforeAll(async () => {
    url = await freshDatabaseUrl('console_oidc');
    provider = await startSignInProvider();
    const environment = {
      DATABASE_URL: url,
      SECRETS_KEY: 'a-key-of-the-tests-that-is-long-enough',
      BOOTSTRAP_ADMIN_KEY: 'console-oidc-admin-key-console-oidc-admin-key',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'console',
      OIDC_CLIENT_SECRET: 'a secret of the console',
      OIDC_GROUPS: JSON.stringify(GROUPS),
      OIDC_SCOPE: 'openid profile groups',
    };
    const first = await startServiceProcess(environment);
    nodes = [first, await startServiceProcess(environment)];
    proxy = await startAlternatingProxy(nodes.map((node) => node.url));
    await provider.set({ redirectUris: [`${proxy.url}/console/api/oidc/callback`], next: 'jane' });
  });

  afterAll(async () => {
    await proxy.close();
    await Promise.all(nodes.map((node) => node.stop()));
    await provider.stop();
  });

  const setGroups = (groups: readonly string[]) => provider.set({ persons: { jane: { name: 'Jane', groups } } });
  /** As if the last answer of the provider was a minute ago. */
  const age = () => rowsOf(url, `UPDATE console_oidc_grants SET renewed_at = renewed_at - interval '60 seconds'`, []);
  const sessions = async (browser: TravellingBrowser, requests: number) => {
    const answers = await Promise.all(Array.from({ length: requests }, () => browser.get('/session')));
    return answers.map(({ status, body }) => `${status} ${body.scopes?.join() ?? body.error_code}`);
  };

  it('begins on one and ends on the other, is renewed once by either, and ends on both with the group', async () => {
    await setGroups(['readers']);
    const browser = new TravellingBrowser(proxy.url);
    const { address } = await browser.travel('/oidc/sign-in');
    expect(address).toBe(`${proxy.url}/console/`);
    expect(proxy.seen).toEqual(['0 GET /console/api/oidc/sign-in', '1 GET /console/api/oidc/callback']);
    expect(await sessions(browser, 2)).toEqual(Array(2).fill('200 events:read'));
    for (const [group, scope] of [
      ['reviewers', 'review:read'],
      ['readers', 'events:read'],
    ] as const) {
      await setGroups([group]);
      await age();
      // The provider ends a sign-in whose refresh token is used twice.
      expect(await sessions(browser, 10)).toEqual(Array(10).fill(`200 ${scope}`));
    }
    const [first, second] = nodes as [ServiceProcess, ServiceProcess];
    await first.stop();
    await age();
    const alone = new TravellingBrowser(second.url);
    alone.cookie = browser.cookie;
    expect(await sessions(alone, 2)).toEqual(Array(2).fill('200 events:read'));
    await setGroups([]);
    await age();
    expect(await sessions(alone, 2)).toEqual(Array(2).fill('401 unauthenticated'));
  });
});
