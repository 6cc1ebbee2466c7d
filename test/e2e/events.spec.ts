import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, ANYTHING, anExternalEvent, PURCHASE, registerTypes } from '../support/builders';
import { aClient, aWorkspace, type Client, expectProblem, storedEvent } from '../support/client';
import { withClient } from '../support/database';
import { CURSOR_BEFORE_ALL_TIME, pagesOf } from '../support/pages';

const PATH = '/v1/events';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

/** Stores external events one after the other and answers their ids, oldest first. */
async function stored(client: Client, ...events: Record<string, unknown>[]): Promise<string[]> {
  const ids: string[] = [];
  for (const event of events) {
    const answer = await client.post('/v1/external-events', event);
    expect(answer.status).toBe(202);
    ids.push(answer.body.event_id);
  }
  return ids;
}

const idsOf = ({ items }: { items: readonly { eventId: string }[] }) => items.map(({ eventId }) => eventId);
const many = (count: number) =>
  Array.from({ length: count }, (_unused, place) => anExternalEvent({ attributes: { place } }));
const sourceAndId = (source: unknown, id: unknown) =>
  `source=${encodeURIComponent(String(source))}&externalEventId=${encodeURIComponent(String(id))}`;

describe('GET /v1/events/{eventId}', () => {
  it('shows the record that the list shows', async () => {
    const client = await aClient(service);
    const [id] = await stored(client, anExternalEvent());
    const one = await client.get(`${PATH}/${id}`);
    expect(one.status).toBe(200);
    expect((await client.get(PATH)).body.items).toEqual([one.body]);
  });

  it('answers 404 for ids that nobody has, that are no ids, and that belong to another workspace', async () => {
    const [owner, stranger] = [await aClient(service), await aClient(service)];
    const [id] = await stored(owner, anExternalEvent());
    for (const wrong of [randomUUID(), 'nobody', '%00', "'", '..%2f', id]) {
      expectProblem(await stranger.get(`${PATH}/${wrong}`), 404, 'not_found', []);
    }
  });
});

