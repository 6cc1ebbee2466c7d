import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { READS_AT_ONCE_MAX } from '../../src/platform/rate-limit/read-slots';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aReadyClient, type Client } from '../support/client';
import { until } from '../support/until';

const BATCH = '/v1/external-events:batch';

let service: SharedApp;
const sockets: Socket[] = [];

beforeAll(async () => {
  service = await sharedApp();
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
});

const batchOf = (events: number, characters: number): string => {
  const note = 'x'.repeat(characters);
  return JSON.stringify({ items: Array.from({ length: events }, () => anExternalEvent({ attributes: { note } })) });
};

/** Takes the place of a read until its body is whole. */
async function halfARead({ url, key }: Client): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
  sockets.push(socket);
  await once(socket, 'connect');
  const head = ['POST /v1/cdp/profiles:lookup HTTP/1.1', 'Host: a', `Authorization: Bearer ${key}`];
  socket.write([...head, 'Content-Type: application/json', 'Content-Length: 100', '', '{'].join('\r\n'));
}

async function waitingReads({ url }: Client): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return Number(/^cds_reads\{state="waiting"\} (\d+)$/m.exec(text)?.[1]);
}

it('large dry runs of one workspace that wait for its reads do not hold up batches of another one', async () => {
  const [busy, other] = [await aReadyClient(service), await aReadyClient(service)];
  await Promise.all(Array.from({ length: READS_AT_ONCE_MAX }, () => halfARead(busy)));
  const large = batchOf(1_000, 4_600);
  let answered = 0;
  const tried = Array.from({ length: 4 }, () => busy.send(`${BATCH}?dry_run=true`, large).then(() => (answered += 1)));
  await until(async () => (await waitingReads(other)) > 0);
  expect((await other.send(BATCH, batchOf(20, 8_000))).status).toBe(200);
  expect(answered).toBe(0);
  for (const socket of sockets) socket.destroy();
  await Promise.all(tried);
});
