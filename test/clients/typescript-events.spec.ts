import { randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { type BatchOptions, CampaignDataError, createClient } from '../../clients/typescript/src/client';
import { sharedApp, type SharedApp } from '../support/app';
import { registerTypes } from '../support/builders';
import { aClient, type Client } from '../support/client';
import { until } from '../support/until';
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

const QUICK = { pauseMsMin: 5, pauseMsMax: 20 };
const UNAVAILABLE: Mishap = { status: 503, body: { error_code: 'unavailable', message: 'Not now.' } };

const client = (retry: object = QUICK) => createClient({ baseUrl: line.url, apiKey: admin.key!, retry });
const anEvent = (fields: object = {}) => {
  const id = randomUUID();
  const identity = { type: 'EXTERNAL', value: `customer-${id}` };
  return { source: 'shop.orders', external_event_id: `order-${id}`, type: 'purchase', identity, ...fields };
};
const aCdpEvent = () => {
  const id = randomUUID();
  const identity = { externalUserId: `customer-${id}` };
  return { source: 'shop.orders', externalEventId: id, eventType: 'purchase', identity, properties: { amount: 1 } };
};

async function failureOf(work: Promise<unknown>): Promise<CampaignDataError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CampaignDataError);
  return error as CampaignDataError;
}

/** How many events of the source are stored. */
async function stored(source: string): Promise<number> {
  return (await admin.get(`/v1/events?source=${source}&limit=200`)).body.items.length;
}

