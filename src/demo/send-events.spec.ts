import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readSample } from './cdnow';
import { sendEvents, type DemoTarget, type Run } from './send-events';

type Item = Readonly<{ externalEventId: string }>;
type Answering = (items: readonly Item[], response: ServerResponse, request: number) => void;

const PURCHASES = readSample().slice(0, 25);
const OPTIONS = { batch: 10, concurrency: 2, onProgress: () => undefined };

let server: Server | undefined;

/** A stub that answers with `answering`, and the items that it received. */
async function aService(answering: Answering): Promise<{ target: DemoTarget; received: Item[][] }> {
  const received: Item[][] = [];
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { items } = JSON.parse(Buffer.concat(chunks).toString()) as { items: Item[] };
      received.push(items);
      answering(items, response, received.length);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { target: { url, key: 'key' }, received };
}

function answer(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function accept(items: readonly Item[], response: ServerResponse): void {
  answer(response, 200, {
    results: items.map(({ externalEventId }) => ({ status: 'accepted', event_id: `e-${externalEventId}` })),
  });
}

function ids({ answered }: Run): string[] {
  return answered.flatMap((each) => (each.result.status === 'accepted' ? [each.result.event_id] : []));
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

describe('sendEvents', () => {
  it('sends every purchase once, and answers in their order', async () => {
    const { target, received } = await aService((items, response, request) => {
      setTimeout(() => accept(items, response), request === 1 ? 30 : 0);
    });
    const progress: number[] = [];
    const run = await sendEvents(target, PURCHASES, { ...OPTIONS, onProgress: (done) => progress.push(done) });
    expect(run.answered.map(({ purchase }) => purchase)).toEqual(PURCHASES);
    expect(new Set(ids(run)).size).toBe(25);
    expect(received.map((items) => items.length).toSorted()).toEqual([10, 10, 5].toSorted());
    expect(received.flat()[0]).toEqual({
      source: 'cdnow',
      externalEventId: '0001-19970101-1',
      eventType: 'purchase',
      occurredAt: '1997-01-01T00:00:00Z',
      identity: { externalUserId: 'cdnow-0001' },
      properties: { amount: 29.33, quantity: 2 },
    });
    expect(progress.at(-1)).toBe(25);
    expect(run.repeatedRequests).toBe(0);
  });

  it('sends again what got no answer, 429 or 503, with the very same events', async () => {
    const { target, received } = await aService((items, response, request) => {
      if (request === 1) response.destroy();
      else if (request === 2) answer(response, 503, {});
      else if (request === 3) answer(response, 429, {}, { 'Retry-After': '1' });
      else accept(items, response);
    });
    const began = performance.now();
    const run = await sendEvents(target, PURCHASES, { ...OPTIONS, batch: 25 });
    expect(performance.now() - began).toBeGreaterThan(1_000);
    expect(run.repeatedRequests).toBe(3);
    expect(received).toEqual([received[3], received[3], received[3], received[3]]);
    expect(ids(run)).toHaveLength(25);
  });

  it('sends single events again that could not be taken at the moment, and only those', async () => {
    const { target, received } = await aService((items, response, request) => {
      if (request > 1) {
        accept(items, response);
        return;
      }
      const results = items.map((_, index) =>
        index < 3
          ? { status: 'error', error_code: 'unavailable', message: 'later', details: [] }
          : { status: 'error', error_code: 'validation_failed', message: 'never', details: [] },
      );
      answer(response, 200, { results });
    });
    const run = await sendEvents(target, PURCHASES.slice(0, 10), OPTIONS);
    expect(received.map((items) => items.length)).toEqual([10, 3]);
    expect(run.answered.map((each) => each.result.status)).toEqual([
      ...Array<string>(3).fill('accepted'),
      ...Array<string>(7).fill('error'),
    ]);
    expect(run.repeatedRequests).toBe(1);
  });

  it.each([
    [
      401,
      { error_code: 'invalid_api_key', message: 'No such key.' },
      /401 invalid_api_key: No such key. The demo needs an admin key/,
    ],
    [422, { error_code: 'batch_too_large', message: 'Too many.' }, /422 batch_too_large: Too many/],
    [404, '<html>', /Is this the Campaign Data Service/],
    [302, undefined, /answered 302/],
    [200, { results: [] }, /answered 200/],
  ])('stops at once at %i %j', async (status, body, words) => {
    const { target, received } = await aService((_, response) =>
      answer(response, status, body ?? '', { Location: '/login' }),
    );
    await expect(sendEvents(target, PURCHASES, { ...OPTIONS, batch: 1 })).rejects.toThrow(words);
    expect(received.length).toBeLessThanOrEqual(3);
  });

  it('does not wait for a service that wants to be left alone for an hour', async () => {
    const { target } = await aService((_, response) => {
      answer(response, 429, { error_code: 'rate_limited', message: 'Slowly.' }, { 'Retry-After': '3600' });
    });
    await expect(sendEvents(target, PURCHASES, OPTIONS)).rejects.toThrow('429 rate_limited: Slowly.');
  });
});
