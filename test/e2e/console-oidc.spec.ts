import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { Clock } from '../../src/platform/values/clock';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, expectProblem, type Workspace } from '../support/client';
import { databaseUrl, rowsOf, waitingForLocks, withClient } from '../support/database';
import { openLive } from '../support/live';
import { startSignInProvider, TravellingBrowser, type SignInProvider } from '../support/sign-in-provider';
import { until } from '../support/until';

let service: TestApp;
let provider: SignInProvider;
/** In the order of their names. */
let workspaces: [Workspace, Workspace];
let nextPerson = 0;

beforeAll(async () => {
  provider = await startSignInProvider();
  const database = { url: '', databaseUrl: await databaseUrl() };
  const made = [await aWorkspace(database), await aWorkspace(database)];
  workspaces = made.sort((a, b) => (a.name < b.name ? -1 : 1)) as [Workspace, Workspace];
  const [first, second] = workspaces;
  const groups = {
    readers: { workspace: first.name, scopes: ['events:read'] },
    reviewers: { workspace: first.name, scopes: ['review:read'] },
    keepers: { workspace: second.name, scopes: ['api-keys:read', 'api-keys:write', 'events:read'] },
    lost: { workspace: 'no-such-workspace', scopes: ['admin'] },
  };
  service = await startApp({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: 'a secret of the console',
    OIDC_GROUPS: JSON.stringify(groups),
    OIDC_SCOPE: 'openid profile groups',
  });
  await provider.set({ redirectUris: [`${service.url}/console/api/oidc/callback`] });
});

afterAll(async () => {
  await service.stop();
  await provider.stop();
});

/** A person of these groups, who is signed in next. */
async function aPerson(groups: readonly string[]): Promise<string> {
  nextPerson += 1;
  const subject = `person-${nextPerson}`;
  await provider.set({ persons: { [subject]: { name: `Person ${nextPerson}`, groups } }, next: subject });
  return subject;
}
const changeGroups = (subject: string, groups: readonly string[]): Promise<void> =>
  provider.set({ persons: { [subject]: { name: subject, groups } } });
const signIn = async (query = ''): Promise<TravellingBrowser> => {
  const browser = new TravellingBrowser(service.url);
  const { address } = await browser.travel(`/oidc/sign-in${query}`);
  expect(address).toBe(`${service.url}/console/`);
  return browser;
};
const inDatabase = (statement: string, values: readonly unknown[]) => rowsOf(service.databaseUrl, statement, values);
/** As if the last answer of the provider was so long ago; below 0: as if a node whose clock is ahead had got it. */
const age = (subject: string, seconds: number) =>
  inDatabase('UPDATE console_oidc_grants SET renewed_at = renewed_at - make_interval(secs => $2) WHERE subject = $1', [
    subject,
    seconds,
  ]);
