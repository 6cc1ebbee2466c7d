import { startApp, type TestApp } from '../support/app';
import type { Client } from '../support/client';
import { aCampaign, inc, type Campaign } from '../support/runtime';

const ORIGIN = 'https://shop.example.com';

let service: TestApp;
let campaign: Campaign;
let participant: Client;

beforeAll(async () => {
  service = await startApp({ RATE_LIMIT_RUNTIME_PER_SECOND: '1000' });
  campaign = await aCampaign(service);
  participant = campaign.participant();
  await campaign.define('state.user.points', 'number');
});
afterAll(() => service.stop());

const RUNTIME_ROUTES = (campaignId: string): string[] =>
  ['/v1/runtime', `/v1/campaigns/${campaignId}/runtime`].flatMap((mount) =>
    ['/state', '/state:mutate', '/state%3Amutate'].map((route) => mount + route),
  );

const OTHER_ROUTES = [
  ...['/v1/external-events', '/v1/external-events:batch', '/v1/cdp/events', '/v1/cdp/events/batch', '/v1/events'],
  ...['/v1/api-keys', '/v1/jwt-issuers', '/v1/campaigns/c/variables', '/v1/campaigns/c/variables:define'],
  ...['/v1/campaigns/c/variables%3Adefine', '/v1/campaigns/c/participants/ann/state', '/v1/review-entries'],
];

const preflight = (path: string, origin = ORIGIN, method = 'POST', url = service.url): Promise<Response> =>
  fetch(url + path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,idempotency-key,x-workspace',
    },
  });
const corsHeaders = ({ headers }: { readonly headers: Headers }): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('access-control-'));
const list = (headers: Headers, name: string): string[] =>
  (headers.get(name) ?? '').split(',').map((entry) => entry.trim().toLowerCase());

describe('a browser', () => {
  it('may call the runtime routes from any origin, with a token and no cookies', async () => {
    for (const path of RUNTIME_ROUTES(campaign.campaignId)) {
      const { status, headers } = await preflight(path);
      expect([path, status, headers.get('access-control-allow-origin')]).toEqual([path, 204, '*']);
      expect(list(headers, 'access-control-allow-methods')).toEqual(expect.arrayContaining(['get', 'post']));
      expect(list(headers, 'access-control-allow-headers')).toEqual(
        expect.arrayContaining(['authorization', 'content-type', 'idempotency-key', 'x-workspace']),
      );
      expect(headers.has('access-control-allow-credentials')).toBe(false);
      expect(Number(headers.get('access-control-max-age'))).toBeGreaterThan(0);
    }
  });

  it('gets no answer to a preflight of any other route, so that no API key is ever used in it', async () => {
    for (const path of OTHER_ROUTES) {
      const response = await preflight(path);
      expect([path, response.status, corsHeaders(response)]).toEqual([path, 405, []]);
    }
    const nowhere = await preflight('/v1/runtimes/state');
    expect([nowhere.status, corsHeaders(nowhere)]).toEqual([404, []]);
    const event = await campaign.workspace.admin.send('/v1/external-events', '{}', { headers: { origin: ORIGIN } });
    expect([event.status, corsHeaders(event)]).toEqual([422, []]);
  });

  it('can read every answer of the runtime routes, errors too, and the headers that matter', async () => {
    const mutate = '/v1/runtime/state:mutate';
    const json = { 'content-type': 'application/json', origin: ORIGIN };
    const authorization = `Bearer ${participant.key}`;
    const good = JSON.stringify({ ops: [inc('state.user.points')] });
    const calls: [number, string, RequestInit][] = [
      [200, mutate, { method: 'POST', body: good, headers: { ...json, authorization } }],
      [200, '/v1/runtime/state', { headers: { origin: ORIGIN, authorization } }],
      [401, '/v1/runtime/state', { headers: { origin: ORIGIN } }],
      [401, mutate, { method: 'POST', body: '{', headers: json }],
      [400, mutate, { method: 'POST', body: '{', headers: { ...json, authorization } }],
      [403, '/v1/campaigns/other/runtime/state', { headers: { origin: ORIGIN, authorization } }],
      [405, mutate, { method: 'PUT', headers: { origin: ORIGIN } }],
      [413, mutate, { method: 'POST', body: ' '.repeat(300_000), headers: { ...json, authorization } }],
      [415, mutate, { method: 'POST', body: good, headers: { origin: ORIGIN, authorization } }],
      [422, mutate, { method: 'POST', body: '{"ops":[]}', headers: { ...json, authorization } }],
    ];
    for (const [status, path, call] of calls) {
      const response = await fetch(service.url + path, call);
      expect([path, response.status, response.headers.get('access-control-allow-origin')]).toEqual([path, status, '*']);
      expect(list(response.headers, 'access-control-expose-headers')).toEqual(
        expect.arrayContaining(['x-request-id', 'mutation-payload-mismatch', 'retry-after', 'ratelimit']),
      );
    }
  });

  it('is let in from the origins of CORS_ORIGINS only', async () => {
    const strict = await startApp({ CORS_ORIGINS: `${ORIGIN},https://app.example.com` });
    try {
      const allowed = async (origin: string): Promise<(string | null)[]> => {
        const { headers } = await preflight('/v1/runtime/state', origin, 'GET', strict.url);
        return [headers.get('access-control-allow-origin'), headers.get('vary')];
      };
      expect(await allowed(ORIGIN)).toEqual([ORIGIN, expect.stringMatching(/origin/i)]);
      expect(await allowed('https://app.example.com')).toEqual(['https://app.example.com', expect.anything()]);
      for (const other of [
        'https://evil.example',
        'https://shop.example.com.evil.example',
        'http://shop.example.com',
        'null',
      ]) {
        expect(await allowed(other)).toEqual([null, expect.stringMatching(/origin/i)]);
      }
    } finally {
      await strict.stop();
    }
  });
});