describe('GET /v1/events', () => {
  it('lists the newest first, 50 at a time, and says null at the end', async () => {
    const client = await aClient(service);
    expect((await client.get(PATH)).body).toEqual({ items: [], nextCursor: null });
    const ids = await stored(client, ...many(52));
    const first = await client.get(PATH);
    const second = await client.get(`${PATH}?cursor=${first.body.nextCursor}`);
    expect(idsOf(first.body)).toHaveLength(50);
    expect([...idsOf(first.body), ...idsOf(second.body)]).toHaveLength(52);
    expect(new Set([...idsOf(first.body), ...idsOf(second.body)])).toEqual(new Set(ids));
    const times = [...first.body.items, ...second.body.items].map(
      ({ receivedAt }: { receivedAt: string }) => receivedAt,
    );
    expect(times).toEqual(times.toSorted().reverse());
    expect(second.body.nextCursor).toBeNull();
  });

  it.each([1, 3, 10, 11, 200])('shows each event once, %i at a time, while others come in', async (limit) => {
    const client = await aClient(service);
    const items = many(10);
    await client.post('/v1/external-events:batch', { items });
    const old = new Set(idsOf((await client.get(PATH)).body));
    const pages = await pagesOf(client, `${PATH}?limit=${limit}`, () => stored(client, anExternalEvent()));
    const seen = pages.flat().map(({ eventId }) => eventId);
    expect(seen).toHaveLength(10);
    expect(new Set(seen)).toEqual(old);
  });

  it('answers "did you get it?" with the one event, or with an empty list', async () => {
    const client = await aClient(service);
    const event = anExternalEvent({ source: 'shop & sons: ü', external_event_id: 'a/b?c=d&e #1' });
    const [id] = await stored(client, anExternalEvent(), event, anExternalEvent());
    expect(id).toBeDefined();
    const ask = async (source: unknown, externalId: unknown) =>
      (await client.get(`${PATH}?${sourceAndId(source, externalId)}`)).body;
    const found = await ask(event['source'], event['external_event_id']);
    expect(found).toEqual({ items: [expect.objectContaining({ externalEventId: 'a/b?c=d&e #1' })], nextCursor: null });
    expect(await ask(event['source'], 'another')).toEqual({ items: [], nextCursor: null });
    expect(await ask('another', event['external_event_id'])).toEqual({ items: [], nextCursor: null });
  });

  it('filters by source, by id, by type and by family, and by all of them together', async () => {
    const client = await aClient(service);
    await registerTypes(client);
    const refund = { type: 'refund', source: 'crm' };
    await stored(
      client,
      anExternalEvent(),
      anExternalEvent({ type: 'refund' }),
      anExternalEvent({ ...refund, external_event_id: 'x' }),
    );
    await client.post('/v1/cdp/events', aCdpEvent({ source: 'crm' }));
    const count = async (query: string) => (await client.get(`${PATH}?${query}`)).body.items.length;
    expect(await count('source=shop.orders')).toBe(2);
    expect(await count('source=crm')).toBe(2);
    expect(await count('source=CRM')).toBe(0);
    expect(await count('externalEventId=x')).toBe(1);
    expect(await count('eventType=refund')).toBe(2);
    expect(await count('family=external')).toBe(3);
    expect(await count('family=cdp')).toBe(1);
    expect(await count('source=crm&eventType=refund&family=external')).toBe(1);
    expect(await count('source=crm&eventType=refund&family=cdp')).toBe(0);
    expect(await count(`${sourceAndId('crm', 'x')}&family=cdp`)).toBe(0);
    expect(await count('source=')).toBe(0);
  });

  it('keeps a filter over the pages', async () => {
    const client = await aClient(service);
    await stored(client, ...many(6).map((event, place) => ({ ...event, type: place % 2 === 0 ? 'even' : 'odd' })));
    const first = await client.get(`${PATH}?eventType=even&limit=2`);
    const second = await client.get(`${PATH}?eventType=even&limit=2&cursor=${first.body.nextCursor}`);
    const places = [...first.body.items, ...second.body.items].map(({ properties }) => properties.place);
    expect(places.sort()).toEqual([0, 2, 4]);
    expect(second.body.nextCursor).toBeNull();
  });

  it('says how many events it has looked at where few or none of them fit, and goes on behind them', async () => {
    const { tenantId, admin } = await aWorkspace(service);
    await withClient(service.databaseUrl, (database) =>
      database.query(
        `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
           profile_id, identity, properties, content_hash, batch_id)
         SELECT $1, gen_random_uuid(), 'external', CASE n WHEN 1 THEN 'rare' ELSE 'shop' END, n::text, 'purchase', now(),
           '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 ms', gen_random_uuid(), '{}', '{}', '\\x00', gen_random_uuid()
         FROM generate_series(1, 20001) n`,
        [tenantId],
      ),
    );
    const { body } = await admin.get(`${PATH}?source=rare`);
    expect(body).toEqual({ items: [], nextCursor: expect.any(String), scanned: 20_000 });
    const next = await admin.get(`${PATH}?source=rare&limit=1&cursor=${body.nextCursor}`);
    expect(next.body).toEqual({ items: [expect.objectContaining({ source: 'rare' })], nextCursor: null });
    expect((await admin.get(`${PATH}?source=shop&limit=2`)).body).not.toHaveProperty('scanned');
  });

  it('lists nothing of another workspace, by whatever question', async () => {
    const [owner, stranger] = [await aClient(service), await aClient(service)];
    const events = many(3);
    await stored(owner, ...events);
    const { nextCursor } = (await owner.get(`${PATH}?limit=1`)).body;
    for (const query of [
      '',
      '?source=shop.orders',
      `?${sourceAndId('shop.orders', events[0]?.['external_event_id'])}`,
    ]) {
      expect((await stranger.get(`${PATH}${query}`)).body).toEqual({ items: [], nextCursor: null });
    }
    expectProblem(await stranger.get(`${PATH}?cursor=${nextCursor}`), 422, 'validation_failed', ['cursor format']);
  });

  it.each([
    ['limit=0', 'limit format'],
    ['limit=201', 'limit format'],
    ['limit=-1', 'limit format'],
    ['limit=1.5', 'limit format'],
    ['limit=abc', 'limit format'],
    ['limit=', 'limit format'],
    ['limit=1e2', 'limit format'],
    ['cursor=', 'cursor format'],
    ['cursor=garbage', 'cursor format'],
    ['cursor=%00', 'cursor invalid_characters'],
    [`cursor=${Buffer.from('["a","b"]').toString('base64url')}`, 'cursor format'],
    [`cursor=${CURSOR_BEFORE_ALL_TIME}`, 'cursor format'],
    [`cursor=${'A'.repeat(600)}`, 'cursor too_long'],
    ['family=banana', 'family enum'],
    ['source=a&source=b', 'source type'],
    [`source=${'x'.repeat(129)}`, 'source too_long'],
    ['external_event_id=x', 'external_event_id unknown_field'],
    ['Source=x', 'Source unknown_field'],
    ['colour=red', 'colour unknown_field'],
    ['constructor=x', 'constructor unknown_field'],
    ['__proto__=x', '__proto__ unknown_field'],
    ['toString=x', 'toString unknown_field'],
  ])('refuses ?%s', async (query, fault) => {
    const client = await aClient(service);
    expectProblem(await client.get(`${PATH}?${query}`), 422, 'validation_failed', [fault]);
  });

  it.each(['source', 'externalEventId', 'eventType'])(
    'finds nothing, or refuses, where %s is text that no event can have',
    async (name) => {
      const client = await aClient(service);
      for (const text of ['%00', 'a%00b', '%ED%A0%80', '%FF', '%F0%9F']) {
        const { status, body } = await client.get(`${PATH}?${name}=${text}`);
        expect([status, body.items?.length ?? 0]).toEqual([status === 422 ? 422 : 200, 0]);
      }
    },
  );

  it('takes events:read and no other scope', async () => {
    const workspace = await aWorkspace(service);
    const reader = await workspace.client({ scopes: ['events:read'] });
    const writer = await workspace.client({ scopes: ['external-events:write', 'review:read', 'profiles:read'] });
    expect((await reader.get(PATH)).status).toBe(200);
    expectProblem(await writer.get(PATH), 403, 'insufficient_scope');
    expectProblem(await writer.get(`${PATH}/${randomUUID()}`), 403, 'insufficient_scope');
  });
});

