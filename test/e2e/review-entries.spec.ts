import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, anExternalEvent, registerTypes } from '../support/builders';
import { aClient, aWorkspace, type Client, expectProblem, reviewEntries, theReviewEntry } from '../support/client';
import { CURSOR_BEFORE_ALL_TIME, pagesOf } from '../support/pages';

const PATH = '/v1/review-entries';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

/** Sends external events that lack an identity, one after the other. */
async function refused(client: Client, ...events: Record<string, unknown>[]): Promise<void> {
  for (const event of events) {
    expect((await client.post('/v1/external-events', { ...event, identity: undefined })).status).toBe(422);
  }
}

const many = (count: number) => Array.from({ length: count }, () => anExternalEvent());
const idsOf = ({ items }: { items: readonly { id: string }[] }) => items.map(({ id }) => id);

describe('GET /v1/review-entries/{id}', () => {
  it('shows a refusal with every field, the payload masked', async () => {
    const client = await aClient(service);
    const event = anExternalEvent({ occurred_at: 'yesterday', identity: { type: 'EMAIL', value: 'jane@example.com' } });
    const { body } = await client.post('/v1/external-events', event);
    const entry = await theReviewEntry(client);
    expect(entry).toEqual({
      id: expect.stringMatching(/\S/),
      severity: 'error',
      stage: 'validation',
      reason: 'format',
      message: body.message,
      details: body.details,
      family: 'external',
      source: 'shop.orders',
      externalEventId: event['external_event_id'],
      eventType: 'purchase',
      payload: { ...event, identity: { type: 'EMAIL', value: 'j***@e***.com' } },
      payloadState: 'whole',
      occurrences: 1,
      firstSeenAt: TIME,
      lastSeenAt: entry.firstSeenAt,
      status: 'open',
      resolution: null,
    });
    expect((await client.get(`${PATH}/${entry.id}`)).body).toEqual(entry);
  });

  it('shows a warning with the id of the event that was stored', async () => {
    const client = await aClient(service);
    const event = anExternalEvent({
      occurred_at: '2999-01-01T00:00:00Z',
      identity: { type: 'EXTERNAL', value: 'abcdef' },
    });
    const { body } = await client.post('/v1/external-events', event);
    expect(await theReviewEntry(client)).toMatchObject({
      severity: 'warning',
      reason: 'clock_skew',
      message: expect.stringMatching(/\S/),
      family: 'external',
      source: 'shop.orders',
      externalEventId: event['external_event_id'],
      eventType: 'purchase',
      eventId: body.event_id,
      occurrences: 1,
      status: 'open',
      resolution: null,
    });
  });

  it('shows the payload of a warning as it was sent, masked', async () => {
    const client = await aClient(service);
    const event = anExternalEvent({
      occurred_at: '2999-01-01T00:00:00Z',
      identity: { type: 'EXTERNAL', value: 'abcdef' },
    });
    await client.post('/v1/external-events', event);
    expect((await theReviewEntry(client)).payload).toEqual({
      ...event,
      identity: { type: 'EXTERNAL', value: 'ab***' },
    });
  });

  it('answers 404 for ids that nobody has, that are no ids, and that belong to another workspace', async () => {
    const [owner, stranger] = [await aClient(service), await aClient(service)];
    await refused(owner, anExternalEvent());
    const { id } = await theReviewEntry(owner);
    for (const wrong of [randomUUID(), 'nobody', '%00', "'", id]) {
      expectProblem(await stranger.get(`${PATH}/${wrong}`), 404, 'not_found', []);
    }
  });
});

