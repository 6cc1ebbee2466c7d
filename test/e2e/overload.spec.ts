import { connect } from 'node:net';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { Server } from 'node:http';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aClient, type Answer, type Client, expectProblem } from '../support/client';
import { freshDatabaseUrl, whileLocked } from '../support/database';

const MEBIBYTE = 1024 * 1024;
const NOTE = 'x'.repeat(1_000);
/** Two batches of the lane, each as long as it is patient, on a busy machine. */
const ANSWERED_MS_MAX = 15_000;
/** In a check every two seconds, and with room for a busy machine. */
const NOTICED_MS_MAX = 5_000;

let service: TestApp;
let server: Server;

beforeAll(async () => {
  service = await startApp(
    { LANE_BYTES_MAX: String(MEBIBYTE), CONNECTIONS_MAX: '40' },
    await freshDatabaseUrl('overload'),
  );
  server = service.app.getHttpServer();
});

afterAll(() => service.stop());

/** What the service says on a connection of which only `sent` arrives, until it closes it. */
async function heard(sent: string): Promise<{ text: string; afterMs: number }> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  const begun = performance.now();
  let text = '';
  socket.on('data', (bytes) => (text += bytes.toString())).on('error', () => undefined);
  if (sent !== '') socket.write(sent);
  await once(socket, 'close');
  return { text, afterMs: performance.now() - begun };
}

describe('more than the database takes', () => {
  it('is refused with 503 and Retry-After while memory stays flat, and taken when there is room again', async () => {
    const client = await aClient(service);
    const batch = (): object => ({
      items: Array.from({ length: 40 }, () => anExternalEvent({ attributes: { note: 'x'.repeat(5_000) } })),
    });
    expect((await client.post('/v1/external-events:batch', batch())).status).toBe(200);
    const before = process.memoryUsage().rss;
    // Nothing can be stored: what is not bounded would pile up.
    const statuses = await whileLocked(service.databaseUrl, 'events', 'ACCESS EXCLUSIVE', async (release) => {
      const answers = await Promise.all(
        Array.from({ length: 30 }, async () => {
          const askedAt = performance.now();
          const answer = await client.post('/v1/external-events:batch', batch());
          return { answer, tookMs: performance.now() - askedAt };
        }),
      );
      await release();
      for (const { answer } of answers) expectProblem(answer, 503, 'unavailable');
      // One megabyte of six waits, two batches behind one another.
      expect(Math.max(...answers.map(({ tookMs }) => tookMs))).toBeLessThan(ANSWERED_MS_MAX);
      return answers.map(({ answer }) => answer.headers.get('retry-after'));
    });
    expect(new Set(statuses)).toEqual(new Set(['1']));
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MEBIBYTE);
    expect((await client.post('/v1/external-events:batch', batch())).status).toBe(200);
  });
});

it('more of one workspace than the database takes leaves room for what others send', async () => {
  const [busy, other] = [await aClient(service), await aClient(service)];
  const items = (): object[] => Array.from({ length: 40 }, () => anExternalEvent({ attributes: { note: NOTE } }));
  const send = (client: Client): Promise<Answer> => client.post('/v1/external-events:batch', { items: items() });
  const answers: Promise<unknown>[] = [];
  await whileLocked(service.databaseUrl, 'events', 'ACCESS EXCLUSIVE', async (release) => {
    let refused = 0;
    while (refused === 0) {
      answers.push(send(busy).then(({ status }) => (refused += status === 503 ? 1 : 0)));
      await wait(5);
    }
    const answer = send(other);
    await wait(100);
    await release();
    expect((await answer).status).toBe(200);
  });
  await Promise.all(answers);
});

describe('clients that hold connections', () => {
  it('have ten seconds for the head of a request and thirty for all of it', () => {
    expect([server.headersTimeout, server.requestTimeout, server.keepAliveTimeout]).toEqual([10_000, 30_000, 65_000]);
  });

  it.each([
    ['nothing at all', ''],
    ['half a head', 'POST /v1/external-events HTTP/1.1\r\nHost: a\r\nX-Slow: '],
    ['half a body', 'POST /v1/external-events HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"so'],
  ])('are cut off when their time is over: %s', async (_what, sent) => {
    const usual = [server.headersTimeout, server.requestTimeout] as const;
    [server.headersTimeout, server.requestTimeout] = [300, 600];
    try {
      const { text, afterMs } = await heard(sent);
      expect(afterMs).toBeLessThan(NOTICED_MS_MAX);
      if (text !== '') expect(text).toMatch(/^HTTP\/1\.1 (?:401|408) /);
    } finally {
      [server.headersTimeout, server.requestTimeout] = usual;
    }
  });

  it('are as many as CONNECTIONS_MAX; a further one is closed at once, and a free place is taken again', async () => {
    const port = Number(new URL(service.url).port);
    server.closeAllConnections();
    const sockets = Array.from({ length: 60 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
    await wait(500);
    const open = sockets.filter((socket) => !socket.destroyed && socket.readyState === 'open');
    expect(open.length).toBeLessThanOrEqual(40);
    for (const socket of sockets) socket.destroy();
    await wait(100);
    expect((await fetch(`${service.url}/docs-json`)).status).toBe(200);
  });
});
