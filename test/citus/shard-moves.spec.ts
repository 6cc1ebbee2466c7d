import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { moveShard, placeOf, workerNodesOf } from '../support/citus';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { aTenant } from '../support/tenant';

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

it(
  'moves a workspace to another node under load on two services: each event is stored once, and found',
  async () => {
    const url = await freshDatabaseUrl('moved');
    const services: TestApp[] = [await startApp({}, url), await startApp({}, url)];
    try {
      const { tenantId, adminKey } = await aTenant(url);
      const clients = services.map((service) => new Client(service.url, adminKey));
      const nodes = await workerNodesOf(url);
      const { shard, port } = await placeOf(url, tenantId);
      const from = nodes.find((node) => node.port === port);
      const to = nodes.find((node) => node.port !== port);
      if (from === undefined || to === undefined) throw new Error('The cluster needs two worker nodes');
      let isOver = false;
      const sending = Array.from({ length: SENDERS }).flatMap((_unused, index) => {
        const client = clients[index % clients.length];
        return client === undefined ? [] : [sendUntil(() => isOver, client)];
      });
      await moveShard(url, shard, from, to);
      isOver = true;
      const sent = (await Promise.all(sending)).flat();
      // A copy after an answer 503 is a duplicate of an event that was stored all the same.
      expect(
        [...new Set(sent.map(({ status }) => status))].filter((status) => ![200, 202, 503].includes(status)),
      ).toEqual([]);
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
      for (const { event } of sent.slice(-20)) {
        const again = await clients[0]?.post('/v1/external-events', event);
        expect([200, 202]).toContain(again?.status);
      }
    } finally {
      await Promise.all(services.map((service) => service.stop()));
    }
  },
  SLOW_MS,
);