describe('events.send', () => {
  it('sends events of both families, and learns that a repeated one is known', async () => {
    await registerTypes(admin);
    for (const event of [anEvent(), aCdpEvent()]) {
      const first = await client().events.send(event);
      expect(first).toEqual({ status: 'accepted', event_id: expect.any(String) });
      const id = first.status === 'accepted' ? first.event_id : undefined;
      expect(await client().events.send(event)).toEqual({ status: 'duplicate', original_event_id: id });
    }
    expect([...new Set(line.sent.map(({ path }) => path))]).toEqual(['/v1/external-events', '/v1/cdp/events']);
  });

  it('waits as long as a 503 asks for, and sends the same again', async () => {
    line.next({ ...UNAVAILABLE, headers: { 'retry-after': '1' } });
    expect(await client().events.send(anEvent())).toMatchObject({ status: 'accepted' });
    const [first, second] = line.sent;
    expect(second!.atMs - first!.atMs).toBeGreaterThanOrEqual(1_000);
    expect(second!.body).toEqual(first!.body);
  });

  it('reads a Retry-After that is a date by the clock of the service', async () => {
    const headers = { date: 'Fri, 02 Jan 2026 03:04:05 GMT', 'retry-after': 'Fri, 02 Jan 2026 03:04:09 GMT' };
    line.next({ ...UNAVAILABLE, headers });
    const error = await failureOf(client({ attemptsMax: 1 }).events.send(anEvent()));
    expect(error.retryAfterMs).toBe(4_000);
  });

  it('reads a Retry-After that is a date by its own clock where the answer has no Date, as of some proxies', async () => {
    const at = new Date(Date.now() + 60_000).toUTCString();
    const fetch = () => Promise.resolve(new Response('', { status: 503, headers: { 'retry-after': at } }));
    const { events } = createClient({ baseUrl: line.url, apiKey: admin.key!, fetch, retry: { totalMsMax: 5_000 } });
    const error = await failureOf(events.send(anEvent()));
    expect(error.retryAfterMs).toBeGreaterThan(50_000);
    expect(error.retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it.each(['answer lost', 'half an answer'] as const)('stores an event once when there was %s', async (mishap) => {
    line.next(mishap);
    const source = `source-${randomUUID()}`;
    expect(await client().events.send(anEvent({ source }))).toMatchObject({ status: 'duplicate' });
    expect([line.sent.length, await stored(source)]).toEqual([2, 1]);
  });

  it('gives up after so many attempts, with the last refusal', async () => {
    line.next(...new Array<Mishap>(9).fill(UNAVAILABLE));
    const error = await failureOf(client({ ...QUICK, attemptsMax: 3 }).events.send(anEvent()));
    expect([line.sent.length, error.status, error.errorCode, error.message]).toEqual([
      3,
      503,
      'unavailable',
      'Not now.',
    ]);
  });

  it('gives up at once when it is asked to wait for longer than it may', async () => {
    const body = { error_code: 'rate_limited', message: 'Too much.' };
    line.next({ status: 429, headers: { 'retry-after': '3600' }, body });
    const error = await failureOf(client({ totalMsMax: 5_000 }).events.send(anEvent()));
    expect([line.sent.length, error.errorCode, error.retryAfterMs]).toEqual([1, 'rate_limited', 3_600_000]);
  });

  it('repeats what no service of ours has answered, and then says so', async () => {
    line.next({ status: 502, headers: { 'content-type': 'text/html' } });
    expect(await client().events.send(anEvent())).toMatchObject({ status: 'accepted' });
    line.next({ status: 404, headers: { 'content-type': 'text/html' } });
    expect(await failureOf(client().events.send(anEvent()))).toMatchObject({
      status: 404,
      errorCode: 'unexpected_answer',
    });
  });

  it('takes no success of another server for one of the service', async () => {
    const maintenance: Mishap = { status: 200, body: { status: 'ok' } };
    line.next(maintenance);
    expect(await client().events.send(anEvent())).toMatchObject({ status: 'accepted' });
    expect(line.sent).toHaveLength(2);
    line.next(maintenance, { status: 200, body: null });
    expect(await failureOf(client({ attemptsMax: 2 }).events.send(anEvent()))).toMatchObject({
      status: 200,
      errorCode: 'unexpected_answer',
    });
  });

  it('does not repeat a refusal, and shows every fault of it', async () => {
    const error = await failureOf(client().events.send(anEvent({ source: '', identity: { type: 'EMAIL' } })));
    expect(line.sent).toHaveLength(1);
    expect([error.status, error.errorCode]).toEqual([422, 'validation_failed']);
    expect(error.details.map(({ path }) => path)).toEqual(['source', 'identity.value']);
    expect(error.requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('names a service that is away, after all attempts', async () => {
    const away = createClient({
      baseUrl: 'http://127.0.0.1:1',
      apiKey: admin.key!,
      retry: { ...QUICK, attemptsMax: 2 },
    });
    expect(await failureOf(away.events.send(anEvent()))).toMatchObject({ status: 0, errorCode: 'network_error' });
  });

  it('gives up an attempt that takes too long', async () => {
    const never: typeof fetch = (_, init) =>
      new Promise((_resolve, reject) =>
        init?.signal?.addEventListener('abort', () => reject(init.signal!.reason as Error)),
      );
    const retry = { attemptMsMax: 20, attemptsMax: 1 };
    const slow = createClient({ baseUrl: line.url, apiKey: admin.key!, retry, fetch: never });
    expect(await failureOf(slow.events.send(anEvent()))).toMatchObject({ status: 0, errorCode: 'timeout' });
  });

  it('ends a pause at once when it is aborted, with the reason', async () => {
    line.next({ ...UNAVAILABLE, headers: { 'retry-after': '30' } });
    const abort = new AbortController();
    const sending = client().events.send(anEvent(), { signal: abort.signal });
    setTimeout(() => abort.abort(new Error('enough')), 100);
    await expect(sending).rejects.toThrow('enough');
    expect(line.sent).toHaveLength(1);
  });
});

describe('events.batch', () => {
  const batch = (events: Parameters<ReturnType<typeof client>['events']['batch']>[0], options?: BatchOptions) =>
    client().events.batch(events, options);

  it('sends 10,000 events in ten requests, four at once, through faults, and answers each in its order', async () => {
    line.next('answer lost', { ...UNAVAILABLE, headers: { 'retry-after': '1' } });
    const source = `source-${randomUUID()}`;
    const identity = { type: 'EXTERNAL', value: 'customer-1' };
    const events = Array.from({ length: 10_000 }, (_, index) =>
      anEvent({ source, identity, external_event_id: `${index}` }),
    );
    const results = await batch(events);
    expect(results).toHaveLength(10_000);
    const counts = ['accepted', 'duplicate', 'error'].map(
      (status) => results.filter((result) => result.status === status).length,
    );
    expect(counts).toEqual([9_000, 1_000, 0]);
    expect([line.sent.length, line.mostAtOnce()]).toEqual([12, 4]);
    for (const index of [0, 999, 1_000, 9_999]) {
      const { body } = await admin.get(`/v1/events?source=${source}&externalEventId=${index}`);
      const result = results[index]!;
      const id =
        result.status === 'duplicate' ? result.original_event_id : result.status === 'accepted' && result.event_id;
      expect(body.items.map(({ eventId }: any) => eventId)).toEqual([id]);
    }
  });

  it('keeps to the bytes of a batch, and says of which event it is that it is too large for any', async () => {
    const large = anEvent({ attributes: { note: 'ü'.repeat(3 * 1024 * 1024) } });
    const events = [anEvent(), large, anEvent({ attributes: { note: 'ü'.repeat(1_150) } }), anEvent()];
    const results = await batch(events, { bytesMax: 2_500 });
    const words = results.map((result) => (result.status === 'error' ? result.error_code : result.status));
    expect(words).toEqual(['accepted', 'payload_too_large', 'accepted', 'accepted']);
    expect(line.sent.map(({ body }) => body.items.length)).toEqual([1, 1, 1, 1]);
    await batch([anEvent(), anEvent(), anEvent()], { bytesMax: 600 });
    expect(line.sent.slice(4).every(({ bytes }) => bytes <= 600)).toBe(true);
  });

  it('takes events as they come, of both families, and what is wrong with one costs no other its place', async () => {
    await registerTypes(admin);
    async function* events() {
      yield anEvent();
      yield anEvent({ source: '' });
      await Promise.resolve();
      yield aCdpEvent();
    }
    const results = await batch(events());
    expect(results.map(({ status }) => status)).toEqual(['accepted', 'error', 'accepted']);
    expect(results[1]).toMatchObject({ error_code: 'validation_failed', details: [{ path: 'source' }] });
    expect(line.sent.map(({ path }) => path)).toEqual(['/v1/external-events:batch', '/v1/cdp/events/batch']);
  });

  it('sends those again that could not be stored, and no others', async () => {
    const [one, other] = [anEvent(), anEvent()];
    const unavailable = { status: 'error', error_code: 'unavailable', message: 'Not now.', details: [] };
    const accepted = { status: 'accepted', event_id: 'known' };
    line.next({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { results: [accepted, unavailable] },
    });
    expect(await batch([one, other])).toMatchObject([accepted, { status: 'accepted' }]);
    expect(line.sent[1]!.body).toEqual({ items: [other] });
  });

  it('throws what a request as a whole is refused with', async () => {
    const foreign = createClient({ baseUrl: line.url, apiKey: 'cds_unknown' });
    expect(await failureOf(foreign.events.batch([anEvent()]))).toMatchObject({
      status: 401,
      errorCode: 'invalid_api_key',
    });
  });

  it('reads no further than its results are taken', async () => {
    let read = 0;
    function* endless() {
      for (;;) {
        read += 1;
        yield anEvent();
      }
    }
    for await (const { event, result } of client().events.stream(endless(), { itemsMax: 10, concurrency: 2 })) {
      expect([event.type, result.status]).toEqual(['purchase', 'accepted']);
      break;
    }
    expect(read).toBeLessThanOrEqual(31);
  });

  it('gives results and failures as soon as they are there, whether or not another event comes', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    async function* slow() {
      for (let count = 0; count < 4; count += 1) yield anEvent({ type: `purchase_${count}` });
      await released;
      yield anEvent({ type: 'purchase_4' });
    }
    const types: string[] = [];
    for await (const { event, result } of client().events.stream(slow(), { itemsMax: 2 })) {
      expect(result.status).toBe('accepted');
      types.push(event.type);
      if (types.length === 4) release();
    }
    expect(types).toEqual(['purchase_0', 'purchase_1', 'purchase_2', 'purchase_3', 'purchase_4']);

    const never = new Promise<void>(() => undefined);
    async function* stuck() {
      yield anEvent();
      await never;
    }
    const foreign = createClient({ baseUrl: line.url, apiKey: 'cds_unknown' });
    expect(await failureOf(foreign.events.batch(stuck(), { itemsMax: 1 }))).toMatchObject({ status: 401 });
  });

  it('ends at once when it is aborted while it waits for an event, with the reason, and then closes its events', async () => {
    const abort = new AbortController();
    let goOn = (): void => undefined;
    const going = new Promise<void>((resolve) => (goOn = resolve));
    let isClosed = false;
    async function* slow() {
      try {
        yield anEvent();
        await going;
        for (;;) yield anEvent();
      } finally {
        isClosed = true;
      }
    }
    setTimeout(() => abort.abort(new Error('The job was stopped.')), 100);
    // No event comes before the batch has ended.
    await expect(client().events.batch(slow(), { signal: abort.signal })).rejects.toThrow('The job was stopped.');
    goOn();
    await until(() => isClosed);
  });

  it('writes nothing in a dry run', async () => {
    const source = `source-${randomUUID()}`;
    expect(await batch([anEvent({ source })], { dryRun: true })).toMatchObject([{ status: 'accepted' }]);
    expect(await stored(source)).toBe(0);
  });
});

describe('a client', () => {
  it('shows its credential in no object and no error', async () => {
    const own = createClient({ baseUrl: line.url, apiKey: 'cds_secret', token: 'secret.token.x' });
    const errors = [
      await failureOf(own.events.send(anEvent())),
      await failureOf(own.state.read()),
      await failureOf(
        createClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'cds_secret', retry: { attemptsMax: 1 } }).events.send(
          anEvent(),
        ),
      ),
    ];
    for (const shown of [own, ...errors]) {
      const text = `${inspect(shown, { depth: 9, showHidden: true })} ${JSON.stringify(shown)}`;
      expect(text).not.toMatch(/cds_secret|secret\.token/);
    }
  });

  it.each([
    [{ baseUrl: 'https://user:secret@example.com', apiKey: 'k' }, /baseUrl/],
    [{ baseUrl: 'secret', apiKey: 'k' }, /baseUrl/],
    [{ baseUrl: 'file:///secret', apiKey: 'k' }, /baseUrl/],
    [{ baseUrl: 'https://example.com', apiKey: 'secret\n' }, /credential/],
    [{ baseUrl: 'https://example.com', apiKey: '' }, /credential/],
  ])('is not made of what cannot be an address or a credential, which is not repeated (%#)', (options, words) => {
    const make = () => createClient(options);
    expect(make).toThrow(words);
    expect(make).not.toThrow(/secret/);
  });
});
