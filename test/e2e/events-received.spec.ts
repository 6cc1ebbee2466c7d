import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, expectProblem, faultsOf, type Workspace } from '../support/client';
import { rowsOf, withClient } from '../support/database';
import { pagesOf } from '../support/pages';
import { until } from '../support/until';

const PATH = '/v1/events';
const START = '2026-01-01T00:00:00.000Z';

let service: SharedApp;
let workspace: Workspace;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  workspace = await aWorkspace(service);
});

/** Events that were received one millisecond after the other from `START` on, each `copies` times; the id of each is its millisecond. */
async function received(count: number, copies = 1): Promise<void> {
  await rowsOf(
    service.databaseUrl,
    `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
       profile_id, identity, properties, content_hash, batch_id)
     SELECT $1, gen_random_uuid(), 'external', CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, n::text || '.' || c, 'purchase', now(),
       $2::timestamptz + n * interval '1 ms', $3, '{}', '{}', '\\x00', gen_random_uuid()
     FROM generate_series(0, $4::int - 1) n, generate_series(1, $5::int) c`,
    [workspace.tenantId, START, randomUUID(), count, copies],
  );
}

const after = (ms: number): string => encodeURIComponent(new Date(Date.parse(START) + ms).toISOString());
const millisecondsOf = (items: readonly any[]): number[] =>
  items.map(({ receivedAt }) => Date.parse(receivedAt) - Date.parse(START));

describe('GET /v1/events?from=&to=', () => {
  it('lists what was received from the one time on and before the other', async () => {
    await received(5);
    const shown = async (query: string) => millisecondsOf((await workspace.admin.get(`${PATH}?${query}`)).body.items);
    expect(await shown(`from=${after(1)}&to=${after(3)}`)).toEqual([2, 1]);
    expect(await shown(`from=${after(3)}`)).toEqual([4, 3]);
    expect(await shown(`to=${after(2)}`)).toEqual([1, 0]);
    expect(await shown(`from=${after(2)}&to=${after(2)}`)).toEqual([]);
    expect(await shown(`from=${after(3)}&to=${after(1)}`)).toEqual([]);
    expect(await shown('from=2026-01-01T02:00:00.004%2B02:00')).toEqual([4]);
  });

  it('does so beside every other filter', async () => {
    await received(6);
    const shown = async (query: string) => millisecondsOf((await workspace.admin.get(`${PATH}?${query}`)).body.items);
    expect(await shown(`source=odd&from=${after(2)}`)).toEqual([5, 3]);
    expect(await shown(`source=even&state=queued&to=${after(4)}`)).toEqual([2, 0]);
    // By name; the stored id is that of the name only where the service has made it.
    const event = anExternalEvent();
    await workspace.admin.post('/v1/external-events', event);
    const name = `source=${String(event['source'])}&externalEventId=${String(event['external_event_id'])}`;
    const [{ receivedAt }] = (await workspace.admin.get(`${PATH}?${name}`)).body.items;
    const count = async (query: string) => (await workspace.admin.get(`${PATH}?${name}&${query}`)).body.items.length;
    const next = new Date(Date.parse(receivedAt) + 1).toISOString();
    expect([await count(`from=${receivedAt}`), await count(`from=${next}`)]).toEqual([1, 0]);
    expect([await count(`to=${receivedAt}`), await count(`to=${next}`)]).toEqual([0, 1]);
  });

  it.each([1, 3, 7, 200])(
    'shows each event once, %i at a time, while others come in, also of one millisecond',
    async (limit) => {
      await received(6, 4);
      const arrive = () => workspace.admin.post('/v1/external-events', anExternalEvent());
      const pages = await pagesOf(workspace.admin, `${PATH}?limit=${limit}&from=${after(1)}&to=${after(5)}`, arrive);
      const shown = pages.flat();
      expect(new Set(shown.map(({ eventId }) => eventId)).size).toBe(16);
      expect(millisecondsOf(shown)).toEqual([4, 3, 2, 1].flatMap((ms) => [ms, ms, ms, ms]));
      const all = await pagesOf(workspace.admin, `${PATH}?limit=${limit}&to=${after(6)}`, arrive);
      expect(new Set(all.flat().map(({ eventId }) => eventId)).size).toBe(24);
    },
  );

  it('says at its end that it is one, also where older events follow', async () => {
    await received(10);
    const { body } = await workspace.admin.get(`${PATH}?limit=2&from=${after(8)}`);
    expect([millisecondsOf(body.items), body.nextCursor]).toEqual([[9, 8], null]);
  });

  it('names both times that are none, and takes no cursor of other times', async () => {
    const wrong = await workspace.admin.get(`${PATH}?from=yesterday&to=2026-01-01T00:00:00`);
    expectProblem(wrong, 422, 'validation_failed', ['from format', 'to missing_offset']);
    const unescaped = await workspace.admin.get(`${PATH}?from=2026-01-01T00:00:00+01:00`);
    expectProblem(unescaped, 422, 'validation_failed', ['from format']);
    expect(unescaped.body.details[0].message).toMatch(/%2B/);
    await received(3);
    const { nextCursor } = (await workspace.admin.get(`${PATH}?limit=1&from=${after(0)}`)).body;
    const goesOn = await workspace.admin.get(`${PATH}?limit=1&from=${after(0)}&cursor=${nextCursor}`);
    expect(millisecondsOf(goesOn.body.items)).toEqual([1]);
    for (const query of ['', `&from=${after(1)}`, `&from=${after(0)}&to=${after(2)}`]) {
      const { status, body } = await workspace.admin.get(`${PATH}?limit=1&cursor=${nextCursor}${query}`);
      expect([status, faultsOf(body)]).toEqual([422, ['cursor format']]);
    }
  });
});

