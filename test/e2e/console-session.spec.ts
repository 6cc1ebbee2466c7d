import { createHash, randomUUID } from 'node:crypto';
import { ConsoleSessions } from '../../src/console/console-sessions';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, Client, expectProblem, storedEvent, type Answer, type Workspace } from '../support/client';
import { Browser, FROM_CONSOLE, signedIn } from '../support/console';
import { rowsOf } from '../support/database';
import { requestLive } from '../support/live';
import { setAhead } from '../support/test-clock';
import { until } from '../support/until';

let service: TestApp;
/** Another node on the same database, without a console. */
let other: TestApp;
let workspace: Workspace;
let admin: Client;

beforeAll(async () => {
  service = await startApp();
  other = await startApp({ CONSOLE: 'off' });
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
  ({ admin } = workspace);
});
afterEach(() => setAhead(service.app, 0));
afterAll(async () => {
  await other.stop();
  await service.stop();
});

const MINUTES_OF_DAY = 24 * 60;
/** So many minutes from now. */
const at = (minutes: number): void => setAhead(service.app, minutes / MINUTES_OF_DAY);

interface StoredSession {
  readonly secret_hash: Buffer;
  readonly via: string;
  readonly grant_id: string;
}

function storedSessions(): Promise<StoredSession[]> {
  return rowsOf(service.databaseUrl, 'SELECT * FROM console_sessions WHERE tenant_id = $1', [workspace.tenantId]);
}

async function keyId(): Promise<string> {
  return (await admin.get('/v1/api-keys')).body.items[0].id;
}

const secretOf = ({ cookie = '' }: Browser): string => cookie.split('=')[1]!;

describe('POST /console/api/session', () => {
  it('opens a session with a key, shows who is signed in, and tells nobody the key again', async () => {
    const browser = new Browser(service.url);
    const { status, headers, body } = await browser.signIn(admin.key!);
    expect([status, body]).toEqual([
      200,
      {
        signedIn: true,
        workspace: workspace.name,
        name: 'test',
        scopes: ['admin'],
        via: 'key',
        expiresAt: expect.any(String),
        idleExpiresAt: expect.any(String),
        provenUntil: expect.any(String),
      },
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await browser.get('/session')).body).toEqual(body);
    const minutes = (name: string): number => Math.round((Date.parse(body[name]) - Date.now()) / 60_000);
    expect(['idleExpiresAt', 'expiresAt', 'provenUntil'].map(minutes)).toEqual([30, 8 * 60, 5]);
  });

  it('sets a cookie for the console alone that no script can read: Secure, except over HTTP on a loopback address', async () => {
    const cookieFor = async (origin?: string): Promise<string | undefined> => {
      const headers: Record<string, string> = origin === undefined ? {} : { origin };
      const { headers: answered } = await new Browser(service.url).send(
        '/session',
        JSON.stringify({ key: admin.key }),
        { headers },
      );
      return answered
        .getSetCookie()
        .join()
        .replace(/=[\w-]{43};/, '=…;');
    };
    const local = 'cds_console=…; Path=/console; HttpOnly; SameSite=Strict';
    for (const origin of [undefined, 'http://localhost:3000', 'http://127.0.0.1:3000', 'http://[::1]:3000']) {
      expect([origin, await cookieFor(origin)]).toEqual([origin, local]);
    }
    // What the browser sees, whatever a proxy makes of it.
    for (const origin of ['https://console.example.com', 'https://localhost', 'http://localhost.example.com']) {
      expect([origin, await cookieFor(origin)]).toEqual([origin, `__Secure-${local}; Secure`]);
    }
  });

  it('stores no more of the secret than its hash, with the id of the key', async () => {
    const browser = await signedIn(service.url, admin.key!);
    const secret = secretOf(browser);
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
    const [stored, ...others] = await storedSessions();
    expect([stored?.via, stored?.grant_id, others]).toEqual(['key', await keyId(), []]);
    expect(stored?.secret_hash).toEqual(createHash('sha256').update(secret).digest());
    expect(JSON.stringify(stored)).not.toContain(secret);
    expect(JSON.stringify(stored)).not.toContain(admin.key);
  });

  it('never adopts a cookie that was presented, and ends the session that it belongs to', async () => {
    const browser = new Browser(service.url);
    const chosen = 'A'.repeat(43);
    browser.cookie = `cds_console=${chosen}`;
    await browser.signIn(admin.key!);
    const first = browser.cookie;
    expect(secretOf(browser)).not.toBe(chosen);
    const fixed = new Browser(service.url);
    fixed.cookie = `cds_console=${chosen}`;
    expectProblem(await fixed.get('/session'), 401, 'unauthenticated');
    await browser.signIn(admin.key!);
    expect(browser.cookie).not.toBe(first);
    fixed.cookie = first;
    expectProblem(await fixed.get('/session'), 401, 'unauthenticated');
    expect(await storedSessions()).toHaveLength(1);
  });

  it('refuses what is no key, and what is no longer one', async () => {
    const browser = new Browser(service.url);
    const { key: expired } = await workspace.client({ expiresAt: new Date(Date.now() - 1_000) });
    expectProblem(await browser.signIn(expired!), 401, 'api_key_expired');
    expectProblem(await browser.signIn('nonsense'), 401, 'invalid_api_key');
    expectProblem(await browser.post('/session', {}), 422, 'validation_failed', ['key required']);
    expectProblem(await browser.post('/session', { key: 1 }), 422, 'validation_failed', ['key type']);
    expectProblem(await browser.post('/session', { key: 'x'.repeat(201) }), 422, 'validation_failed', ['key too_long']);
    const typo = { key: admin.key, remember: true };
    expectProblem(await browser.post('/session', typo), 422, 'validation_failed', ['remember unknown_field']);
    expectProblem(await browser.send('/session', '{'), 400, 'malformed_json');
    expectProblem(await browser.send(`/session?key=${admin.key}`, undefined), 415, 'unsupported_media_type');
    expect([browser.cookie, await storedSessions()]).toEqual([undefined, []]);
  });

  it('keeps at most 20 sessions of a key: those that were used last', async () => {
    const [first, second] = [await signedIn(service.url, admin.key!), await signedIn(service.url, admin.key!)];
    at(1);
    expect((await first.get('/session')).status).toBe(200);
    for (let further = 0; further < 19; further += 1) await signedIn(service.url, admin.key!);
    expect(await storedSessions()).toHaveLength(20);
    expect((await first.get('/session')).status).toBe(200);
    expectProblem(await second.get('/session'), 401, 'unauthenticated');
  });

  it('keeps the new session of a key whose others were used by a clock that was set back since', async () => {
    // The hourly removal, should it run now, takes away what is over a minute ahead.
    at(0.5);
    for (let earlier = 0; earlier < 20; earlier += 1) await signedIn(service.url, admin.key!);
    at(0);
    const browser = await signedIn(service.url, admin.key!);
    expect((await browser.get('/session')).status).toBe(200);
    expect(await storedSessions()).toHaveLength(20);
  });
});

