import { sharedApp, type SharedApp } from '../support/app';
import {
  aCdpEvent,
  anExternalEvent,
  EXTERNAL_EVENTS,
  CDP_EVENTS,
  INGEST_FAMILIES,
  registerTypes,
  shuffled,
} from '../support/builders';
import { type Answer, aReadyClient, aWorkspace, type Client, reviewEntries, theReviewEntry } from '../support/client';
import { QUEUED_EVENTS } from '../support/processing';
import { withClient } from '../support/database';
import { reopen } from '../support/review';

const COPIES = 64;

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

/** Ids by status; an answer of another kind has the ids of none. */
function settled(results: readonly { status: string; event_id?: string; original_event_id?: string }[]) {
  return {
    accepted: results.flatMap(({ status, event_id }) => (status === 'accepted' ? [event_id] : [])),
    duplicates: results.flatMap(({ status, original_event_id }) => (status === 'duplicate' ? [original_event_id] : [])),
  };
}

const bodiesOf = (answers: readonly Answer[]) => answers.map(({ body }) => body);
const storedCount = async (client: Client) => (await client.get('/v1/events?limit=200')).body.items.length;

describe.each(INGEST_FAMILIES)(
  'deduplication in the $family family',
  ({ path, batchPath, anEvent, anEventWith, id, properties }) => {
    it(`accepts one of ${COPIES} simultaneous copies and names it to the other ${COPIES - 1}`, async () => {
      const client = await aReadyClient(service);
      const event = anEvent();
      const answers = await Promise.all(Array.from({ length: COPIES }, () => client.post(path, event)));
      const { accepted, duplicates } = settled(bodiesOf(answers));
      expect(accepted).toHaveLength(1);
      expect(duplicates).toEqual(Array.from({ length: COPIES - 1 }, () => accepted[0]));
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array.from({ length: COPIES - 1 }, () => 200),
        202,
      ]);
      expect(await storedCount(client)).toBe(1);
    });

    it('accepts each id of twelve shuffled copies of one batch once', async () => {
      const client = await aReadyClient(service);
      const items = Array.from({ length: 100 }, (_unused, place) => anEventWith({ place }));
      const copies = Array.from({ length: 12 }, () => shuffled(items));
      const answers = await Promise.all(copies.map((copy) => client.post(batchPath, { items: copy })));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const named = new Map<unknown, Set<unknown>>();
      answers.forEach(({ body }, copy) => {
        body.results.forEach((result: any, place: number) => {
          const key = copies[copy]?.[place]?.[id];
          named.set(key, (named.get(key) ?? new Set()).add(result.event_id ?? result.original_event_id));
        });
      });
      const { accepted, duplicates } = settled(answers.flatMap(({ body }) => body.results));
      expect([accepted.length, duplicates.length]).toEqual([100, 1_100]);
      expect(new Set(accepted).size).toBe(100);
      // Each id was answered with one event, and no two ids with the same one.
      expect([...named.values()].map((ids) => ids.size)).toEqual(Array.from({ length: 100 }, () => 1));
      expect(new Set([...named.values()].flatMap((ids) => [...ids]))).toEqual(new Set(accepted));
      expect(await storedCount(client)).toBe(100);
      expect(await reviewEntries(client)).toEqual([]);
    });

    it('keeps apart what differs in source, in id, or only in where one ends and the other begins', async () => {
      const client = await aReadyClient(service);
      const names = [
        ['a', 'b'],
        ['a', 'B'],
        ['A', 'b'],
        ['a:b', 'c'],
        ['a', 'b:c'],
        ['a ', 'b'],
        ['a', ' b'],
        ['ab', 'c'],
        ['a', 'bc'],
        ['ä', 'b'],
        ['a\u0308', 'b'],
      ];
      const answers = [];
      for (const [source, externalId] of names)
        answers.push(await client.post(path, anEvent({ source, [id]: externalId })));
      const { accepted } = settled(bodiesOf(answers));
      expect(new Set(accepted).size).toBe(names.length);
    });

    it('keeps a reused id with other content as a duplicate, and opens a payload_mismatch warning', async () => {
      const client = await aReadyClient(service);
      const event = anEventWith({ amount: 1 });
      const first = await client.post(path, event);
      const other = await client.post(path, { ...event, [properties]: { amount: 2 } });
      expect([other.status, other.body]).toEqual([
        200,
        { status: 'duplicate', original_event_id: first.body.event_id },
      ]);
      expect(await theReviewEntry(client)).toMatchObject({
        severity: 'warning',
        reason: 'payload_mismatch',
        source: 'shop.orders',
        externalEventId: event[id],
        eventId: first.body.event_id,
        status: 'open',
        occurrences: 1,
      });
      const [stored] = (await client.get('/v1/events')).body.items;
      expect(stored.properties).toEqual({ amount: 1 });
    });

    it('counts each copy that differs from the stored event as a mismatch, and no other', async () => {
      const [alike, mixed] = [await aReadyClient(service), await aReadyClient(service)];
      const event = anEventWith({ amount: 1 });
      const other = { ...event, [properties]: { amount: 2 } };
      for (const client of [alike, mixed]) await client.post(path, event);
      await alike.post(batchPath, { items: [other, other] });
      await mixed.post(batchPath, { items: [other, event] });
      expect(await theReviewEntry(alike)).toMatchObject({ reason: 'payload_mismatch', occurrences: 2 });
      expect(await theReviewEntry(mixed)).toMatchObject({ reason: 'payload_mismatch', occurrences: 1 });
    });

    it('notices another content within one batch too', async () => {
      const client = await aReadyClient(service);
      const event = anEventWith({ amount: 1 });
      await client.post(batchPath, { items: [event, { ...event, [properties]: { amount: 2 } }, event] });
      expect(await theReviewEntry(client)).toMatchObject({ reason: 'payload_mismatch', occurrences: 1 });
    });

    it('never deduplicates across workspaces', async () => {
      const clients = [await aReadyClient(service), await aReadyClient(service)];
      const event = anEvent();
      const answers = await Promise.all(clients.map((client) => client.post(path, event)));
      const { accepted } = settled(bodiesOf(answers));
      expect(accepted).toHaveLength(2);
      expect(new Set(accepted).size).toBe(2);
      expect(await Promise.all(clients.map(storedCount))).toEqual([1, 1]);
    });
  },
);

