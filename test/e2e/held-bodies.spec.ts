import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aReadyClient, type Client, expectProblem } from '../support/client';
import { until } from '../support/until';

const MEBIBYTE = 1024 * 1024;
const PATH = '/v1/external-events:batch';

let service: TestApp;
let server: Server;
let sockets: Socket[] = [];
/** The other ends of all connections. */
const served: Socket[] = [];

beforeAll(async () => {
  // A quarter of it, 8 MiB, for each workspace.
  service = await startApp({ HELD_BODIES_BYTES_MAX: String(32 * MEBIBYTE) });
  server = service.app.getHttpServer();
  server.on('connection', (socket) => served.push(socket));
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});
afterAll(() => service.stop());

const batchOf = (bytes: number): string => JSON.stringify({ items: [anExternalEvent()] }).padEnd(bytes, ' ');

/** Not so repetitive that it may not be inflated. */
const gzippedBatchOf = (bytes: number): Buffer => {
  const attributes = { note: randomBytes(24_000).toString('base64') };
  return gzipSync(JSON.stringify({ items: [anExternalEvent({ attributes })] }).padEnd(bytes, ' '));
};

/** Sends a gzip body, and loses the connection while the service begins to inflate it. */
async function lostWhileInflated({ url, key }: Client): Promise<void> {
  // The service has read the whole body when it ends.
  server.once('request', (request: IncomingMessage) => request.once('end', () => request.socket.destroy()));
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  sockets.push(socket);
  const body = gzippedBatchOf(2 * MEBIBYTE);
  const head = [
    ...[`POST ${PATH} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${key}`, 'Content-Type: application/json'],
    ...['Content-Encoding: gzip', `Content-Length: ${body.length}`],
  ];
  socket.on('error', () => undefined);
  socket.write(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
  await once(socket, 'close');
}

/** Sends four of 5 MiB; what has been answered when the service has read these. */
async function unfinished({ url, key }: Client): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  let answer = '';
  socket.on('error', () => undefined).on('data', (data) => (answer += data.toString('latin1')));
  sockets.push(socket);
  await once(socket, 'connect');
  const head = [`POST ${PATH} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${key}`, 'Content-Type: application/json'];
  socket.write(`${head.join('\r\n')}\r\nContent-Length: ${5 * MEBIBYTE}\r\n\r\n${batchOf(4 * MEBIBYTE)}`);
  const isRead = (): boolean =>
    served.some(({ remotePort, bytesRead }) => remotePort === socket.localPort && bytesRead > 4 * MEBIBYTE);
  await until(() => answer !== '' || isRead());
  return answer;
}

it('a workspace that keeps its requests open takes no more memory than its share, and nothing from others', async () => {
  const [slow, other] = [await aReadyClient(service), await aReadyClient(service)];
  expect([await unfinished(slow), await unfinished(slow)]).toEqual(['', '']);
  const refusal = /^HTTP\/1\.1 503 [^]*Retry-After: 1\r\n[^]*Too many bytes of request bodies are being received/;
  expect(await unfinished(slow)).toMatch(refusal);
  expectProblem(await slow.send(PATH, batchOf(MEBIBYTE)), 503, 'unavailable', []);
  expect((await slow.send('/v1/external-events', JSON.stringify(anExternalEvent()))).status).toBe(202);
  expect((await other.send(PATH, batchOf(5 * MEBIBYTE))).status).toBe(200);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await slow.send(PATH, batchOf(5 * MEBIBYTE))).status === 200);
});

it('a gzip body whose connection closes before it is inflated is not counted afterwards', async () => {
  const client = await aReadyClient(service);
  for (let lost = 0; lost < 6; lost += 1) await lostWhileInflated(client);
  const headers = { 'content-encoding': 'gzip' };
  expect((await client.send(PATH, gzippedBatchOf(2 * MEBIBYTE), { headers })).status).toBe(200);
});

it('a body that needs more than the share of its workspace is taken while that sends nothing else', async () => {
  const client = await aReadyClient(service);
  const items = Array.from({ length: 104 }, () =>
    anExternalEvent({ attributes: { note: randomBytes(37_000).toString('base64') } }),
  );
  const text = JSON.stringify({ items });
  const body = gzipSync(text);
  expect(text.length).toBeLessThan(5 * MEBIBYTE);
  expect(text.length + body.length).toBeGreaterThan(8 * MEBIBYTE);
  const answer = await client.send(PATH, body, { headers: { 'content-encoding': 'gzip' } });
  expect(answer.status).toBe(200);
});
