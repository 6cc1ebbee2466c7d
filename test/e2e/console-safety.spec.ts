import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, Client, expectProblem, reviewEntries, type Answer, type Workspace } from '../support/client';
import { Browser, FROM_CONSOLE, signedIn } from '../support/console';
import { logFile } from '../support/log-watch';
import { growth, metricsOf } from '../support/metrics';
import { countLog, statisticsOf, sumOf } from '../support/statistics';
import { aTokenIssuer } from '../support/tokens';
import { until } from '../support/until';

/** What a browser with a session is protected from (contract section 10), and what its calls count as. */

let service: TestApp;
let host: string;
let workspace: Workspace;
let admin: Client;
let browser: Browser;

beforeAll(async () => {
  service = await startApp({ RATE_LIMIT_EVENTS_PER_SECOND: '20' });
  ({ host } = new URL(service.url));
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
  ({ admin } = workspace);
  browser = await signedIn(service.url, admin.key!);
});
afterAll(() => service.stop());

type Headers = Readonly<Record<string, string>>;

/** A request with the cookie of the session and these headers, as they are. */
function ask(method: string, path: string, headers: Headers, body?: string): Promise<Answer> {
  const type: Headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const all = { cookie: browser.cookie!, ...type, ...headers };
  return new Client(service.url, undefined).send(`/console/api${path}`, body, { method, headers: all });
}

const A_CHANGE = JSON.stringify({ url: 'https://hooks.example.com/x', events: [{ eventType: 'purchase' }] });
const change = (headers: Headers): Promise<Answer> => ask('POST', '/v1/webhooks', headers, A_CHANGE);
const MARKED = { 'x-cds-console': '1' };

describe('a request that changes something', () => {
  it('passes from a page of the console', async () => {
    expect((await change(FROM_CONSOLE)).status).toBe(201);
    // Browsers say so over HTTPS and to loopback addresses only.
    expect((await change({ ...MARKED, origin: `http://${host}` })).status).toBe(201);
  });

  const REFUSED: Readonly<Record<string, () => Headers>> = {
    'with nothing that shows where it comes from': () => MARKED,
    'by a page of another site': () => ({ ...MARKED, 'sec-fetch-site': 'cross-site' }),
    'by a page of a neighbouring host': () => ({ ...MARKED, 'sec-fetch-site': 'same-site' }),
    'by nobody': () => ({ ...MARKED, 'sec-fetch-site': 'none' }),
    'by something unknown': () => ({ ...MARKED, 'sec-fetch-site': 'same-origin, cross-site' }),
    'by another site that has the right Origin': () => ({
      ...MARKED,
      'sec-fetch-site': 'cross-site',
      origin: `http://${host}`,
    }),
    'with another Origin': () => ({ ...MARKED, origin: 'https://evil.example' }),
    'with the Origin of another port': () => ({ ...MARKED, origin: 'http://127.0.0.1:1' }),
    'with the Origin of a sandboxed page': () => ({ ...MARKED, origin: 'null' }),
    'with an Origin that is none': () => ({ ...MARKED, origin: host }),
    'without the header of the console': () => ({ 'sec-fetch-site': 'same-origin' }),
    'with another value of that header': () => ({ 'sec-fetch-site': 'same-origin', 'x-cds-console': 'background' }),
  };

  it.each(Object.entries(REFUSED))('is refused %s', async (_name, headers) => {
    for (const [method, path, body] of [
      ['POST', '/v1/webhooks', A_CHANGE],
      ['PUT', '/v1/retention', '{"eventDays":null}'],
      ['DELETE', `/v1/webhooks/${randomUUID()}`, undefined],
      ['POST', '/session', JSON.stringify({ key: admin.key })],
      ['POST', '/session:prove', JSON.stringify({ key: admin.key })],
      ['DELETE', '/session', undefined],
    ] as const) {
      expectProblem(await ask(method, path, headers(), body), 403, 'cross_site_request');
    }
    expect((await browser.get('/v1/webhooks')).body.items).toEqual([]);
  });

  it.each(['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'])(
    'is refused as a form post of %s, which any page may send',
    async (type) => {
      for (const origin of [{}, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
        const headers = { ...origin, 'content-type': type };
        expectProblem(await ask('POST', '/v1/webhooks', headers, A_CHANGE), 403, 'cross_site_request');
      }
    },
  );

  it('is refused with a whole URL as its target as well', async () => {
    const { hostname, port } = new URL(service.url);
    for (const [method, path] of [
      ['POST', '/console/api/session'],
      ['POST', '/console/api/session:prove'],
      ['DELETE', '/console/api/session'],
    ]) {
      const body = JSON.stringify({ key: admin.key });
      const lines = [
        ...[`${method} ${service.url}${path} HTTP/1.1`, `Host: ${host}`, `Cookie: ${browser.cookie}`],
        ...['Content-Type: application/json', `Content-Length: ${body.length}`, 'Sec-Fetch-Site: cross-site'],
      ];
      const socket = connect(Number(port), hostname);
      socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
      const [start] = await once(socket, 'data');
      socket.destroy();
      expect([method, path, String(start).split('\r\n', 1)[0]]).toEqual([method, path, 'HTTP/1.1 403 Forbidden']);
    }
    expect((await browser.get('/session')).status).toBe(200);
  });

  it('is refused before the session is looked at, and no preflight permits one', async () => {
    const stranger = new Client(service.url, undefined);
    const foreign = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } };
    expectProblem(await stranger.send('/console/api/v1/webhooks', A_CHANGE, foreign), 403, 'cross_site_request');
    const preflight = {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-cds-console',
    };
    for (const path of ['/v1/webhooks', '/v1/runtime/state', '/session']) {
      const answer = await ask('OPTIONS', path, preflight);
      expectProblem(answer, 403, 'cross_site_request');
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });
});