describe('deduplication across the families', () => {
  it.each([
    [EXTERNAL_EVENTS, CDP_EVENTS],
    [CDP_EVENTS, EXTERNAL_EVENTS],
  ])('has one name space: what the first took, the second calls a duplicate', async (one, other) => {
    const client = await aReadyClient(service);
    const names = (ids: typeof one) => ({ source: 'shop.orders', [ids.id]: 'order-4711' });
    const first = await client.post(one.path, one.anEvent(names(one)));
    expect(first.status).toBe(202);
    const second = await client.post(other.path, other.anEvent(names(other)));
    expect([second.status, second.body]).toEqual([
      200,
      { status: 'duplicate', original_event_id: first.body.event_id },
    ]);
    const batch = await client.post(other.batchPath, { items: [other.anEvent(names(other))] });
    expect(batch.body.results).toEqual([{ status: 'duplicate', original_event_id: first.body.event_id }]);
    expect((await client.get('/v1/events')).body.items).toMatchObject([{ family: one.family }]);
  });

  it('calls the same fact told in both families a plain duplicate, without a warning', async () => {
    const client = await aReadyClient(service);
    const names = { source: 'shop.orders', occurred: '2026-01-02T03:04:05Z', customer: 'customer-0001' };
    await client.post(
      EXTERNAL_EVENTS.path,
      anExternalEvent({
        external_event_id: 'order-4711',
        identity: { type: 'external_user_id', value: names.customer },
      }),
    );
    const again = await client.post(
      CDP_EVENTS.path,
      aCdpEvent({
        externalEventId: 'order-4711',
        occurredAt: '2026-01-02T04:04:05+01:00',
        identity: { externalUserId: names.customer },
      }),
    );
    expect(again.status).toBe(200);
    expect(await reviewEntries(client)).toEqual([]);
  });

  it(`accepts one of ${COPIES} simultaneous copies that come by all four endpoints`, async () => {
    const client = await aReadyClient(service);
    const sends = INGEST_FAMILIES.flatMap(({ path, batchPath, anEvent, id, anIdentity }) => {
      const event = anEvent({ [id]: 'order-4711', identity: anIdentity('EXTERNAL', 'customer-0001') });
      return [
        async () => [(await client.post(path, event)).body],
        async () => (await client.post(batchPath, { items: [event, anEvent(), event] })).body.results.toSpliced(1, 1),
      ];
    });
    const results = await Promise.all(
      shuffled(Array.from({ length: COPIES / 4 }, () => sends).flat()).map((send) => send()),
    );
    const { accepted, duplicates } = settled(results.flat());
    expect(accepted).toHaveLength(1);
    expect(new Set(duplicates)).toEqual(new Set(accepted));
    expect(duplicates).toHaveLength(COPIES / 2 + COPIES - 1);
  });

  it('queues each accepted event once, and nothing else', async () => {
    const client = await aReadyClient(service);
    const event = anExternalEvent();
    const { body } = await client.post(EXTERNAL_EVENTS.path, event);
    await client.post(EXTERNAL_EVENTS.path, event);
    await client.post(EXTERNAL_EVENTS.batchPath, { items: [event, { ...event, identity: {} }] });
    const queued = await withClient(service.databaseUrl, async (database) => {
      const text = `SELECT event_id FROM ${QUEUED_EVENTS} q WHERE event_id = $1`;
      return (await database.query(text, [body.event_id])).rows;
    });
    expect(queued).toEqual([{ event_id: body.event_id }]);
  });
});

