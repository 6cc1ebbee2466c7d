import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aReadyClient, type Client, expectProblem } from '../support/client';
import { until } from '../support/until';

const MEBIBYTE = 1024 * 1024;
const PATH = '/v1/external-events:batch';

let service: TestApp;
let sockets: Socket[] = [];
/** The other ends of all connections. */
const served: Socket[] = [];

beforeAll(async () => {
  // A quarter of it, 8 MiB, for each workspace.
  service = await startApp({ HELD_BODIES_BYTES_MAX: String(32 * MEBIBYTE) });
  const server: Server = service.app.getHttpServer();
  server.on('connection', (socket) => served.push(socket));
});
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
});
afterAll(() => service.stop());

const batchOf = (bytes: number): string => JSON.stringify({ items: [anExternalEvent()] }).padEnd(bytes, ' ');

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