describe('a request that reads', () => {
  it.each([
    ['a page of the console', () => ({ 'sec-fetch-site': 'same-origin' }), 200],
    ['somebody who types the address', () => ({ 'sec-fetch-site': 'none' }), 200],
    ['a client that says nothing', () => ({}), 200],
    ['a page with the right Origin', () => ({ origin: `http://${host}` }), 200],
    ['a page of another site', () => ({ 'sec-fetch-site': 'cross-site' }), 403],
    ['a page of a neighbouring host', () => ({ 'sec-fetch-site': 'same-site' }), 403],
    ['a page with another Origin', () => ({ origin: 'https://evil.example' }), 403],
  ] as const)('from %s is answered %#', async (_name, headers, status) => {
    for (const path of ['/session', '/v1/events']) {
      const answer = await ask('GET', path, headers());
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
  });

  it('is no WebSocket: neither of another site, nor of the console', async () => {
    const handshake = async (origin: string): Promise<string> => {
      const { hostname, port } = new URL(service.url);
      const socket = connect(Number(port), hostname);
      const lines = [
        ...['GET /console/api/v1/events HTTP/1.1', `Host: ${host}`, `Cookie: ${browser.cookie}`, `Origin: ${origin}`],
        ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ];
      socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      const [start] = await once(socket, 'data');
      socket.destroy();
      return String(start).split('\r\n', 1)[0]!;
    };
    expect(await handshake('https://evil.example')).toBe('HTTP/1.1 403 Forbidden');
    expect(await handshake(`http://${host}`)).toBe('HTTP/1.1 200 OK');
  });
});

describe('the cookie', () => {
  it('counts below /console/api alone: /v1 never takes it', async () => {
    for (const headers of [{ cookie: browser.cookie! }, { cookie: browser.cookie!, ...FROM_CONSOLE }]) {
      for (const path of ['/v1/events', '/v1/api-keys', '/v1//console/api/v1/events']) {
        const answer = await new Client(service.url, undefined).send(path, undefined, { method: 'GET', headers });
        expect([path, answer.status]).toEqual([path, path.includes('//') ? 404 : 401]);
      }
    }
    const bearer = { authorization: `Bearer ${browser.cookie!.split('=')[1]}` };
    const asKey = await new Client(service.url, undefined).send('/v1/events', undefined, {
      method: 'GET',
      headers: bearer,
    });
    expectProblem(asKey, 401, 'invalid_api_key');
  });

  it('is all that counts below /console/api: no key, no token and no signature', async () => {
    const stranger = new Browser(service.url);
    const authorization = `Bearer ${admin.key}`;
    for (const path of ['/session', '/v1/events']) {
      const answer = await stranger.send(path, undefined, { method: 'GET', headers: { authorization } });
      expectProblem(answer, 401, 'unauthenticated');
    }
    // A key with fewer rights beside the session changes nothing, nor does a wrong one.
    const { key } = await workspace.client({ scopes: ['profiles:read'] });
    for (const beside of [`Bearer ${key}`, 'Bearer nonsense']) {
      const answer = await browser.send('/v1/events', undefined, { method: 'GET', headers: { authorization: beside } });
      expect(answer.status).toBe(200);
    }
    const token = `Bearer ${(await aTokenIssuer(admin)).token()}`;
    const asParticipant = await browser.send('/v1/runtime/state', undefined, {
      method: 'GET',
      headers: { authorization: token },
    });
    expectProblem(asParticipant, 401, 'unauthenticated');
  });

  it('does not count when there are two of them, since another host may have set one', async () => {
    const cookie = `${browser.cookie}; cds_console=${'A'.repeat(43)}`;
    expectProblem(await ask('GET', '/session', { cookie }), 401, 'unauthenticated');
    expectProblem(await ask('GET', '/session', { cookie: 'cds_console=short' }), 401, 'unauthenticated');
    expect((await ask('GET', '/session', { cookie: `theme=dark; ${browser.cookie}; a=b` })).status).toBe(200);
  });
});

describe('every answer below /console', () => {
  it.each(['/console', '/console/review', '/console/assets/none.js', '/console/api/session', '/console/api/v1/events'])(
    'has the headers that protect browsers: %s',
    async (path) => {
      const { headers } = await fetch(`${service.url}${path}`);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-security-policy':
          "default-src 'none';script-src 'self';style-src 'self';img-src 'self';font-src 'self';connect-src 'self';" +
          "manifest-src 'self';base-uri 'self';form-action 'self';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'x-frame-options': 'DENY',
      });
    },
  );

  it('is that of the same controllers: unknown paths, methods, ids and errors are as they are at /v1', async () => {
    const strip = ({ status, headers, body }: Answer): unknown => [
      ...[status, headers.get('allow'), headers.get('content-type')],
      { ...body, request_id: undefined },
    ];
    for (const [method, path, body] of [
      ['GET', '/v1/nothing', undefined],
      ['GET', '/v1', undefined],
      ['DELETE', '/v1/events', undefined],
      ['GET', `/v1/events/${randomUUID()}`, undefined],
      ['GET', '/v1/events?limit=0&typo=1', undefined],
      ['POST', '/v1/webhooks', '{'],
      ['POST', '/v1/webhooks', '{}'],
      ['GET', '/v1/review-entries%3Areplay', undefined],
    ] as const) {
      const answers = [await browser.send(path, body, { method }), await admin.send(path, body, { method })];
      expect([path, strip(answers[0]!)]).toEqual([path, strip(answers[1]!)]);
    }
    for (const path of ['/v1/../health/live', '/v1/%2e%2e/metrics', '/metrics', '/docs-json', '']) {
      expect([path, (await browser.get(path)).status]).toEqual([path, 404]);
    }
  });
});