describe('the two mounts of the runtime', () => {
  it('take the colon however it is written, and nothing in its place', async () => {
    for (const mount of ['/v1/runtime', `/v1/campaigns/${campaign.campaignId}/runtime`]) {
      const at = async (end: string): Promise<number> =>
        (await participant.post(mount + end, { ops: [inc('state.user.points')] })).status;
      expect([await at('/state:mutate'), await at('/state%3Amutate'), await at('/state%3amutate')]).toEqual([
        200, 200, 200,
      ]);
      const wrong = ['/stateXmutate', '/state:mutated', '/state/mutate', '/state:', '/mutate'];
      expect(await Promise.all(wrong.map(at))).toEqual(wrong.map(() => 404));
      const others = [await participant.post(`${mount}/state`, {}), await participant.get(`${mount}/state:mutate`)];
      expect(others.map(({ status, headers }) => [status, headers.get('allow')])).toEqual([
        [405, 'GET, HEAD'],
        [405, 'POST'],
      ]);
    }
  });

  it('take a JWT only, and say so to an API key', async () => {
    for (const path of RUNTIME_ROUTES(campaign.campaignId)) {
      const { admin } = campaign.workspace;
      const answer = path.endsWith('/state') ? await admin.get(path) : await admin.post(path, {});
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Bearer/)]);
      expect(answer.body.message).toMatch(/JWT/);
    }
  });
});

describe('RATE_LIMIT_RUNTIME_PER_SECOND', () => {
  it('holds for each participant: a new token of the same one does not start anew', async () => {
    const limited = await startApp({ RATE_LIMIT_RUNTIME_PER_SECOND: '3' });
    try {
      const slow = await aCampaign(limited);
      const call = async (sub: string, path: string): Promise<string> => {
        const { status, headers } = await slow.participant({ sub, jti: Math.random() }).get(path);
        return `${status} ${headers.get('ratelimit-policy')} ${headers.get('retry-after')}`;
      };
      const paths = ['/v1/runtime/state', `/v1/campaigns/${slow.campaignId}/runtime/state`];
      const answers = await Promise.all(Array.from({ length: 30 }, (_unused, n) => call('ann', paths[n % 2] ?? '')));
      const refused = answers.filter((answer) => answer === '429 "runtime";q=3;w=1 1');
      const taken = answers.filter((answer) => answer === '200 "runtime";q=3;w=1 null');
      expect(refused.length + taken.length).toBe(30);
      expect(taken.length).toBeGreaterThanOrEqual(3);
      expect(refused.length).toBeGreaterThanOrEqual(10);
      expect(await call('bob', paths[0] ?? '')).toMatch(/^200/);
    } finally {
      await limited.stop();
    }
  });
});
