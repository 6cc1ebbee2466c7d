import { CampaignDataError, createClient, type FailedAttempt } from '../../clients/typescript/src/client';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aClient, type Client } from '../support/client';
import { startUnreliableLine, type Mishap, type UnreliableLine } from '../support/unreliable-line';

let service: SharedApp;
let line: UnreliableLine;
let admin: Client;

beforeAll(async () => {
  service = await sharedApp();
});

beforeEach(async () => {
  line = await startUnreliableLine(service.url);
  admin = await aClient(service);
});

afterEach(() => line.close());

const UNAVAILABLE: Mishap = { status: 503, body: { error_code: 'unavailable', message: 'Not now.' } };
const VARIABLE = { scope: 'user', name: 'points', type: 'number' };
const VARIABLES = '/v1/campaigns/spring/variables';

const client = (retry: object = {}) =>
  createClient({ baseUrl: line.url, apiKey: admin.key!, retry: { pauseMsMin: 5, pauseMsMax: 20, ...retry } });

describe('get and post', () => {
  it('reach other routes, through failures that pass', async () => {
    line.next(UNAVAILABLE, 'answer lost');
    expect(await client().post(`${VARIABLES}:define`, VARIABLE)).toMatchObject({ status: 'defined' });
    line.next('half an answer');
    const { variables } = await client().get<{ readonly variables: readonly object[] }>(VARIABLES);
    expect(variables).toMatchObject([VARIABLE]);
  });

  it('send text as it is', async () => {
    await client().post(`${VARIABLES}:define`, `{"scope":"user", "name":"points", "type":"number", "default":1.50}`);
    expect(await client().get(VARIABLES)).toMatchObject({ variables: [{ name: 'points', default: 1.5 }] });
  });

  it('give a list where a route answers with lines, and ask once', async () => {
    const identity = { type: 'EMAIL', value: 'jane@example.com' };
    await client().post('/v1/external-events', anExternalEvent({ identity }));
    const records = await client().post<{ readonly record: string }[]>('/v1/cdp/profiles:export', identity);
    expect(records.map(({ record }) => record)).toEqual(expect.arrayContaining(['profile', 'event']));
    expect(line.sent).toHaveLength(2);
  });

  it('follow no redirect and do not repeat the request', async () => {
    line.next({ status: 307, headers: { location: '/v1/events' } });
    await expect(client().get(VARIABLES)).rejects.toMatchObject({ status: 307, errorCode: 'unexpected_answer' });
    expect(line.sent).toHaveLength(1);
  });
});

describe('a path', () => {
  it.each(['v1/events', '@example.com/v1/events', '.example.com/v1', ':80/v1', ''])(
    'is an error of the program unless it begins with a slash (%j), and the credential goes nowhere',
    async (path) => {
      const asked: unknown[] = [];
      const apiKey = (): string => {
        asked.push(path);
        return admin.key!;
      };
      const { get, post } = createClient({ baseUrl: line.url, apiKey });
      for (const call of [get(path), post(path, {})]) await expect(call).rejects.toThrow(TypeError);
      expect([asked, line.sent]).toEqual([[], []]);
    },
  );
});

describe('an option of retry that is undefined', () => {
  it('has its default', async () => {
    const names = ['attemptsMax', 'totalMsMax', 'attemptMsMax', 'pauseMsMin', 'pauseMsMax', 'shouldRetry'];
    const retry = Object.fromEntries(names.map((name) => [name, undefined]));
    line.next(UNAVAILABLE);
    const { get } = createClient({ baseUrl: line.url, apiKey: admin.key!, retry });
    expect(await get(VARIABLES)).toEqual({ variables: [] });
    expect(line.sent).toHaveLength(2);
  });
});

describe('a bound that no timer can hold', () => {
  it.each([Number.POSITIVE_INFINITY, 2 ** 31])('of %s milliseconds ends no attempt', async (ms) => {
    line.next(UNAVAILABLE);
    expect(await client({ attemptMsMax: ms, totalMsMax: ms }).get(VARIABLES)).toEqual({ variables: [] });
    expect(line.sent).toHaveLength(2);
  });

  it('asked for by Retry-After, is no reason to send at once', async () => {
    line.next({ ...UNAVAILABLE, headers: { 'retry-after': '2147484' } });
    const reading = client({ totalMsMax: Number.POSITIVE_INFINITY }).get(VARIABLES, {
      retrySignal: AbortSignal.timeout(200),
    });
    await expect(reading).rejects.toThrow('timeout');
    expect(line.sent).toHaveLength(1);
  });
});

