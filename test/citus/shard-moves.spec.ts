import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { isolateWorkspace, moveShard, placeOf, workerNodesOf } from '../support/citus';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { aTenant, type Tenant } from '../support/tenant';

const SENDERS = 4;
/** A move takes some seventy tables along, one after the other. */
const SLOW_MS = 300_000;

interface Sent {
  readonly event: ReturnType<typeof anExternalEvent>;
  readonly status: number;
  readonly eventId: string | undefined;
}

/** Sends events one after the other until `isOver`; the same again where it was asked to. */
async function sendUntil(isOver: () => boolean, client: Client): Promise<Sent[]> {
  const sent: Sent[] = [];
  let event = anExternalEvent();
  while (!isOver()) {
    const { status, body } = await client.post('/v1/external-events', event);
    sent.push({ event, status, eventId: body.event_id });
    if (status !== 503) event = anExternalEvent();
  }
  return sent;
}

/** Workspaces in one shard, whose events share commits. */
async function aPair(url: string): Promise<[Tenant, Tenant]> {
  const first = await aTenant(url);
  const { shard } = await placeOf(url, first.tenantId);
  for (;;) {
    const second = await aTenant(url);
    if ((await placeOf(url, second.tenantId)).shard === shard) return [first, second];
  }
}

/** To the other worker node. */
async function move(url: string, { tenantId }: Tenant): Promise<void> {
  const nodes = await workerNodesOf(url);
  const { shard, port } = await placeOf(url, tenantId);
  const from = nodes.find((node) => node.port === port);
  const to = nodes.find((node) => node.port !== port);
  if (from === undefined || to === undefined) throw new Error('The cluster needs two worker nodes');
  await moveShard(url, shard, from, to);
}

it.each([
  ['moves the shard of two workspaces', move],
  [
    'gives one of two workspaces a shard of its own',
    (url: string, { tenantId }: Tenant) => isolateWorkspace(url, tenantId),
  ],
])(
  '%s under load on two services: each event is stored once, and found',
  async (_name, change) => {
    const url = await freshDatabaseUrl('moved');
    const services: TestApp[] = [await startApp({}, url), await startApp({}, url)];
    try {
      const pair = await aPair(url);
      let isOver = false;
      const sending = pair.map(({ tenantId, adminKey }) => ({
        tenantId,
        sent: Promise.all(
          Array.from({ length: SENDERS }, (_unused, index) =>
            sendUntil(() => isOver, new Client(services[index % services.length]?.url ?? '', adminKey)),
          ),
        ),
      }));
      await change(url, pair[0]).finally(() => (isOver = true));
      for (const { tenantId, sent } of sending) await assertStoredOnce(url, tenantId, (await sent).flat());
      const client = new Client(services[0]?.url ?? '', pair[0].adminKey);
      for (const { event } of (await sending[0]?.sent)?.flat().slice(-20) ?? []) {
        expect([200, 202]).toContain((await client.post('/v1/external-events', event)).status);
      }
    } finally {
      await Promise.all(services.map((service) => service.stop()));
    }
  },
  SLOW_MS,
);

async function assertStoredOnce(url: string, tenantId: string, sent: readonly Sent[]): Promise<void> {
  // A copy after an answer 503 is a duplicate of an event that was stored all the same.
  const others = [...new Set(sent.map(({ status }) => status))].filter((status) => ![200, 202, 503].includes(status));
  expect(others).toEqual([]);
  const stored = new Set(sent.flatMap(({ status, eventId }) => (status === 503 ? [] : [eventId])));
  expect(stored.size).toBeGreaterThan(0);
  const [counted] = await rowsOf<{ events: number; known: number }>(
    url,
    `SELECT count(*)::int AS events, (count(*) FILTER (WHERE event_id = ANY ($2::uuid[])))::int AS known FROM events
     WHERE tenant_id = $1::uuid`,
    [tenantId, [...stored]],
  );
  expect(counted?.known).toBe(stored.size);
  const distinct = new Set(sent.map(({ event }) => event.external_event_id));
  expect(counted?.events).toBeLessThanOrEqual(distinct.size);
}
