import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent, registerTypes } from '../support/builders';
import { aCampaign, mutate, set } from '../support/runtime';
import { aWorkspace, Client, expectProblem, reviewEntries, type Answer, type Workspace } from '../support/client';
import { beginReplay, replayOnce, sendTooEarly } from '../support/review';

const EVENTS_PER_SECOND = 5;
const PATH = '/v1/external-events';
const batchOf = (count: number): string =>
  JSON.stringify({ items: Array.from({ length: count }, () => anExternalEvent()) });

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort();
const limitOf = ({ headers }: Answer): (string | null)[] =>
  ['ratelimit-policy', 'ratelimit'].map((name) => headers.get(name));

/** A unit comes back after so long. */
const UNIT_MS = 1_000 / EVENTS_PER_SECOND;
const TRIES_MAX = 20;

/** The answer to a call that takes less time than a unit does to come back; a slow machine needs several calls for that. */
async function withinAUnit(aClient: () => Promise<Client>, call: (by: Client) => Promise<Answer>): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const client = await aClient();
    const beganMs = performance.now();
    const answer = await call(client);
    if (performance.now() - beganMs < UNIT_MS || attempt === TRIES_MAX) return answer;
  }
}

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

  it('counts each 16 KiB of a body as an event, inflated, also of one that is refused', async () => {
    const kibibytes = (count: number): string => ' '.repeat(count * 1024);
    const event = (): string => JSON.stringify(anExternalEvent());
    const gzip = { headers: { 'content-encoding': 'gzip' } };
    const rows: [string, number, (client: Client) => Promise<Answer>][] = [
      ['a small event', 202, (client) => client.send(PATH, event())],
      ['48 KiB', 202, (client) => client.send(PATH, event().padEnd(48 * 1024))],
      ['48 KiB in gzip', 202, (client) => client.send(PATH, gzipSync(event().padEnd(48 * 1024)), gzip)],
      ['48 KiB that are no JSON', 400, (client) => client.send(PATH, `x${kibibytes(47)}`)],
      ['48 KiB that are no gzip', 400, (client) => client.send(PATH, kibibytes(48), gzip)],
      ['48 KiB that nest too deep', 400, (client) => client.send(PATH, '['.repeat(48 * 1024))],
      ['a batch of 3 in 64 KiB', 200, (client) => client.send(`${PATH}:batch`, batchOf(3).padEnd(64 * 1024))],
      ['a batch of 4 in 48 KiB', 200, (client) => client.send(`${PATH}:batch`, batchOf(4).padEnd(48 * 1024))],
      ['too much', 413, (client) => client.send(PATH, kibibytes(257))],
      ['too much in chunks', 413, (client) => client.sendChunked(PATH, [kibibytes(200), kibibytes(57)])],
      ['too much in gzip', 413, (client) => client.send(PATH, gzipSync(kibibytes(300)), gzip)],
    ];
    const left: Record<string, unknown> = {};
    for (const [what, status, call] of rows) {
      const answer = await withinAUnit(() => workspace.client({}), call);
      expect([what, answer.status]).toEqual([what, status]);
      left[what] = limitOf(answer)[1];
    }
    const twoLeft = '"events";r=2;t=1';
    const oneLeft = '"events";r=1;t=1';
    const inDebt = '"events";r=0;t=4';
    expect(left).toEqual({
      'a small event': '"events";r=4;t=1',
      '48 KiB': twoLeft,
      '48 KiB in gzip': twoLeft,
      '48 KiB that are no JSON': twoLeft,
      '48 KiB that are no gzip': twoLeft,
      '48 KiB that nest too deep': twoLeft,
      'a batch of 3 in 64 KiB': oneLeft,
      'a batch of 4 in 48 KiB': oneLeft,
      // 256 KiB are sixteen units, at five a second.
      'too much': inDebt,
      'too much in chunks': inDebt,
      'too much in gzip': inDebt,
    });
  });

  it('counts a replay from the review area as an event', async () => {
    const client = await workspace.client({});
    await workspace.admin.post('/v1/external-events', anExternalEvent({ identity: {} }));
    const [entry] = await reviewEntries(workspace.admin);
    const replay = () => client.send(`/v1/review-entries/${entry.id}:replay`, undefined);
    const first = await replay();
    expect(first.status).toBe(200);
    expect(limitOf(first)[0]).toBe(`"events";q=${EVENTS_PER_SECOND};w=1`);
    const items = Array.from({ length: 100 }, () => anExternalEvent());
    await client.post('/v1/external-events:batch', { items });
    expectProblem(await replay(), 429, 'rate_limited');
    expect((await reviewEntries(workspace.admin)).find(({ id }) => id === entry.id)?.occurrences).toBe(2);
  });

  it('paces a replay of many by the limit of who asked for it, and refuses none of it', async () => {
    const count = 4 * EVENTS_PER_SECOND;
    const sender = await workspace.client({});
    const client = await workspace.client({});
    await sendTooEarly(sender, count);
    await registerTypes(workspace.admin);
    const startedAt = performance.now();
    const jobId = await beginReplay(client, {});
    const replay = await replayOnce(() => client, jobId);
    expect(replay).toMatchObject({ state: 'done', total: count, accepted: count, failed: 0 });
    // One quota may be spent at once; each further one takes a second.
    expect(performance.now() - startedAt).toBeGreaterThan((count / EVENTS_PER_SECOND - 1) * 1_000);
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

describe('with RATE_LIMIT_READS_PER_SECOND', () => {
  const READS_PER_SECOND = 5;
  let service: TestApp;
  let workspace: Workspace;

  beforeAll(async () => {
    service = await startApp({ RATE_LIMIT_READS_PER_SECOND: String(READS_PER_SECOND) });
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    workspace = await aWorkspace(service);
  });

  it('takes so many reads of a key at once, and refuses the others with what they need to wait', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => workspace.admin.get('/v1/review-entries')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(READS_PER_SECOND);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expectProblem(answer, 429, 'rate_limited');
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(limitOf(answer)).toEqual([`"reads";q=${READS_PER_SECOND};w=1`, '"reads";r=0;t=1']);
    }
    // Nobody else has spent anything, and nothing else is limited.
    const other = await workspace.client({});
    expect(limitOf(await other.get('/v1/review-entries'))).toEqual([
      `"reads";q=${READS_PER_SECOND};w=1`,
      `"reads";r=${READS_PER_SECOND - 1};t=1`,
    ]);
    const sent = await workspace.admin.post('/v1/external-events', anExternalEvent());
    expect([sent.status, ...limitOf(sent)]).toEqual([202, null, null]);
  });

  it('counts what is read by POST, and dry runs by their events', async () => {
    const paths = ['/v1/cdp/profiles:lookup', '/v1/cdp/event-types:check', `/v1/cdp/profiles/${randomUUID()}:export`];
    for (const path of paths) {
      const client = await workspace.client({});
      expect(limitOf(await client.post(path, {}))[1]).toBe(`"reads";r=${READS_PER_SECOND - 1};t=1`);
    }
    const client = await workspace.client({});
    const items = Array.from({ length: 50 }, () => anExternalEvent());
    const run = await client.post('/v1/external-events:batch?dry_run=true', { items });
    expect([run.status, limitOf(run)[1]]).toEqual([200, '"reads";r=0;t=10']);
    expect((await client.get('/v1/events')).status).toBe(429);
    expect((await client.post('/v1/external-events?dry_run=true', anExternalEvent())).status).toBe(429);
  });

  it('counts each 64 KiB of an answer, and makes whoever reads much wait', async () => {
    for (let batch = 0; batch < 10; batch += 1) {
      const attributes = { note: 'lorem ipsum '.repeat(5_000) };
      expect((await workspace.admin.post('/v1/external-events', anExternalEvent({ attributes }))).status).toBe(202);
    }
    const client = await workspace.client({});
    const answer = await client.get('/v1/events');
    expect(answer.status).toBe(200);
    // Ten events of 60 kB are ten units of 64 KiB.
    expect(limitOf(answer)[1]).toBe('"reads";r=0;t=2');
    const refused = await client.get('/v1/events');
    expectProblem(refused, 429, 'rate_limited');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });

  it('counts an export by what it hands out', async () => {
    const [profile] = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const identity = { type: 'EXTERNAL', value: 'somebody' };
        const attributes = { note: 'lorem ipsum '.repeat(5_000) };
        const sent = await workspace.admin.post('/v1/external-events', anExternalEvent({ identity, attributes }));
        expect(sent.status).toBe(202);
        return (await (await workspace.client({})).get(`/v1/events/${sent.body.event_id}`)).body.profileId;
      }),
    );
    const client = await workspace.client({});
    expect((await client.send(`/v1/cdp/profiles/${profile}:export`, undefined)).status).toBe(200);
    const refused = await client.get('/v1/events');
    expectProblem(refused, 429, 'rate_limited');
  });

  it('holds beside that of events for a dry run, and both are told', async () => {
    const both = await startApp({ RATE_LIMIT_READS_PER_SECOND: '5', RATE_LIMIT_EVENTS_PER_SECOND: '7' });
    try {
      const { admin } = await aWorkspace(both);
      const run = await admin.post('/v1/external-events?dry_run=true', anExternalEvent());
      expect(limitOf(run)).toEqual(['"events";q=7;w=1, "reads";q=5;w=1', '"events";r=6;t=1, "reads";r=4;t=1']);
      expect(limitOf(await admin.post('/v1/external-events', anExternalEvent()))[0]).toBe('"events";q=7;w=1');
      expect(limitOf(await admin.get('/v1/events'))[0]).toBe('"reads";q=5;w=1');
    } finally {
      await both.stop();
    }
  });
});