const problemOf = async (response: Response) => {
  const body: any = await response.json();
  return [response.status, body.error_code, body.message];
};
/** Sends a target and a Host that `fetch` does not send. */
const sendAsIs = async (target: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> => {
  const { hostname, port } = new URL(service.url);
  const sent = request({ hostname, port, path: target, headers, setHost: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
};
const errorOf = async (response: IncomingMessage) => {
  const body: any = await json(response);
  return [response.statusCode, response.headers['content-type'], body.error_code];
};
const NOT_BEGUN_HERE = [401, 'unauthenticated', expect.stringContaining('was not begun in this browser')];

describe('sign-in by an identity provider', () => {
  it('opens a session with the rights of the groups, and leads to the console', async () => {
    await aPerson(['readers', 'reviewers', 'unknown']);
    const browser = new TravellingBrowser(service.url);
    expect((await browser.get('/sign-in-methods')).body).toEqual({ key: true, oidc: true });
    const { address, response } = await browser.travel('/oidc/sign-in?page=events/live%3Fresult=refused');
    expect(address).toBe(`${service.url}/console/events/live?result=refused`);
    expect(response.headers.get('location')).toBe('../../events/live?result=refused');
    expect(response.headers.getSetCookie()).toEqual([
      'cds_console_sign_in=; Path=/console/api/oidc; HttpOnly; SameSite=Lax; Max-Age=0',
      expect.stringMatching(/^cds_console=[\w-]{43}; Path=\/console; HttpOnly; SameSite=Strict$/),
    ]);
    const session = (await browser.get('/session')).body;
    expect(session).toMatchObject({ signedIn: true, via: 'oidc', workspace: workspaces[0].name });
    expect(session).toMatchObject({ name: `Person ${nextPerson}`, scopes: ['events:read', 'review:read'] });
    expect(session.provenUntil).not.toBeNull();
    expect((await browser.get('/v1/events')).status).toBe(200);
    expectProblem(await browser.get('/v1/api-keys'), 403, 'insufficient_scope');
  });

  it('sends PKCE, state and nonce, and keeps what proves them in a sealed cookie', async () => {
    const browser = new TravellingBrowser(service.url);
    const response = await browser.visit(`${service.url}/console/api/oidc/sign-in`);
    const address = new URL(response.headers.get('location') ?? '');
    expect(Object.fromEntries(address.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'console',
      code_challenge_method: 'S256',
      scope: 'openid profile groups',
      state: expect.stringMatching(/^.{40,}$/),
      nonce: expect.stringMatching(/^.{40,}$/),
    });
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(
      /^cds_console_sign_in=[\w-]+; Path=\/console\/api\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/,
    );
    const sealed = Buffer.from(/=([\w-]+)/.exec(cookie)?.[1] ?? '', 'base64url').toString('latin1');
    expect(sealed).not.toContain(address.searchParams.get('state'));
    const secure = await fetch(`${service.url}/console/api/oidc/sign-in`, {
      headers: { 'x-forwarded-proto': 'https' },
      redirect: 'manual',
    });
    expect(secure.headers.getSetCookie()[0]).toMatch(/^__Secure-cds_console_sign_in=.*; Secure$/);
  });

  it('refuses a callback of another browser, with another state, used twice, or that nobody began', async () => {
    await aPerson(['readers']);
    const browser = new TravellingBrowser(service.url);
    const { address } = await browser.travel('/oidc/sign-in', /\/oidc\/callback\?/);
    const kept = new Map(browser.jar.get(service.url));
    const visit = async (to: string, cookies: Map<string, string>) => {
      const other = new TravellingBrowser(service.url);
      other.jar.set(service.url, new Map(cookies));
      return other.visit(to, true);
    };
    const [elsewhere, forged] = [new URL(address), new URL(address)];
    elsewhere.searchParams.delete('state');
    forged.searchParams.set('state', 'x'.repeat(43));
    expect(await problemOf(await visit(address, new Map()))).toEqual(NOT_BEGUN_HERE);
    expect(await problemOf(await visit(elsewhere.href, kept))).toEqual(NOT_BEGUN_HERE);
    expect(await problemOf(await visit(forged.href, kept))).toEqual(NOT_BEGUN_HERE);
    expect((await visit(address, kept)).status).toBe(303);
    const again = await problemOf(await visit(address, kept));
    expect(again).toEqual([401, 'unauthenticated', expect.stringContaining('invalid_grant')]);
    const denied = `${service.url}/console/api/oidc/callback?error=access_denied&state=${forged.searchParams.get('state')}`;
    expect(await problemOf(await visit(denied, kept))).toEqual(NOT_BEGUN_HERE);
  });

  it('refuses a person without a group that gives access, in clear words', async () => {
    for (const groups of [[], ['unknown'], ['lost']]) {
      await aPerson(groups);
      const { response } = await new TravellingBrowser(service.url).travel('/oidc/sign-in');
      const words = expect.stringContaining('none of your groups gives access to any workspace');
      expect(await problemOf(response)).toEqual([403, 'insufficient_scope', words]);
      expect(response.headers.getSetCookie().join()).not.toMatch(/cds_console=\w/);
    }
  });

  it('chooses the first workspace by name, or the one that is asked for', async () => {
    await aPerson(['readers', 'keepers']);
    expect((await (await signIn()).get('/session')).body.workspace).toBe(workspaces[0].name);
    const chosen = await signIn(`?workspace=${workspaces[1].name}`);
    expect((await chosen.get('/session')).body.workspace).toBe(workspaces[1].name);
    await aPerson(['readers']);
    const { response } = await new TravellingBrowser(service.url).travel(
      `/oidc/sign-in?workspace=${workspaces[1].name}`,
    );
    expect((await problemOf(response)).slice(0, 2)).toEqual([403, 'insufficient_scope']);
  });

  it('leads nowhere but to pages of the console', async () => {
    for (const page of [
      '//evil.example',
      'https://evil.example',
      '../../v1',
      '/x',
      'a//b',
      'javascript:alert(1)\n',
      'a\\b',
      // Browsers decode dots before they walk up.
      'x/%2e%2e/%2e%2e/docs',
      'x/%2E%2e/%2e%2E/console/review',
      'x/.%2e/%2e./docs',
      'x/%2e%2e',
    ]) {
      const { response } = await new TravellingBrowser(service.url).travel(
        `/oidc/sign-in?page=${encodeURIComponent(page)}`,
        /.*/,
      );
      expect([page, response.status]).toEqual([page, 422]);
    }
    await aPerson(['readers']);
    const dots = 'events/a%2eb?text=%2e%2e%2f%2e%2e%2f';
    const { address } = await new TravellingBrowser(service.url).travel(
      `/oidc/sign-in?page=${encodeURIComponent(dots)}`,
    );
    expect(address).toBe(`${service.url}/console/${dots}`);
  });

  it('takes a callback whose target is a whole URL, whatever its host is', async () => {
    await aPerson(['readers']);
    const browser = new TravellingBrowser(service.url);
    const { address } = await browser.travel('/oidc/sign-in', /\/oidc\/callback\?/);
    const [kept = ''] = browser.jar.get(service.url)?.values() ?? [];
    const { pathname, search } = new URL(address);
    const { host } = new URL(service.url);
    // A port that no address has.
    const refused = await sendAsIs(`http://a:99999${pathname}${search}`, { host });
    expect([400, 401]).toContain(refused.statusCode);
    const cookie = kept.split(';', 1)[0] ?? '';
    const taken = await sendAsIs(`http://a:9999${pathname}${search}`, { host, cookie });
    expect([taken.statusCode, taken.headers.location]).toEqual([303, '../../']);
  });

  it('is not begun without a host to come back to', async () => {
    for (const host of ['', 'a:99999', '[::1']) {
      const answer = await errorOf(await sendAsIs('/console/api/oidc/sign-in', { host }));
      expect([host, ...answer]).toEqual([host, 400, 'application/problem+json', 'malformed_json']);
    }
  });
});

describe('a session by an identity provider', () => {
  it('ends at the next renewal after the group is removed, also its live events', async () => {
    const subject = await aPerson(['readers']);
    const browser = await signIn();
    const stream = await openLive(browser);
    await changeGroups(subject, []);
    expect((await browser.get('/v1/events')).status).toBe(200);
    await age(subject, 60);
    await until(() => stream.ended() !== undefined);
    expect(stream.ended()).toBe('session_ended');
    expectProblem(await browser.get('/v1/events'), 401, 'unauthenticated');
    await changeGroups(subject, ['readers']);
    expectProblem(await browser.get('/session'), 401, 'unauthenticated');
    expect(await inDatabase('SELECT 1 FROM console_oidc_grants WHERE subject = $1', [subject])).toEqual([]);
  });

  it('ends also where the last renewal seems to be in the future, since a clock was wrong', async () => {
    const subject = await aPerson(['readers']);
    const browser = await signIn();
    await changeGroups(subject, []);
    await age(subject, -3_600);
    expectProblem(await browser.get('/v1/events'), 401, 'unauthenticated');
  });

  it('takes the renewal of another process also where the one before it seems to be in the future', async () => {
    const subject = await aPerson(['readers']);
    const browser = await signIn();
    await age(subject, -3_600);
    const answer = await withClient(service.databaseUrl, async (other) => {
      await other.query('BEGIN');
      await other.query('UPDATE console_oidc_grants SET renewed_at = now() WHERE subject = $1', [subject]);
      const asked = browser.get('/v1/events');
      const claim = { statement: 'SET renewing_until' };
      await until(async () => (await waitingForLocks(service.databaseUrl, claim)) === 1);
      await other.query('COMMIT');
      return asked;
    });
    expect(answer.status).toBe(200);
  });

  it('ends when the provider no longer knows the person', async () => {
    const subject = await aPerson(['readers']);
    const browser = await signIn();
    await provider.set({ persons: {} });
    await age(subject, 60);
    expectProblem(await browser.get('/v1/events'), 401, 'unauthenticated');
  });

  it('gets the rights of other groups at the next renewal, once for any number of requests', async () => {
    const subject = await aPerson(['readers']);
    const browser = await signIn();
    for (const groups of [['readers', 'reviewers'], ['reviewers'], ['readers']]) {
      await changeGroups(subject, groups);
      await age(subject, 60);
      // The provider ends a sign-in whose refresh token is used twice.
      const answers = await Promise.all(Array.from({ length: 10 }, () => browser.get('/session')));
      expect(new Set(answers.map(({ body }) => body.scopes.join()))).toEqual(
        new Set([groups.map((group) => (group === 'readers' ? 'events:read' : 'review:read')).join()]),
      );
    }
  });

  it('is refused, and goes on, while the provider is away', async () => {
    const subject = await aPerson(['readers']);
    const browser = await signIn();
    await provider.set({ isAway: true });
    expect((await browser.get('/v1/events')).status).toBe(200);
    await age(subject, 60);
    expectProblem(await browser.get('/v1/events'), 503, 'unavailable');
    await provider.set({ isAway: false });
    expect((await browser.get('/v1/events')).status).toBe(200);
  });

  it('goes on after the provider has given a new refresh token, and could say nothing about the person then', async () => {
    const subject = await aPerson(['readers']);
    const browser = await signIn();
    await age(subject, 60);
    await provider.set({ isUserInfoAway: true });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      expectProblem(await browser.get('/v1/events'), 503, 'unavailable');
    }
    await provider.set({ isUserInfoAway: false });
    expect((await browser.get('/v1/events')).status).toBe(200);
  });

  it('goes on where its person has signed in again while the renewal of the sign-in before was being refused', async () => {
    const subject = await aPerson(['readers']);
    const browser = await signIn();
    await changeGroups(subject, []);
    await age(subject, 60);
    await provider.set({ isHeld: true });
    const asked = browser.get('/v1/events');
    const renewing = 'SELECT 1 FROM console_oidc_grants WHERE subject = $1 AND renewing_until IS NOT NULL';
    await until(async () => (await inDatabase(renewing, [subject])).length === 1);
    // What a sign-in in another browser stores; the provider answers neither now.
    const stored = 'UPDATE console_oidc_grants SET renewed_at = now(), renewing_until = NULL WHERE subject = $1';
    await inDatabase(stored, [subject]);
    await provider.set({ isHeld: false });
    expect((await asked).status).toBe(200);
    expect((await browser.get('/session')).status).toBe(200);
  });

  it('is renewed by userinfo where there is no refresh token', async () => {
    await provider.set({ refreshes: false });
    const subject = await aPerson(['readers']);
    const browser = await signIn();
    await provider.set({ refreshes: true });
    await age(subject, 60);
    expect((await browser.get('/v1/events')).status).toBe(200);
    await changeGroups(subject, []);
    await age(subject, 60);
    expectProblem(await browser.get('/v1/events'), 401, 'unauthenticated');
  });

  it('stores no token that can be read', async () => {
    const subject = await aPerson(['readers']);
    await signIn();
    const [{ token }] = (await inDatabase('SELECT token FROM console_oidc_grants WHERE subject = $1', [
      subject,
    ])) as any;
    expect(token.toString('latin1')).not.toMatch(/refresh|token|kind/);
  });

  it('proves who it is by a new sign-in, which replaces it; the audit names the person', async () => {
    const subject = await aPerson(['keepers']);
    const browser = await signIn();
    const aKey = { name: 'made in the console', scopes: ['events:read'] };
    const first = browser.cookie;
    await inDatabase(
      `UPDATE console_sessions SET proven_at = proven_at - interval '6 minutes'
       WHERE grant_id = (SELECT id FROM console_oidc_grants WHERE subject = $1)`,
      [subject],
    );
    expectProblem(await browser.post('/v1/api-keys', aKey), 403, 'proof_required');
    expectProblem(await browser.post('/session:prove', { key: workspaces[1].admin.key }), 403, 'proof_required');
    await browser.travel('/oidc/sign-in?prove=true');
    expect(browser.cookie).not.toBe(first);
    const made = await browser.post('/v1/api-keys', aKey);
    expect([made.status, made.body.apiKey?.createdBy]).toEqual([201, `oidc:${subject}`]);
    const { items } = (await browser.get(`/v1/api-keys/${made.body.apiKey.id}/audit`)).body;
    expect(items).toMatchObject([{ action: 'created', by: `oidc:${subject}` }]);
    browser.cookie = first;
    expectProblem(await browser.get('/session'), 401, 'unauthenticated');
  });

  it('is no proof where the provider has asked for nothing in the last 5 minutes', async () => {
    await aPerson(['readers']);
    const clock: { now?: () => Date } = service.app.get(Clock);
    clock.now = () => new Date(Date.now() + 6 * 60_000);
    try {
      expect((await (await signIn()).get('/session')).body).toMatchObject({ signedIn: true, provenUntil: null });
    } finally {
      delete clock.now;
    }
  });

  it('is a proof until 5 minutes after the person has shown who they are, also when it is opened later', async () => {
    await aPerson(['keepers']);
    const clock: { now?: () => Date } = service.app.get(Clock);
    const setAhead = (seconds: number): void => {
      clock.now = () => new Date(Date.now() + seconds * 1_000);
    };
    const shownBy = Date.now();
    const aKey = { name: 'made in the console', scopes: ['events:read'] };
    try {
      // For the provider the person shows now who they are; for the service that was 4 minutes ago.
      setAhead(240);
      const browser = await signIn();
      expect((await browser.post('/v1/api-keys', aKey)).status).toBe(201);
      const { provenUntil } = (await browser.get('/session')).body;
      // The provider gives whole seconds.
      expect(Date.parse(provenUntil)).toBeGreaterThan(shownBy + 299_000 - 1);
      expect(Date.parse(provenUntil)).toBeLessThanOrEqual(Date.now() + 300_000);
      setAhead(301);
      expectProblem(await browser.post('/v1/api-keys', aKey), 403, 'proof_required');
    } finally {
      delete clock.now;
    }
  });

  it('is proven now at the latest, where the clock of the provider is ahead', async () => {
    await aPerson(['readers']);
    const clock: { now?: () => Date } = service.app.get(Clock);
    clock.now = () => new Date(Date.now() - 3_600_000);
    try {
      const { provenUntil } = (await (await signIn()).get('/session')).body;
      expect(Date.parse(provenUntil)).toBeLessThanOrEqual(Date.now() - 3_600_000 + 300_000);
    } finally {
      delete clock.now;
    }
  });

  it('shows nothing of other workspaces', async () => {
    await aPerson(['readers']);
    const browser = await signIn();
    const { body } = await new TravellingBrowser(service.url).get('/session');
    expect(body.error_code).toBe('unauthenticated');
    const sent = { method: 'POST', body: JSON.stringify(anExternalEvent()) };
    const headers = { authorization: `Bearer ${workspaces[1].admin.key}`, 'content-type': 'application/json' };
    expect((await fetch(`${service.url}/v1/external-events`, { ...sent, headers })).status).toBe(202);
    expect((await browser.get('/v1/events')).body.items).toEqual([]);
  });
});
