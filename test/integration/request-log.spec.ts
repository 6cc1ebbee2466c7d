import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { connect } from 'node:net';
import { readSettings } from '../../src/platform/config/env';
import { JsonLogger } from '../../src/platform/observability/logger';
import { createApp } from '../../src/server/service';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, Client, type Workspace } from '../support/client';
import { databaseUrl } from '../support/database';

let folder: string;
let stop: () => Promise<void>;
let workspace: Workspace;
let url: string;

/** A service that writes its log, from this level on, into a file of its own. */
async function start(level: string): Promise<void> {
  const database = await databaseUrl();
  const settings = readSettings({ DATABASE_URL: database, LOG_LEVEL: level, SECRETS_KEY: 'x'.repeat(40) });
  const app = await createApp(settings, { url: database }, new JsonLogger(level, join(folder, 'log')));
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
  workspace = await aWorkspace({ url, databaseUrl: database });
  stop = () => app.close();
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cds-request-log-'));
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The lines of requests so far; those that have ended are written when the event loop has turned. */
async function lines(count: number): Promise<any[]> {
  for (const until = Date.now() + 15_000; ;) {
    await new Promise(setImmediate);
    const all = readFileSync(join(folder, 'log'), 'utf8').split('\n').filter(Boolean);
    const found = all.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
    if (found.length >= count || Date.now() > until) return found;
  }
}

const INFO = 30;
const ERROR = 50;
const DEBUG = 20;

describe('the log', () => {
  it('has one line a request: id, workspace, method, route, status and milliseconds, and nothing else', async () => {
    await start('info');
    const event = anExternalEvent({ identity: { type: 'EMAIL', value: 'jane.roe@example.com' } });
    const { headers } = await workspace.admin.post('/v1/external-events', event);
    await workspace.admin.get('/v1/events/jane.roe@example.com?unmask=true');
    const [taken, unknown, ...others] = await lines(2);
    expect(others).toEqual([]);
    expect(taken).toEqual({
      level: INFO,
      time: expect.stringMatching(/Z$/),
      msg: 'request',
      requestId: headers.get('x-request-id'),
      workspace: workspace.tenantId,
      method: 'POST',
      route: '/v1/external-events',
      status: 202,
      ms: expect.any(Number),
    });
    expect(taken.ms).toBeGreaterThan(0);
    expect(unknown).toMatchObject({ route: '/v1/events/{eventId}', status: 404, workspace: workspace.tenantId });
    const log = readFileSync(join(folder, 'log'), 'utf8');
    for (const secret of ['jane', 'customer-', workspace.admin.key!]) expect(log).not.toContain(secret);
  });

  it('takes the client’s own request id, and tells neither the path nor the method of what no route serves', async () => {
    await start('info');
    await workspace.admin.send('/v1/jane.roe@example.com', undefined, {
      method: 'PROPFIND',
      headers: { 'x-request-id': 'mine-1' },
    });
    await new Client(url, undefined).get('/v1/events');
    const [unserved, unknown] = await lines(2);
    expect(unserved).toMatchObject({ requestId: 'mine-1', route: 'none', status: 404, level: INFO });
    expect(unserved).not.toHaveProperty('workspace');
    expect(unknown).toMatchObject({ status: 401, route: '/v1/events' });
    expect(unknown).not.toHaveProperty('workspace');
    expect(readFileSync(join(folder, 'log'), 'utf8')).not.toContain('jane');
  });

  it('has a line for a client that does not wait for its answer', async () => {
    await start('info');
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(
      `POST /v1/external-events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${workspace.admin.key}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n',
    );
    await once(socket, 'data');
    socket.destroy();
    expect(await lines(1)).toMatchObject([{ route: '/v1/external-events', gone: true }]);
  });

  it('tells of failures of ours as errors, and of probes and metrics only when it is asked for everything', async () => {
    await start('debug');
    await fetch(`${url}/health/live`);
    await fetch(`${url}/metrics`);
    const told = await lines(2);
    expect(told.map(({ level, route }) => [level, route])).toEqual([
      [DEBUG, '/health/live'],
      [DEBUG, '/metrics'],
    ]);
  });

  it('has no lines of requests that go well at LOG_LEVEL=warn', async () => {
    await start('warn');
    await workspace.admin.get('/v1/events');
    await workspace.admin.get('/v1/nothing');
    expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('');
  });
});

describe('a line of a request that fails', () => {
  it('is an error', () => {
    const logger = new JsonLogger('warn', join(folder, 'log'));
    const line = { requestId: 'r', workspace: undefined, method: 'GET', route: '/x', gone: undefined, ms: 1 } as const;
    logger.request('info', { ...line, status: 200 });
    logger.request('error', { ...line, status: 500 });
    // Any other line brings along what waits to be written.
    logger.warn('now', 'Test');
    const written = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n');
    expect(written.map((text) => JSON.parse(text).level)).toEqual([ERROR, 40]);
    stop = () => Promise.resolve();
  });
});
