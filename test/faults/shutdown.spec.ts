import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { databaseOf, freshDatabaseUrl, rowsOf } from '../support/database';
import { startFaultProxy } from '../support/fault-proxy';
import { sendUntilGone } from '../support/kept-connections';
import { startServiceProcess } from '../support/service-process';
import { until } from '../support/until';
import { openLine } from './arena/line';

/** As many as may listen to one type of events. */
const REACTIONS = 50;
/** Of which each takes some fiftieth of a second, and a tenth on a busy machine: far from what an event may take. */
const EVENTS = 85;
const LIST_LENGTH = 4_000;
/** Costs most of what a condition may, and is never met. */
const COSTLY = { '!': [{ all: [{ var: 'event.properties.list' }, { '!!': [{ var: '' }] }] }] };

/** Processes of this machine that have the text in their command line. */
async function processesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const folder = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
    if (commandLine.includes(text) || folder.includes(text)) found.push(commandLine.replaceAll('\0', ' '));
  }
  return found;
}

describe('SIGTERM', () => {
  it('lets a request under way be answered, refuses new ones, and ends with 0 within 10 s', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'cds-stop-'));
    const service = await startServiceProcess({ DATA_DIR: dataDir });
    const { port } = new URL(service.url);
    // A kept-alive connection that is idle must not hold the service back.
    await new Client(service.url, service.adminKey).get('/v1/events');
    const body = JSON.stringify(anExternalEvent());
    const socket = connect(Number(port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /v1/external-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.adminKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`,
    );
    // The credential was checked and the body is being waited for once another request has been answered meanwhile.
    await new Client(service.url, service.adminKey).get('/v1/events');
    const asked = performance.now();
    const stopped = service.stop();
    await untilRefused(Number(port));
    socket.write(body.slice(20));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 202 [^]*\r\nConnection: close\r\n/);
    socket.destroy();
    expect(await stopped).toBe(0);
    expect(performance.now() - asked).toBeLessThan(10_000);
    expect(await processesWith(dataDir)).toEqual([]);
    await rm(dataDir, { recursive: true, force: true });
  });
});

describe('SIGTERM while clients send one request after the other on kept connections', () => {
  it('closes none that it said to keep, and is not ready until it listens no more', async () => {
    const settings = { DATABASE_URL: await freshDatabaseUrl('shutdown_kept'), SHUTDOWN_DELAY_SECONDS: '3' };
    const service = await startServiceProcess(settings);
    const client = new Client(service.url, service.adminKey);
    const clients = Array.from({ length: 8 }, () => sendUntilGone(service.url, service.adminKey));
    await until(async () => (await client.get('/v1/events')).body.items.length >= clients.length);
    const asked = performance.now();
    const stopped = service.stop();
    await until(async () => (await client.get('/health/ready')).status === 503);
    expect((await client.get('/health/live')).headers.get('connection')).toBe('close');
    const lastAnswers = await Promise.all(clients);
    expect(await stopped).toBe(0);
    expect(performance.now() - asked).toBeLessThan(10_000);
    for (const { statuses, connection } of lastAnswers) expect([[...statuses], connection]).toEqual([[202], 'close']);
  });
});

describe('SIGTERM while the network to the database is stalled', () => {
  it('ends the process with 0 within 10 s', async () => {
    const url = await freshDatabaseUrl('shutdown_stalled');
    const proxy = await startFaultProxy(url);
    const behind = new URL(proxy.urlOf(databaseOf(url)));
    const line = await openLine({ target: () => ({ host: behind.hostname, port: Number(behind.port) }) });
    const { username, pathname } = behind;
    const service = await startServiceProcess({
      DATABASE_URL: `postgresql://${username}@127.0.0.1:${line.port}${pathname}`,
    });
    const client = new Client(service.url, service.adminKey);
    expect((await client.post('/v1/external-events', anExternalEvent())).status).toBe(202);
    const stalled = line.stall(11_000);
    const asked = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - asked).toBeLessThan(10_000);
    await stalled;
    await Promise.all([line.close(), proxy.close()]);
  });
});

describe('SIGTERM while conditions are worked out that take long', () => {
  it('ends the process with 0 within 10 s, and leaves the events that were not reached in the queue', async () => {
    const url = await freshDatabaseUrl('shutdown_conditions');
    const service = await startServiceProcess({ DATABASE_URL: url });
    const client = new Client(service.url, service.adminKey);
    const ok = async (path: string, body: object): Promise<void> => {
      expect((await client.post(path, body)).status).toBeLessThan(300);
    };
    await ok('/v1/campaigns/slow/variables:define', { scope: 'campaign', name: 'points', type: 'number' });
    for (let number = 0; number < REACTIONS; number += 1) {
      await ok('/v1/campaigns/slow/reactions:define', {
        name: `r${number}`,
        eventType: 'purchase',
        when: COSTLY,
        ops: [{ path: 'state.campaign.points', op: 'inc', value: 1 }],
      });
    }
    const attributes = { list: Array.from({ length: LIST_LENGTH }, () => 'y') };
    const items = Array.from({ length: EVENTS }, () => anExternalEvent({ attributes }));
    await ok('/v1/external-events:batch', { items });
    const states = async (): Promise<Record<string, number>> => {
      const counts = await Promise.all(
        [
          `SELECT count(*) FILTER (WHERE state = 'processed')::int AS processed,
             count(*) FILTER (WHERE attempts > 1)::int AS again FROM event_processing`,
          'SELECT count(*)::int AS queued FROM event_queue',
          'SELECT count(*)::int AS parked FROM parked_events',
        ].map((text) => rowsOf<Record<string, number>>(url, text)),
      );
      return Object.assign({}, ...counts.flat());
    };
    await until(async () => (await states())['processed']! > 0, 60);
    const asked = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - asked).toBeLessThan(10_000);
    // On a busy machine some may have been too slow for now.
    const { processed, again, queued, parked } = await states();
    expect(queued).toBeGreaterThan(0);
    expect([processed! + queued! + parked!, again]).toEqual([EVENTS, 0]);
  });
});

async function untilRefused(port: number): Promise<void> {
  for (const until = Date.now() + 5_000; Date.now() < until;) {
    const socket = connect(port, '127.0.0.1');
    const refused = await once(socket, 'connect').then(
      () => false,
      () => true,
    );
    socket.destroy();
    if (refused) return;
    await new Promise(setImmediate);
  }
  throw new Error('The service still takes connections');
}
