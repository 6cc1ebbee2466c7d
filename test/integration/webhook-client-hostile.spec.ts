import { getEventListeners, once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { WebhookClient, type CallResult } from '../../src/webhooks/delivery/webhook-client';

const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];
const BOMB = gzipSync(Buffer.alloc(10_000_000));

let server: Server;
let answer: (socket: Socket) => void;
let client: WebhookClient;
const sockets = new Set<Socket>();

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.once('data', () => answer(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => {
  client = new WebhookClient({ allowPrivate: true, resolve: () => Promise.resolve(LOOPBACK), timeMsMax: 700 });
});
afterEach(() => client.close());
afterAll(async () => {
  const closed = once(server, 'close');
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
});

const post = (): Promise<CallResult> => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return client.post({ url, headers: {}, body: '{}' });
};

/** After a beginning writes one piece after the other, as long as the connection is open. */
function writeOn(socket: Socket, piece: string, everyMs: number, beginning = ''): void {
  socket.write(beginning);
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.once('close', () => clearInterval(timer));
}

/** The same, as fast as the other side reads. */
function flood(socket: Socket, piece: string, beginning: string): void {
  socket.write(beginning);
  const more = (): void => {
    while (!socket.destroyed) if (!socket.write(piece)) return void socket.once('drain', more);
  };
  more();
}

const FAILURES: readonly [string, (socket: Socket) => void, CallResult['outcome']][] = [
  ['no byte', () => undefined, 'timed_out'],
  ['a head that comes byte by byte', (socket) => writeOn(socket, 'H', 5), 'not_connected'],
  ['headers without end', (socket) => writeOn(socket, 'x: y\r\n', 20, 'HTTP/1.1 200 OK\r\n'), 'timed_out'],
  [
    'headers of any size',
    (socket) => flood(socket, `x: ${'y'.repeat(9_000)}\r\n`, 'HTTP/1.1 200 OK\r\n'),
    'not_connected',
  ],
  [
    'answers 103 without end',
    (socket) => writeOn(socket, 'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n', 20),
    'timed_out',
  ],
  [
    '101 Switching Protocols',
    (socket) => void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
    'not_connected',
  ],
  ['what is not HTTP', (socket) => void socket.write('220 mail.example.com ESMTP\r\n'), 'not_connected'],
  ['a connection that is reset', (socket) => void socket.resetAndDestroy(), 'not_connected'],
  [
    'a length twice',
    (socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx'),
    'not_connected',
  ],
];

it.each(FAILURES)('fails, in time, with %s', async (_title, hostile, outcome) => {
  answer = hostile;
  const result = await post();
  expect(result).toMatchObject({ outcome, status: null, answer: '' });
});

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n';

const SUCCESSES: readonly [string, (socket: Socket) => void, unknown][] = [
  [
    'a 103 before it',
    (socket) => void socket.write(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${HEAD}content-length: 2\r\n\r\nok`),
    'ok',
  ],
  [
    'chunks without end',
    (socket) => writeOn(socket, '1\r\nx\r\n', 50, `${HEAD}transfer-encoding: chunked\r\n\r\n`),
    expect.stringMatching(/^x+$/),
  ],
  ['a body without end', (socket) => flood(socket, 'y'.repeat(65_536), `${HEAD}\r\n`), 'y'.repeat(1_000)],
  [
    'a gzip bomb, which is not opened',
    (socket) =>
      void socket.write(
        Buffer.concat([Buffer.from(`${HEAD}content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`), BOMB]),
      ),
    expect.stringMatching(/^[^\0]{100,1000}$/),
  ],
  [
    'a reset within the body',
    (socket) =>
      void socket.write(`${HEAD}content-length: 9\r\n\r\nbegin`, () => setTimeout(() => socket.resetAndDestroy(), 50)),
    expect.stringMatching(/^(begin)?$/),
  ],
  ['less than it promised', (socket) => void socket.end(`${HEAD}content-length: 9\r\n\r\nbegin`), 'begin'],
  [
    'bytes that are no text, and U+0000',
    (socket) =>
      void socket.end(Buffer.concat([Buffer.from(`${HEAD}\r\n`), Buffer.from([0x61, 0, 0xff, 0xed, 0xa0, 0x80])])),
    expect.stringMatching(/^a\uFFFD{2,6}$/),
  ],
];

it.each(SUCCESSES)('counts the status, in time, of an answer with %s', async (_title, hostile, text) => {
  answer = hostile;
  expect(await post()).toMatchObject({ outcome: 'delivered', status: 200, answer: text });
});

it('leaves nothing behind at the signal that ends all calls', async () => {
  answer = (socket) => void socket.end(`${HEAD}content-length: 0\r\n\r\n`);
  const stop = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (let n = 0; n < 3; n += 1) await client.post({ url, headers: {}, body: '{}' }, stop.signal);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  // `AbortSignal.any` lists each signal that was made of it, also after its end.
  const names = Object.getOwnPropertySymbols(stop.signal).map(({ description }) => description);
  expect(names).not.toContain('kDependantSignals');
  answer = () => undefined;
  const running = client.post({ url, headers: {}, body: '{}' }, stop.signal);
  stop.abort();
  expect(await running).toMatchObject({ outcome: 'not_connected', status: null });
});