describe('with RATE_LIMIT_RUNTIME_PER_SECOND', () => {
  it('counts each 16 KiB of a body as a request', async () => {
    const service = await startApp({ RATE_LIMIT_RUNTIME_PER_SECOND: '5' });
    try {
      const campaign = await aCampaign(service);
      await campaign.define('state.user.note', 'string');
      const ops = [set('state.user.note', 'x')];
      const leftOf = async (user: string, call: (client: Client) => Promise<Answer>): Promise<unknown[]> => {
        const answer = await call(campaign.participant({ sub: user }));
        return [answer.status, limitOf(answer)[1]];
      };
      const padded = (bytes: number) => (client: Client) =>
        client.send('/v1/runtime/state:mutate', JSON.stringify({ ops }).padEnd(bytes));
      expect(await leftOf('ann', (client) => mutate(client, ops))).toEqual([200, '"runtime";r=4;t=1']);
      expect(await leftOf('bob', padded(48 * 1024))).toEqual([200, '"runtime";r=2;t=1']);
      expect(await leftOf('cid', (client) => client.send('/v1/runtime/state:mutate', '['.repeat(48 * 1024)))).toEqual([
        ...[400, '"runtime";r=2;t=1'],
      ]);
      expect(await leftOf('dan', padded(257 * 1024))).toEqual([413, '"runtime";r=0;t=4']);
      expect((await leftOf('dan', (client) => mutate(client, ops)))[0]).toBe(429);
    } finally {
      await service.stop();
    }
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

  it('counts an address once, whatever port the proxy puts behind it', async () => {
    const guesses = Array.from({ length: PER_MINUTE }, (_unused, n) => call('guess', `203.0.113.5:${50_000 + n}`));
    expect(new Set(statuses(await Promise.all(guesses)))).toEqual(new Set([401]));
    expect((await call('guess', '203.0.113.5:60000')).status).toBe(429);
    expect((await call('guess', '203.0.113.5')).status).toBe(429);
  });

  it.each([
    ['203.0.113.6:50000', '203.0.113.6'],
    ['[2001:db8::6]:50000', '2001:db8::6'],
    ['[2001:db8::6]', '2001:db8::6'],
    ['2001:db8::6', '2001:db8::6'],
  ])('a change by a client that the proxy calls %s is noted with the address alone', async (forwarded, address) => {
    const { admin } = await aWorkspace(service);
    const { body: made } = await admin.send('/v1/api-keys', JSON.stringify({ name: 'till', scopes: ['events:read'] }), {
      headers: { 'x-forwarded-for': forwarded },
    });
    const { body: audit } = await admin.get(`/v1/api-keys/${made.apiKey.id}/audit`);
    expect(audit.items).toMatchObject([{ action: 'created', address }]);
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