describe('GET /v1/review-entries', () => {
  it('lists the newest first, 50 at a time, and says null at the end', async () => {
    const client = await aClient(service);
    expect((await client.get(PATH)).body).toEqual({ items: [], nextCursor: null });
    const events = many(52);
    await refused(client, ...events);
    const first = await client.get(PATH);
    const second = await client.get(`${PATH}?cursor=${first.body.nextCursor}`);
    const items = [...first.body.items, ...second.body.items];
    expect([first.body.items.length, items.length, second.body.nextCursor]).toEqual([50, 52, null]);
    expect(new Set(items.map(({ externalEventId }) => externalEventId))).toEqual(
      new Set(events.map((event) => event['external_event_id'])),
    );
    const times = items.map(({ firstSeenAt }) => firstSeenAt);
    expect(times).toEqual(times.toSorted().reverse());
  });

  it.each([1, 3, 10, 200])(
    'shows each entry once, %i at a time, while others come in and old ones are counted up',
    async (limit) => {
      const client = await aClient(service);
      const events = many(10);
      await refused(client, ...events);
      const old = new Set(idsOf((await client.get(PATH)).body));
      const pages = await pagesOf(client, `${PATH}?limit=${limit}`, () =>
        refused(client, anExternalEvent(), ...events.slice(0, 1), ...events.slice(-1)),
      );
      const seen = pages.flat().map(({ id }) => id);
      expect(seen).toHaveLength(10);
      expect(new Set(seen)).toEqual(old);
    },
  );

  it('filters by status, reason, source and event type, and by all of them together', async () => {
    const client = await aClient(service);
    await registerTypes(client);
    const corrected = anExternalEvent({ source: 'crm' });
    await refused(client, anExternalEvent(), corrected, anExternalEvent({ type: 'refund' }));
    await client.post('/v1/external-events', corrected);
    await client.post('/v1/cdp/events', aCdpEvent({ eventType: 'refund' }));
    const count = async (query: string) => (await client.get(`${PATH}?${query}`)).body.items.length;
    expect(await count('')).toBe(4);
    expect(await count('status=open')).toBe(3);
    expect(await count('status=superseded')).toBe(1);
    expect(await count('status=replayed')).toBe(0);
    expect(await count('status=dismissed')).toBe(0);
    expect(await count('reason=required')).toBe(3);
    expect(await count('reason=unregistered_event_type')).toBe(1);
    expect(await count('source=crm')).toBe(1);
    expect(await count('eventType=refund')).toBe(2);
    expect(await count('eventType=refund&reason=required&source=shop.orders&status=open')).toBe(1);
    expect(await count('reason=nothing-like-it')).toBe(0);
    expect([await count('stage=validation'), await count('stage=contract')]).toEqual([3, 1]);
    expect(await count('stage=processing')).toBe(0);
  });

  it('keeps a filter over the pages', async () => {
    const client = await aClient(service);
    await refused(client, ...many(6).map((event, place) => ({ ...event, type: place % 2 === 0 ? 'even' : 'odd' })));
    const first = await client.get(`${PATH}?eventType=even&limit=2`);
    const second = await client.get(`${PATH}?eventType=even&limit=2&cursor=${first.body.nextCursor}`);
    expect([first.body.items.length, second.body.items.length, second.body.nextCursor]).toEqual([2, 1, null]);
  });

  it('lists nothing of another workspace', async () => {
    const [owner, stranger] = [await aClient(service), await aClient(service)];
    await refused(owner, ...many(3));
    const { nextCursor } = (await owner.get(`${PATH}?limit=1`)).body;
    for (const query of ['', '?source=shop.orders', '?reason=required']) {
      expect((await stranger.get(`${PATH}${query}`)).body).toEqual({ items: [], nextCursor: null });
    }
    expectProblem(await stranger.get(`${PATH}?cursor=${nextCursor}`), 422, 'validation_failed', ['cursor format']);
  });

  it.each([
    ['limit=0', 'limit format'],
    ['limit=201', 'limit format'],
    ['limit=abc', 'limit format'],
    ['cursor=garbage', 'cursor format'],
    [`cursor=${CURSOR_BEFORE_ALL_TIME}`, 'cursor format'],
    ['status=banana', 'status enum'],
    ['status=OPEN', 'status enum'],
    ['reason=a&reason=b', 'reason type'],
    ['colour=red', 'colour unknown_field'],
    ['event_type=x', 'event_type unknown_field'],
    ['constructor=x', 'constructor unknown_field'],
  ])('refuses ?%s', async (query, fault) => {
    const client = await aClient(service);
    expectProblem(await client.get(`${PATH}?${query}`), 422, 'validation_failed', [fault]);
  });

  it.each(['source', 'reason', 'eventType'])(
    'finds nothing, or refuses, where %s is text that no entry can have',
    async (name) => {
      const client = await aClient(service);
      for (const text of ['%00', 'a%00b', '%ED%A0%80', '%FF']) {
        const { status, body } = await client.get(`${PATH}?${name}=${text}`);
        expect([status, body.items?.length ?? 0]).toEqual([status === 422 ? 422 : 200, 0]);
      }
    },
  );

  it('takes review:read and no other scope', async () => {
    const workspace = await aWorkspace(service);
    const reader = await workspace.client({ scopes: ['review:read'] });
    const other = await workspace.client({ scopes: ['external-events:write', 'events:read', 'review:write'] });
    expect((await reader.get(PATH)).status).toBe(200);
    expectProblem(await other.get(PATH), 403, 'insufficient_scope');
    expectProblem(await other.get(`${PATH}/${randomUUID()}`), 403, 'insufficient_scope');
    expect(await reviewEntries(workspace.admin)).toEqual([]);
  });
});

it('shows a body with a byte order mark that was refused for its query', async () => {
  const client = await aClient(service);
  const text = `\ufeff${JSON.stringify(anExternalEvent())}`;
  expect((await client.send('/v1/external-events?dry_run=perhaps', text)).status).toBe(422);
  expect((await theReviewEntry(client)).payload).toMatchObject({ source: 'shop.orders' });
});