describe('calls of the console', () => {
  it('are no traffic of sources: events that are sent from it are stored and shown, and counted apart', async () => {
    const before = await metricsOf(service.url);
    const event = anExternalEvent({ occurred_at: new Date().toISOString() });
    expect((await browser.post('/v1/external-events', event)).status).toBe(202);
    expect((await browser.post('/v1/external-events', event)).status).toBe(200);
    const wrong = anExternalEvent({ occurred_at: 'yesterday' });
    expect((await browser.post('/v1/external-events', wrong)).status).toBe(422);
    expect((await browser.send('/v1/external-events', '{')).status).toBe(400);
    expect((await browser.post('/v1/external-events:batch', { items: [event, wrong] })).status).toBe(200);
    expect((await browser.post('/v1/external-events?dry_run=true', event)).status).toBe(200);
    const after = await metricsOf(service.url);
    for (const name of ['cds_events_received_total', 'cds_events_total', 'cds_events_rejected_total']) {
      expect([name, growth(before, after, name)]).toEqual([name, {}]);
    }
    // Refusals are there to be corrected, and the log is the truth.
    expect(await reviewEntries(admin)).not.toEqual([]);
    await countLog(service);
    expect(sumOf(await statisticsOf(admin))).toMatchObject({ accepted: 1, duplicate: 0, refused: 0 });
    const requests = growth(before, after, 'cds_http_request_duration_seconds_count');
    expect(Object.keys(requests).filter((name) => name.includes('external-events'))).toEqual([
      expect.stringContaining('route="/console/api/v1/external-events",method="POST",status="2xx"'),
      expect.stringContaining('route="/console/api/v1/external-events",method="POST",status="4xx"'),
      expect.stringContaining('route="/console/api/v1/external-events:batch",method="POST",status="2xx"'),
    ]);
  });

  it('have a rate limit of their own beside that of the key', async () => {
    const items = Array.from({ length: 20 }, () => anExternalEvent());
    const statuses: number[] = [];
    await until(async () => {
      statuses.push((await admin.post('/v1/external-events:batch', { items })).status);
      return statuses.at(-1) === 429;
    });
    expect((await browser.post('/v1/external-events', anExternalEvent())).status).toBe(202);
  });

  it('are logged as calls of the console, with the workspace, and audited as those of the key', async () => {
    const { id } = (await admin.get('/v1/api-keys')).body.items[0];
    const made = await browser.post('/v1/api-keys', { name: 'made in the console', scopes: ['events:read'] });
    expect([made.status, made.body.apiKey.createdBy]).toEqual([201, id]);
    const { body } = await browser.get(`/v1/api-keys/${made.body.apiKey.id}/audit`);
    expect(body.items).toMatchObject([{ action: 'created', by: id }]);
    const requestId = made.headers.get('x-request-id');
    const lines = (): any[] =>
      readFileSync(logFile()!, 'utf8')
        .split('\n')
        .filter((line) => line.includes(requestId!))
        .map((line) => JSON.parse(line));
    await until(() => lines().length > 0);
    expect(lines()).toMatchObject([
      { route: '/console/api/v1/api-keys', method: 'POST', workspace: workspace.tenantId },
    ]);
  });
});

it('the ways to sign in are shown to anybody', async () => {
  const answer = await new Client(service.url, undefined).get('/console/api/sign-in-methods');
  expect([answer.status, answer.body]).toEqual([200, { key: true, oidc: false }]);
});

it('too many wrong keys and cookies from one address are answered 429, and sessions go on', async () => {
  const strict = await startApp({ AUTH_FAILURES_PER_MINUTE: '5' });
  try {
    const known = await signedIn(strict.url, (await aWorkspace(strict)).admin.key!);
    const stranger = new Browser(strict.url);
    const statuses: number[] = [];
    for (let tries = 0; tries < 7; tries += 1) {
      stranger.cookie = `cds_console=${randomUUID().replaceAll('-', '').padEnd(43, 'x')}`;
      statuses.push((await stranger.get('/session')).status, (await stranger.signIn(`wrong-${randomUUID()}`)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, ...Array.from({ length: 9 }, () => 429)]);
    expect((await known.get('/session')).status).toBe(200);
  } finally {
    await strict.stop();
  }
});
