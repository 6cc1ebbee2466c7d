import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Unauthenticated } from '../../src/platform/auth/authenticate.decorator';
import { sendNdjson } from '../../src/platform/http/send-stream';
import { startApp, type TestApp } from '../support/app';
import { until } from '../support/until';

const MEBIBYTE = 1024 * 1024;
/** More than the system takes of an answer that nobody reads. */
const ANSWER_BYTES = 12 * MEBIBYTE;
const UNSENT_BYTES_MAX = 64 * MEBIBYTE;
const LINE = 'x'.repeat(64 * 1024);

let answers = 0;
let lines = 0;
let streamsEnded = 0;

@Controller('test')
class LargeAnswersController {
  @Get('large')
  @Unauthenticated('a test asks for it')
  large(): object {
    answers += 1;
    return { text: 'x'.repeat(ANSWER_BYTES) };
  }

  @Get('small')
  @Unauthenticated('a test asks for it')
  small(): object {
    answers += 1;
    return { text: 'x' };
  }

  @Get('endless')
  @Unauthenticated('a test asks for it')
  async endless(@Res() response: Response): Promise<void> {
    await sendNdjson(response, endlessLines());
  }
}

async function* endlessLines(): AsyncGenerator<object> {
  try {
    for (;;) {
      lines += 1;
      yield await Promise.resolve({ text: LINE });
    }
  } finally {
    streamsEnded += 1;
  }
}

let service: TestApp;
let sockets: Socket[] = [];
const served = new Set<Socket>();

beforeAll(async () => {
  service = await startApp({ UNSENT_BYTES_MAX: String(UNSENT_BYTES_MAX), UNSENT_SECONDS_MAX: '2' }, undefined, [
    LargeAnswersController,
  ]);
  const server: Server = service.app.getHttpServer();
  server.on('connection', (socket) => {
    served.add(socket);
    socket.once('close', () => served.delete(socket));
  });
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  await until(() => served.size <= 2);
  answers = 0;
});

afterAll(() => service.stop());

/** A client that sends this and reads nothing. */
async function deaf(text: string): Promise<Socket> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
  socket.on('error', () => undefined).pause();
  sockets.push(socket);
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

const get = (path: string): string => `GET /test/${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Of answers that wait for their clients, over all connections. */
const unsent = (): number => [...served].reduce((sum, socket) => sum + socket.writableLength, 0);

async function othersAreServed(): Promise<void> {
  const response = await fetch(`${service.url}/test/small`);
  expect([response.status, await response.json()]).toEqual([200, { text: 'x' }]);
}

describe('answers that nobody reads', () => {
  it('are closed with their connections after a time, while others are served', async () => {
    await Promise.all(Array.from({ length: 3 }, () => deaf(get('large'))));
    await until(() => answers === 3 && unsent() > ANSWER_BYTES);
    await othersAreServed();
    await until(() => unsent() === 0);
    await othersAreServed();
  });

  it('are not cut off where the client reads slowly', async () => {
    const socket = await deaf(get('large'));
    let read = 0;
    const begun = performance.now();
    // Longer than a client may read nothing.
    while (read < ANSWER_BYTES) {
      read += (socket.read(MEBIBYTE / 2) as Buffer | null)?.length ?? (socket.read() as Buffer | null)?.length ?? 0;
      await wait(100);
      expect(socket.destroyed).toBe(false);
    }
    expect(performance.now() - begun).toBeGreaterThan(2_000);
  });

  it('take a bounded part of the memory, over all connections', async () => {
    let most = 0;
    for (let client = 0; client < 40; client += 1) {
      await deaf(get('large'));
      await until(() => answers === client + 1);
      await new Promise(setImmediate);
      most = Math.max(most, unsent());
    }
    expect(most).toBeGreaterThan(UNSENT_BYTES_MAX / 2);
    expect(most).toBeLessThanOrEqual(UNSENT_BYTES_MAX + ANSWER_BYTES);
    await othersAreServed();
  });

  it('are one for each connection, however many requests it sends', async () => {
    const socket = await deaf(get('large').repeat(300));
    // More than is read ahead of the answers.
    for (let more = 0; more < 5; more += 1) socket.write(get('large').padStart(100_000, '\r\n'));
    await until(() => unsent() > 0);
    await othersAreServed();
    await until(() => unsent() === 0);
    expect(answers - 2).toBeLessThan(10);
  });

  it('cost a client its connection that sends thousands of requests ahead of them', async () => {
    await deaf(get('large').repeat(20_000));
    await until(() => answers > 0);
    await until(() => unsent() === 0);
    await othersAreServed();
    expect(answers).toBeLessThan(10);
  });

  it('end the stream that they come from, which waits for its client', async () => {
    await deaf(get('endless'));
    await until(() => lines > 0 && unsent() > 0);
    await wait(200);
    const written = lines;
    await wait(200);
    expect(lines).toBe(written);
    await until(() => streamsEnded === 1);
  });
});

describe('requests that are sent without waiting for answers', () => {
  it('are all answered, in their order, to a client that reads', async () => {
    const socket = await deaf('');
    const count = 900;
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString())).resume();
    socket.write(
      Array.from(
        { length: count },
        (_unused, n) => `GET /test/none-${n} HTTP/1.1\r\nHost: a\r\nX-Request-Id: number-${n}\r\n\r\n`,
      ).join(''),
    );
    const ids = (): string[] => [...text.matchAll(/^X-Request-Id: (\S+)/gim)].map(([, id]) => id ?? '');
    await until(() => ids().length === count);
    expect(ids()).toEqual(Array.from({ length: count }, (_unused, n) => `number-${n}`));
  });

  it('may have bodies, which are read when it is their turn', async () => {
    const socket = await deaf('');
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString())).resume();
    const body = ' '.repeat(100_000);
    const post = `POST /v1/external-events HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(`${get('small')}${get('small')}${post}`);
    await until(() => text.includes('401 Unauthorized'));
    expect(text.match(/200 OK/g)).toHaveLength(2);
  });
});