describe('a copy of a stored event that would be refused now', () => {
  const PURCHASES = '/v1/cdp/events';
  const BATCH = '/v1/cdp/events/batch';
  const STRICTER = {
    eventType: 'visit',
    properties: { page: { type: 'string', required: true } },
    force: true,
  };

  /** A stored event, whose type asks for more since. */
  async function aStrictlyTypedEvent(): Promise<{ client: Client; event: Record<string, unknown>; duplicate: object }> {
    const client = await aReadyClient(service);
    await client.post('/v1/cdp/event-types', { eventType: 'visit', properties: { page: { type: 'string' } } });
    const event = aCdpEvent({ eventType: 'visit', properties: {} });
    const { status, body } = await client.post(PURCHASES, event);
    expect(status).toBe(202);
    expect((await client.post('/v1/cdp/event-types', STRICTER)).status).toBe(201);
    expect((await client.post(PURCHASES, aCdpEvent({ eventType: 'visit', properties: {} }))).status).toBe(422);
    const [entry] = await reviewEntries(client);
    await client.post(`/v1/review-entries/${entry.id}:dismiss`, {});
    return { client, event, duplicate: { status: 'duplicate', original_event_id: body.event_id } };
  }

  it('is a duplicate after a stricter version of its type was registered; nothing is opened in review', async () => {
    const { client, event, duplicate } = await aStrictlyTypedEvent();
    for (const query of ['?dry_run=true', '']) {
      const single = await client.post(`${PURCHASES}${query}`, event);
      expect([single.status, single.body]).toEqual([200, duplicate]);
      const batch = await client.post(`${BATCH}${query}`, { items: [event, aCdpEvent(), event] });
      expect(batch.body.results).toEqual([duplicate, expect.objectContaining({ status: 'accepted' }), duplicate]);
    }
    expect(await reviewEntries(client, '&status=open')).toEqual([]);
  });

  it('that says something else is a duplicate with a warning, however wrong it is', async () => {
    const { client, event, duplicate } = await aStrictlyTypedEvent();
    for (const fields of [{ properties: { page: 7 } }, { identity: {} }, { eventType: 'nobody registered this' }]) {
      const { status, body } = await client.post(PURCHASES, { ...event, ...fields });
      expect([status, body]).toEqual([200, duplicate]);
    }
    expect(await reviewEntries(client, '&status=open')).toMatchObject([
      { severity: 'warning', reason: 'payload_mismatch', occurrences: 3, externalEventId: event['externalEventId'] },
    ]);
  });

  it.each(INGEST_FAMILIES)(
    'is a duplicate for a key that may not send its source any more ($family)',
    async ({ path, batchPath, anEvent }) => {
      const workspace = await aWorkspace(service);
      await registerTypes(workspace.admin);
      const event = anEvent();
      const { body } = await workspace.admin.post(path, event);
      const duplicate = { status: 'duplicate', original_event_id: body.event_id };
      const scopes = ['external-events:write', 'cdp-events:write'] as const;
      const other = await workspace.client({ scopes, sources: ['another.source'] });
      expect((await other.post(path, event)).body).toEqual(duplicate);
      expect((await other.post(batchPath, { items: [event] })).body.results).toEqual([duplicate]);
      expect((await other.post(path, anEvent())).status).toBe(403);
      expect(await reviewEntries(workspace.admin)).toMatchObject([{ reason: 'source_not_allowed', occurrences: 1 }]);
    },
  );

  it('is a duplicate of the event before it in the same batch, and refused where that one is refused', async () => {
    const client = await aReadyClient(service);
    const [good, bad] = [aCdpEvent(), aCdpEvent()];
    const broken = { ...good, identity: {} };
    const items = [good, broken, { ...bad, eventType: 'nobody registered this' }, { ...bad, identity: {} }];
    for (const query of ['?dry_run=true', '']) {
      const { body } = await client.post(`${BATCH}${query}`, { items });
      expect(body.results.map(({ status }: { status: string }) => status)).toEqual([
        ...['accepted', 'duplicate', 'error', 'error'],
      ]);
      expect(body.results[1].original_event_id).toBe(body.results[0].event_id);
    }
    const reasons = (await reviewEntries(client)).map(({ reason }) => reason);
    expect(reasons.sort()).toEqual(['identity_required', 'payload_mismatch', 'unregistered_event_type']);
  });

  it('replayed from review, closes its entry', async () => {
    const client = await aReadyClient(service);
    const event = aCdpEvent({ eventType: 'visit', properties: { page: 'start' } });
    expect((await client.post(PURCHASES, event)).status).toBe(422);
    const entry = await theReviewEntry(client);
    await client.post('/v1/cdp/event-types', { eventType: 'visit', properties: { page: { type: 'string' } } });
    expect((await client.post(PURCHASES, event)).status).toBe(202);
    await client.post('/v1/cdp/event-types', {
      eventType: 'visit',
      properties: { page: { type: 'integer' } },
      force: true,
    });
    await reopen(service.databaseUrl, entry);
    const { body } = await client.send(`/v1/review-entries/${entry.id}:replay`, undefined);
    expect([body.outcome.status, body.reviewEntry.status]).toEqual(['duplicate', 'replayed']);
  });
});