describe('a session', () => {
  it('has the scopes of its key at each request, and no others', async () => {
    const { key } = await workspace.client({ scopes: ['events:read'] });
    const browser = await signedIn(service.url, key!);
    expect((await browser.get('/v1/events')).status).toBe(200);
    expectProblem(await browser.get('/v1/api-keys'), 403, 'insufficient_scope');
    await rowsOf(service.databaseUrl, `UPDATE api_keys SET scopes = '{api-keys:read}' WHERE tenant_id = $1`, [
      workspace.tenantId,
    ]);
    // The list of scopes of a key does not change by itself: this is what a change on another node does.
    await rowsOf(
      service.databaseUrl,
      `INSERT INTO control_changes SELECT tenant_id, 'api_key', id, clock_timestamp() FROM api_keys WHERE tenant_id = $1`,
      [workspace.tenantId],
    );
    await until(async () => (await browser.get('/v1/api-keys')).status === 200, 5);
    expectProblem(await browser.get('/v1/events'), 403, 'insufficient_scope');
  });

  it('ends when somebody signs out, on every page', async () => {
    const browser = await signedIn(service.url, admin.key!);
    const page = new Browser(service.url);
    page.cookie = browser.cookie;
    expect((await browser.delete('/session')).body).toEqual({ signedIn: false });
    expect(browser.cookie).toBeUndefined();
    for (const path of ['/session', '/v1/events']) expectProblem(await page.get(path), 401, 'unauthenticated');
  });

  it.each(['revoke', 'rotate'])('ends at once when its key is %sd here', async (by) => {
    const { body } = await admin.post('/v1/api-keys', { name: 'console', scopes: ['admin'] });
    const browser = await signedIn(service.url, body.key);
    expect((await browser.get('/v1/events')).status).toBe(200);
    expect((await browser.post(`/v1/api-keys/${body.apiKey.id}:${by}`, {})).status).toBeLessThan(300);
    expectProblem(await browser.get('/v1/events'), 401, 'api_key_revoked');
    expectProblem(await browser.get('/session'), 401, 'unauthenticated');
    expect(await storedSessions()).toEqual([]);
  });

  it('ends within a second when its key is revoked on another node', async () => {
    const { body } = await admin.post('/v1/api-keys', { name: 'console', scopes: ['admin'] });
    const browser = await signedIn(service.url, body.key);
    const there = await fetch(`${other.url}/v1/api-keys/${body.apiKey.id}:revoke`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin.key}` },
    });
    expect(there.status).toBe(200);
    let last: Answer | undefined;
    await until(async () => (last = await browser.get('/v1/events')).status !== 200, 2);
    expectProblem(last!, 401, 'api_key_revoked');
  });

  it('ends when its key expires', async () => {
    const { key } = await workspace.client({ expiresAt: new Date(Date.now() + 10 * 60_000) });
    const browser = await signedIn(service.url, key!);
    const { body } = await browser.get('/session');
    expect(body.idleExpiresAt).toBe(body.expiresAt);
    at(9);
    expect((await browser.get('/v1/events')).status).toBe(200);
    at(11);
    expectProblem(await browser.get('/v1/events'), 401, 'api_key_expired');
  });

  it('ends after 30 minutes in which nobody used it; a timer of a page is nobody', async () => {
    const browser = await signedIn(service.url, admin.key!);
    for (const minutes of [29, 58, 87]) {
      at(minutes);
      expect((await browser.get('/v1/events')).status).toBe(200);
    }
    at(100);
    const byTimer = await browser.send('/v1/events', undefined, {
      method: 'GET',
      headers: { 'x-cds-console': 'background' },
    });
    expect(byTimer.status).toBe(200);
    at(87 + 31);
    expectProblem(await browser.get('/v1/events'), 401, 'unauthenticated');
    expect(await storedSessions()).toEqual([]);
  });

  it('is not prolonged by a view of live events, which browsers open again by themselves', async () => {
    const browser = await signedIn(service.url, admin.key!);
    const statuses: (number | undefined)[] = [];
    for (const minutes of [20, 31]) {
      at(minutes);
      const view = await requestLive(browser);
      view.destroy();
      statuses.push(view.statusCode);
    }
    expect(statuses).toEqual([200, 401]);
  });

  it('ends after 8 hours, however often it is used', async () => {
    const browser = await signedIn(service.url, admin.key!);
    for (let minutes = 25; minutes < 8 * 60; minutes += 25) {
      at(minutes);
      expect([minutes, (await browser.get('/session')).status]).toEqual([minutes, 200]);
    }
    at(8 * 60 + 1);
    expectProblem(await browser.get('/session'), 401, 'unauthenticated');
  });

  it('ends when the clock was set back behind its last use: nobody knows how old it is', async () => {
    at(10 * 60);
    const [browser, unused] = [await signedIn(service.url, admin.key!), await signedIn(service.url, admin.key!)];
    at(0);
    expectProblem(await browser.get('/v1/events?unmask=true'), 401, 'unauthenticated');
    while (await service.app.get(ConsoleSessions).removeEnded());
    expect(await storedSessions()).toEqual([]);
    expectProblem(await unused.get('/session'), 401, 'unauthenticated');
  });

  it('goes on when another node is a few seconds ahead', async () => {
    at(0.1);
    const browser = await signedIn(service.url, admin.key!);
    at(0);
    expect((await browser.get('/v1/events?unmask=true')).status).toBe(200);
    while (await service.app.get(ConsoleSessions).removeEnded());
    expect((await browser.get('/session')).status).toBe(200);
  });

  it('that has ended is removed by the job, and no other', async () => {
    const [used, unused] = [await signedIn(service.url, admin.key!), await signedIn(service.url, admin.key!)];
    at(20);
    expect((await used.get('/session')).status).toBe(200);
    at(40);
    while (await service.app.get(ConsoleSessions).removeEnded());
    expect(await storedSessions()).toHaveLength(1);
    expect((await used.get('/session')).status).toBe(200);
    expectProblem(await unused.get('/session'), 401, 'unauthenticated');
  });
});

describe('a fresh proof', () => {
  const webhook = { url: 'https://hooks.example.com/x', events: [{ eventType: 'purchase' }] };
  const erased = { identity: { type: 'EXTERNAL', value: 'nobody' } };
  const reading = {
    name: 'copy',
    eventType: 'purchase',
    ops: [{ path: 'state.user.mail', op: 'set', valueFrom: 'identity.value' }],
  };

  /** What needs one, by a name. */
  async function guarded(browser: Browser): Promise<Record<string, () => Promise<Answer>>> {
    const event = await storedEvent(admin, await admin.post('/v1/external-events', anExternalEvent()));
    const { body: key } = await admin.post('/v1/api-keys', { name: 'old', scopes: ['events:read'] });
    return {
      'creating a key': () => browser.post('/v1/api-keys', { name: 'new', scopes: ['events:read'] }),
      'rotating a key': () => browser.post(`/v1/api-keys/${key.apiKey.id}:rotate`, {}),
      'creating a service credential': () =>
        browser.post('/v1/service-credentials', { name: 'signer', algorithm: 'hmac-sha256' }),
      'unmasking an event': () => browser.get(`/v1/events/${event.eventId}?unmask=true`),
      'unmasking events': () => browser.get('/v1/events?unmask=true'),
      'unmasking refusals': () => browser.get('/v1/review-entries?unmask=true'),
      'exporting a person': () => browser.post(`/v1/cdp/profiles/${event.profileId}:export`, {}),
      'a webhook that unmasks': () => browser.post('/v1/webhooks', { ...webhook, unmask: true }),
      'a reaction that reads an identity': () => browser.post('/v1/campaigns/spring/reactions:define', reading),
      'erasing by an identifier': () => browser.post('/v1/cdp/profiles:erase', erased),
      'erasing a customer': () => browser.post(`/v1/cdp/profiles/${event.profileId}:erase`, {}),
    };
  }

  it('is needed 5 minutes after the last one for keys, unmasking and erasing; signing in is one', async () => {
    const browser = await signedIn(service.url, admin.key!);
    const calls = await guarded(browser);
    at(6);
    for (const call of Object.values(calls)) expectProblem(await call(), 403, 'proof_required');
    expect((await browser.get('/session')).status).toBe(200);
    const { status, body } = await browser.post('/session:prove', { key: admin.key });
    expect(status).toBe(200);
    expect(Date.parse(body.provenUntil) - Date.now()).toBeGreaterThan(10 * 60_000);
    for (const [name, call] of Object.entries(calls)) {
      const answer = await call();
      expect([name, answer.body?.error_code]).not.toEqual([name, 'proof_required']);
      if (answer.status === 403) expect([name, answer.body]).toBeUndefined();
    }
    const fresh = await guarded(browser);
    at(12);
    for (const call of Object.values(fresh)) expectProblem(await call(), 403, 'proof_required');
  });

  it('is not needed for anything else, nor for a call with the key itself', async () => {
    const browser = await signedIn(service.url, admin.key!);
    at(6);
    for (const path of ['/v1/events', '/v1/api-keys', '/v1/webhooks', '/v1/events?unmask=false']) {
      expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
    }
    expect((await browser.post('/v1/webhooks', webhook)).status).toBe(201);
    expect((await admin.get('/v1/events?unmask=true')).status).toBe(200);
    expect((await admin.post('/v1/api-keys', { name: 'new', scopes: ['events:read'] })).status).toBe(201);
  });

  it('is the key of the session: no other one, also of the same workspace', async () => {
    const browser = await signedIn(service.url, admin.key!);
    const stranger = await aWorkspace(service);
    at(6);
    const { key } = await workspace.client({});
    for (const wrong of [key, stranger.admin.key, 'nonsense', randomUUID()]) {
      expectProblem(await browser.post('/session:prove', { key: wrong }), 403, 'proof_required');
    }
    expectProblem(await browser.get('/v1/events?unmask=true'), 403, 'proof_required');
    expectProblem(await new Browser(service.url).post('/session:prove', { key: admin.key }), 401, 'unauthenticated');
  });

  it('does not go beyond the scopes of the key', async () => {
    const { key } = await workspace.client({ scopes: ['events:read'] });
    const browser = await signedIn(service.url, key!);
    at(6);
    expectProblem(await browser.get('/v1/events?unmask=true'), 403, 'insufficient_scope');
  });
});

describe('CONSOLE=off', () => {
  it.each([
    ['GET', '/console'],
    ['GET', '/console/review'],
    ['GET', '/console/api/session'],
    ['POST', '/console/api/session'],
    ['GET', '/console/api/sign-in-methods'],
    ['GET', '/console/api/v1/events'],
  ])('removes %s %s', async (method, path) => {
    const browser = await signedIn(service.url, admin.key!);
    const headers = { ...FROM_CONSOLE, cookie: browser.cookie! };
    const body = method === 'POST' ? JSON.stringify({ key: admin.key }) : undefined;
    expectProblem(await new Client(other.url, undefined).send(path, body, { method, headers }), 404, 'not_found');
  });
});
