import { setTimeout as wait } from 'node:timers/promises';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, Client, expectProblem, type Answer, type Workspace } from '../support/client';

const EVENTS_PER_SECOND = 5;

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort();
const limitOf = ({ headers }: Answer): (string | null)[] =>
  ['ratelimit-policy', 'ratelimit'].map((name) => headers.get(name));

describe('with RATE_LIMIT_EVENTS_PER_SECOND', () => {
  let service: TestApp;
  let workspace: Workspace;

  beforeAll(async () => {
    service = await startApp({ RATE_LIMIT_EVENTS_PER_SECOND: String(EVENTS_PER_SECOND) });
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    workspace = await aWorkspace(service);
  });

  const send = (client: Client, route = '/v1/external-events'): Promise<Answer> =>
    client.post(route, anExternalEvent());

  /** A debt that no slow machine pays off while a test runs. */
  const intoDebt = (): Promise<Answer> =>
    workspace.admin.post('/v1/external-events:batch', { items: Array.from({ length: 100 }, () => anExternalEvent()) });

  it('takes so many events at once, refuses the others with what they need to wait, and takes those again later', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(workspace.admin)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 202).length).toBeGreaterThanOrEqual(EVENTS_PER_SECOND);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expectProblem(answer, 429, 'rate_limited');
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(limitOf(answer)).toEqual([`"events";q=${EVENTS_PER_SECOND};w=1`, '"events";r=0;t=1']);
    }
    await wait(Number(refused[0]?.headers.get('retry-after')) * 1000);
    expect((await send(workspace.admin)).status).toBe(202);
  });

  it('tells in every answer what is left', async () => {
    const answer = await send(workspace.admin);
    expect(limitOf(answer)).toEqual([`"events";q=${EVENTS_PER_SECOND};w=1`, '"events";r=4;t=1']);
  });

  it('counts each event of a batch, takes one that is larger than the limit, and makes its sender wait', async () => {
    const items = Array.from({ length: 50 }, () => anExternalEvent());
    const batch = await workspace.admin.post('/v1/external-events:batch', { items });
    expect([batch.status, batch.body.results.length]).toEqual([200, 50]);
    expect(limitOf(batch)[1]).toBe('"events";r=0;t=10');
    const refused = await send(workspace.admin);
    expectProblem(refused, 429, 'rate_limited');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(9);
  });

  it('counts both families together, and each credential by itself', async () => {
    const other = await workspace.client({});
    await intoDebt();
    expect((await workspace.admin.post('/v1/cdp/events', {})).status).toBe(429);
    expect((await send(other)).status).toBe(202);
  });

  it('refuses before a body is read, and leaves nothing in the review area', async () => {
    await intoDebt();
    const refused = await workspace.admin.send('/v1/external-events', 'no JSON', {
      headers: { 'content-type': 'text/plain' },
    });
    expectProblem(refused, 429, 'rate_limited');
    expect((await workspace.admin.get('/v1/review-entries')).body.items).toEqual([]);
  });

  it('does not hold for reading', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => workspace.admin.get('/v1/events')));
    expect(new Set(statuses(answers))).toEqual(new Set([200]));
    expect(limitOf(answers[0]!)).toEqual([null, null]);
  });
});

describe('without a limit', () => {
  it('takes what comes, and says nothing about limits', async () => {
    const service = await startApp();
    try {
      const { admin } = await aWorkspace(service);
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => admin.post('/v1/external-events', anExternalEvent())),
      );
      expect(new Set(statuses(answers))).toEqual(new Set([202]));
      expect(limitOf(answers[0]!)).toEqual([null, null]);
    } finally {
      await service.stop();
    }
  });
});

describe('AUTH_FAILURES_PER_MINUTE', () => {
  const PER_MINUTE = 20;
  let service: TestApp;

  beforeAll(async () => {
    service = await startApp({ AUTH_FAILURES_PER_MINUTE: String(PER_MINUTE), TRUST_PROXY: '1' });
  });
  afterAll(() => service.stop());

  const call = (key: string | undefined, address: string): Promise<Answer> =>
    new Client(service.url, key).send('/v1/events', undefined, {
      method: 'GET',
      headers: { 'x-forwarded-for': address },
    });

  it('is how many refused credentials of an address are answered 401; further ones get 429, good ones go on', async () => {
    const { admin } = await aWorkspace(service);
    const guesses = await Promise.all(Array.from({ length: 30 }, (_unused, n) => call(`guess-${n}`, '203.0.113.1')));
    expect(statuses(guesses)).toEqual([...Array(PER_MINUTE).fill(401), ...Array(30 - PER_MINUTE).fill(429)]);
    const refused = guesses.find(({ status }) => status === 429)!;
    expectProblem(refused, 429, 'rate_limited');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    // 60 s in 20 parts.
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3);
    expect((await call(admin.key, '203.0.113.1')).status).toBe(200);
    expect((await call('guess', '203.0.113.2')).status).toBe(401);
  });

  it('counts a network of IPv6 as one address, and an IPv4 address by whatever name', async () => {
    const networks = Array.from({ length: PER_MINUTE }, (_unused, n) => call('guess', `2001:db8::${n + 1}`));
    expect(new Set(statuses(await Promise.all(networks)))).toEqual(new Set([401]));
    expect((await call('guess', '2001:db8::ffff:ffff')).status).toBe(429);
    expect((await call('guess', '2001:db8:0:1::1')).status).toBe(401);
    await Promise.all(Array.from({ length: PER_MINUTE }, () => call('guess', '203.0.113.3')));
    expect((await call('guess', '::ffff:203.0.113.3')).status).toBe(429);
  });

  it('does not count whoever sends no credential, or one that lacks a scope', async () => {
    const workspace = await aWorkspace(service);
    const weak = await workspace.client({ scopes: ['review:read'] });
    const address = '203.0.113.4';
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_unused, n) => call(n % 2 === 0 ? undefined : weak.key, address)),
    );
    expect(statuses(answers)).toEqual([...Array(15).fill(401), ...Array(15).fill(403)]);
    expect((await call('guess', address)).status).toBe(401);
  });
});

describe('without TRUST_PROXY', () => {
  it('no client can choose the address that its failures count for', async () => {
    const service = await startApp({ AUTH_FAILURES_PER_MINUTE: '5' });
    try {
      const guess = (n: number): Promise<Answer> =>
        new Client(service.url, 'guess').send('/v1/events', undefined, {
          method: 'GET',
          headers: { 'x-forwarded-for': `203.0.113.${n}`, forwarded: `for=203.0.113.${n}` },
        });
      const answers = await Promise.all(Array.from({ length: 10 }, (_unused, n) => guess(n)));
      expect(statuses(answers)).toEqual([...Array(5).fill(401), ...Array(5).fill(429)]);
    } finally {
      await service.stop();
    }
  });
});