describe('a function that gives the credential', () => {
  it.each([undefined, null, 7, ''])(
    'is an error of the program when it returns %j, and nothing is sent',
    async (given) => {
      const apiKey = () => given as string;
      await expect(createClient({ baseUrl: line.url, apiKey }).get(VARIABLES)).rejects.toThrow(TypeError);
      expect(line.sent).toEqual([]);
    },
  );
});

describe('a function that gives the credential and never answers', () => {
  const silent = (retry: object) =>
    createClient({ baseUrl: line.url, apiKey: () => new Promise<string>(() => undefined), retry });

  it('does not keep a call beyond its time', async () => {
    const call = silent({ totalMsMax: 100 }).get(VARIABLES);
    await expect(call).rejects.toMatchObject({ status: 0, errorCode: 'timeout' });
    expect(line.sent).toEqual([]);
  });

  it('does not keep a call that is aborted, which ends with the reason of its signal', async () => {
    const abort = new AbortController();
    const call = silent({}).get(VARIABLES, { signal: abort.signal });
    abort.abort(new Error('The page was left.'));
    await expect(call).rejects.toThrow('The page was left.');
  });
});

describe('retry.shouldRetry', () => {
  it('gets each failed attempt, and ends the call', async () => {
    const failed: FailedAttempt[] = [];
    const shouldRetry = (attempt: FailedAttempt): boolean => failed.push(attempt) < 3;
    line.next(UNAVAILABLE, UNAVAILABLE, UNAVAILABLE, UNAVAILABLE);
    await expect(client({ shouldRetry }).get(VARIABLES)).rejects.toThrow('Not now.');
    expect(line.sent).toHaveLength(3);
    expect(failed.map(({ attempts }) => attempts)).toEqual([1, 2, 3]);
    expect(failed[0]).toMatchObject({ error: { status: 503 }, failingMs: 0, waitMs: expect.any(Number) });
    expect(failed[0]?.error).toBeInstanceOf(CampaignDataError);
  });
});

describe('pauses of no time', () => {
  it.each([{ pauseMsMin: 0 }, { pauseMsMax: 0 }])('are kept, and the request is repeated: %j', async (pauses) => {
    line.next(UNAVAILABLE, UNAVAILABLE);
    expect(await client(pauses).get(VARIABLES)).toEqual({ variables: [] });
    expect(line.sent).toHaveLength(3);
  });
});

describe('retrySignal', () => {
  it('ends a pause at once, with its reason', async () => {
    line.next({ ...UNAVAILABLE, headers: { 'retry-after': '30' } });
    const stop = new AbortController();
    const reading = client().get(VARIABLES, { retrySignal: stop.signal });
    setTimeout(() => stop.abort(new Error('stopping')), 100);
    await expect(reading).rejects.toThrow('stopping');
  });

  it('lets a request under way complete', async () => {
    expect(await client().get(VARIABLES, { retrySignal: AbortSignal.abort() })).toEqual({ variables: [] });
  });
});

describe('events.batch', () => {
  it.each(['concurrency', 'itemsMax', 'bytesMax'])(
    'is an error of the program when %s is not a number, and does not pass for sent',
    async (option) => {
      const { events: sender } = client();
      const events = [anExternalEvent()] as never;
      const options = { [option]: Number.NaN };
      await expect(sender.batch(events, options)).rejects.toThrow(`${option} is not a number`);
      await expect(sender.stream(events, options).next()).rejects.toThrow(`${option} is not a number`);
      expect(line.sent).toEqual([]);
    },
  );

  it.each([[], [{}], [null], [{ status: 'ok' }], [{ status: 'accepted' }]])(
    'refuses an answer that does not have one result for each event (%j)',
    async (...results) => {
      line.next({ status: 200, body: { results } });
      const batch = client({ attemptsMax: 1 }).events.batch([anExternalEvent()] as never);
      await expect(batch).rejects.toMatchObject({ status: 200, errorCode: 'unexpected_answer' });
    },
  );
});
