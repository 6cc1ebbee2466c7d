import { openLine, type Line } from '../faults/arena/line';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { placeOf, readdress, workerNodesOf } from '../support/citus';
import { Client } from '../support/client';
import { freshDatabaseUrl } from '../support/database';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

const STALL_MS = 6_000;

let line: Line;
let isDown = false;
let url: string;
let app: TestApp;
/** Admin keys of a workspace on the node behind the line, and of one on another node. */
let onLine: string;
let elsewhere: string;

beforeAll(async () => {
  url = await freshDatabaseUrl('failures');
  const [node] = await workerNodesOf(url);
  if (node === undefined) throw new Error('The cluster has no worker node');
  line = await openLine({ target: () => (isDown ? undefined : node) });
  await readdress(url, node, { host: '127.0.0.1', port: line.port });
  app = await startApp({}, url, [], { processesEvents: true });
  onLine = await keyWhere((port) => port === line.port);
  elsewhere = await keyWhere((port) => port !== line.port);
});

afterAll(async () => {
  await app.stop();
  await line.close();
});

/** The admin key of a new workspace on such a node. */
async function keyWhere(isWanted: (port: number) => boolean): Promise<string> {
  for (;;) {
    const { tenantId, adminKey } = await aTenant(url);
    if (isWanted((await placeOf(url, tenantId)).port)) return adminKey;
  }
}

/** Without its node. */
async function whileDown(work: () => Promise<void>): Promise<void> {
  isDown = true;
  line.cutAll();
  try {
    await work();
  } finally {
    isDown = false;
  }
}

function send(service: TestApp, key: string, event: object): Promise<number> {
  return new Client(service.url, key).post('/v1/external-events', event).then(({ status }) => status);
}

async function untilAccepted(key: string): Promise<void> {
  await until(async () => (await send(app, key, anExternalEvent())) === 202);
}

it('answers 503 for the workspaces of a node that is down; others go on, and nothing acknowledged is lost', async () => {
  const acknowledged = anExternalEvent();
  expect(await send(app, onLine, acknowledged)).toBe(202);
  await whileDown(async () => {
    expect(await send(app, onLine, anExternalEvent())).toBe(503);
    const statuses = new Set<number>();
    for (let sent = 0; sent < 20; sent += 1) statuses.add(await send(app, elsewhere, anExternalEvent()));
    expect([...statuses]).toEqual([202]);
    expect(await send(app, onLine, anExternalEvent())).toBe(503);
  });
  await untilAccepted(onLine);
  expect(await send(app, onLine, acknowledged)).toBe(200);
});

it('processes the events of workspaces on other nodes while a node is down', async () => {
  await untilAccepted(onLine);
  await whileDown(async () => {
    const client = new Client(app.url, elsewhere);
    const { body } = await client.post('/v1/external-events', anExternalEvent());
    await until(async () => {
      const { body: event } = await client.get(`/v1/events/${body.event_id}`);
      return event.processing?.state === 'processed';
    }, 30);
  });
});

it('delays nobody else by a node that hangs', async () => {
  await untilAccepted(onLine);
  const stalled = line.stall(STALL_MS);
  const stall = { isOver: false };
  void stalled.then(() => (stall.isOver = true));
  const hanging = send(app, onLine, anExternalEvent());
  let slowestMs = 0;
  let answered = 0;
  while (!stall.isOver) {
    const began = performance.now();
    expect(await send(app, elsewhere, anExternalEvent())).toBe(202);
    slowestMs = Math.max(slowestMs, performance.now() - began);
    answered += 1;
  }
  // One group commit for both nodes would answer a few events in this time, each after seconds.
  expect(slowestMs).toBeLessThan(STALL_MS / 3);
  expect(answered).toBeGreaterThan(10);
  expect(await hanging).toBe(503);
  await untilAccepted(onLine);
});

it('starts without a node that is down', async () => {
  await whileDown(async () => {
    const started = await startApp({}, url);
    try {
      expect(await send(started, elsewhere, anExternalEvent())).toBe(202);
      expect(await send(started, onLine, anExternalEvent())).toBe(503);
    } finally {
      await started.stop();
    }
  });
});