describe('GET /v1/events?order=asc', () => {
  it.each([1, 3, 7, 200])('shows each event once in the order of receipt, %i at a time', async (limit) => {
    await received(6, 4);
    const arrive = () => workspace.admin.post('/v1/external-events', anExternalEvent());
    const path = `${PATH}?limit=${limit}&from=${after(1)}&to=${after(5)}`;
    const shown = (await pagesOf(workspace.admin, `${path}&order=asc`, arrive)).flat();
    expect(new Set(shown.map(({ eventId }) => eventId)).size).toBe(16);
    expect(millisecondsOf(shown)).toEqual([1, 2, 3, 4].flatMap((ms) => [ms, ms, ms, ms]));
    expect((await pagesOf(workspace.admin, `${path}&order=desc`)).flat()).toEqual(shown.toReversed());
  });

  it('does so beside other filters, and still names one event at once', async () => {
    await received(6);
    const shown = async (query: string) => millisecondsOf((await workspace.admin.get(`${PATH}?${query}`)).body.items);
    expect(await shown(`source=odd&order=asc&from=${after(2)}`)).toEqual([3, 5]);
    const event = anExternalEvent();
    await workspace.admin.post('/v1/external-events', event);
    const name = `source=${String(event['source'])}&externalEventId=${String(event['external_event_id'])}`;
    const { body } = await workspace.admin.get(`${PATH}?${name}&order=asc`);
    expect([body.items.length, Object.keys(body)]).toEqual([1, ['items', 'nextCursor']]);
  });

  it('says before which time it is complete, and shows nothing later: who goes on there misses nothing', async () => {
    const seen: string[] = [];
    const sent: string[] = [];
    let from = START;
    const follow = async () => {
      const { items, nextCursor, completeBefore } = (
        await workspace.admin.get(`${PATH}?order=asc&limit=200&from=${from}`)
      ).body;
      expect(nextCursor).toBeNull();
      expect(items.every(({ receivedAt }: any) => receivedAt < completeBefore)).toBe(true);
      seen.push(...items.map((item: any) => item.eventId));
      from = completeBefore;
    };
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all(
        [0, 1, 2].map(() => workspace.admin.post('/v1/external-events', anExternalEvent())),
      );
      sent.push(...answers.map(({ body }) => body.event_id));
      await follow();
    }
    await until(async () => {
      await follow();
      return seen.length >= sent.length;
    });
    expect(seen.toSorted()).toEqual(sent.toSorted());
  });

  it('does not go past a transaction that still stores events', async () => {
    const list = async () => (await workspace.admin.get(`${PATH}?order=asc`)).body;
    await withClient(service.databaseUrl, async (client) => {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
           profile_id, identity, properties, content_hash, batch_id)
         SELECT $1, gen_random_uuid(), 'external', 'slow', '1', 'purchase', now(), date_trunc('milliseconds', clock_timestamp()),
           $2, '{}', '{}', '\\x00', gen_random_uuid()`,
        [workspace.tenantId, randomUUID()],
      );
      const { body } = await workspace.admin.post('/v1/external-events', anExternalEvent());
      const { receivedAt } = (await workspace.admin.get(`${PATH}/${body.event_id}`)).body;
      // Behind the second that a list keeps from the present in any case.
      await until(async () => Date.parse((await timeOf(service.databaseUrl)) ?? '') > Date.parse(receivedAt) + 1_500);
      const held = await list();
      expect(held.items).toEqual([]);
      expect(held.completeBefore < receivedAt).toBe(true);
      await client.query('COMMIT');
    });
    // On a cluster a list keeps five seconds from the present.
    await until(async () => (await list()).items.length > 0);
    expect((await list()).items.map(({ source }: any) => source)).toEqual(['slow', 'shop.orders']);
  });

  it('takes no cursor of the other order, and no other order', async () => {
    await received(3);
    const { nextCursor } = (await workspace.admin.get(`${PATH}?limit=1&order=asc`)).body;
    for (const query of ['', '&order=desc']) {
      const { status, body } = await workspace.admin.get(`${PATH}?limit=1&cursor=${nextCursor}${query}`);
      expect([status, faultsOf(body)]).toEqual([422, ['cursor format']]);
    }
    expect((await workspace.admin.get(`${PATH}?order=newest`)).status).toBe(422);
  });
});

/** By the database's clock. */
async function timeOf(databaseUrl: string): Promise<string | undefined> {
  const [row] = await rowsOf<{ at: Date }>(databaseUrl, 'SELECT clock_timestamp() AS at', []);
  return row?.at.toISOString();
}