describe('what a view of an event hides', () => {
  it.each([
    [
      { type: 'EXTERNAL', value: 'abcdef' },
      { type: 'EXTERNAL', value: 'ab***' },
    ],
    [
      { type: 'email', value: 'jane@example.com' },
      { type: 'email', value: 'j***@e***.com' },
    ],
    [
      { type: 'PHONE', value: '+4915112345612' },
      { type: 'PHONE', value: '+49*******12' },
    ],
    [
      { type: 'DEVICE', value: 'abc' },
      { type: 'DEVICE', value: '***' },
    ],
  ])('shows the identity %j as %j', async (identity, shown) => {
    const client = await aClient(service);
    const answer = await client.post('/v1/external-events', anExternalEvent({ identity }));
    expect(await storedEvent(client, answer)).toMatchObject({ identity: shown });
  });

  it('shows contact data in properties masked, by its name or by its look, and everything else as it is', async () => {
    const client = await aClient(service);
    const attributes = {
      amount: 29.33,
      contactEmail: 'none-yet',
      note: 'call +49 151 123456 12 or jane@example.com',
      sku: 'A-1',
    };
    const event = await storedEvent(client, await client.post('/v1/external-events', anExternalEvent({ attributes })));
    expect(event.properties).toMatchObject({ amount: 29.33, sku: 'A-1' });
    const text = JSON.stringify(event);
    for (const hidden of ['none-yet', '123456', 'jane@']) expect(text).not.toContain(hidden);
  });

  it('shows properties that their type declares personal masked, at any depth, and from the declaration on', async () => {
    const client = await aClient(service);
    await registerTypes(client, [ANYTHING, PURCHASE]);
    const deep = {
      eventType: 'anything',
      properties: { order: { nickname: 'Zaphod-1', list: [{ nickname: 'Zaphod-2' }] } },
    };
    const [named, nested] = [
      await client.post('/v1/cdp/events', aCdpEvent({ properties: { amount: 1, nickname: 'Zaphod-0' } })),
      await client.post('/v1/cdp/events', aCdpEvent(deep)),
    ];
    expect(await storedEvent(client, named)).toMatchObject({ properties: { amount: 1, nickname: 'Za***' } });
    expect(JSON.stringify(await storedEvent(client, nested))).toContain('Zaphod-1');
    await registerTypes(client, [{ ...ANYTHING, properties: { nickname: { type: 'string', pii: true } } }]);
    expect(JSON.stringify(await storedEvent(client, nested))).not.toContain('Zaphod');
    expect(JSON.stringify((await client.get(PATH)).body)).not.toContain('Zaphod');
  });
});
