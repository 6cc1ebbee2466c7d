import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aClient, type Client, expectProblem } from '../support/client';
import { pagesOf } from '../support/pages';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

interface Sent {
  readonly id: string;
  readonly occurredAt: string;
}

const DAY = 86_400_000;
const timeOf = (day: number): string => new Date(Date.UTC(2026, 0, 1) + day * DAY).toISOString();
const anEvent = (type: string, value: string, fields: object) =>
  anExternalEvent({ identity: { type, value }, ...fields });

/** Stores the events of a customer, one a day and two on every third, in an order of arrival that is not theirs. */
async function aTimeline(client: Client, customer: string, days: number): Promise<Sent[]> {
  const items = Array.from({ length: days }, (_unused, day) => [
    anEvent('EXTERNAL', customer, { occurred_at: timeOf(day), source: day % 2 === 0 ? 'even' : 'odd' }),
    ...(day % 3 === 0 ? [anEvent('EXTERNAL', customer, { occurred_at: timeOf(day), type: 'refund' })] : []),
  ]).flat();
  const arriving = items.toSorted((a, b) => (String(a['external_event_id']) < String(b['external_event_id']) ? -1 : 1));
  const { body } = await client.post('/v1/external-events:batch', { items: arriving });
  const sent: Sent[] = body.results.map(({ event_id: id }: { event_id: string }, index: number) => ({
    id,
    occurredAt: arriving[index]?.['occurred_at'],
  }));
  return sent.sort((a, b) => (a.occurredAt + a.id < b.occurredAt + b.id ? 1 : -1));
}

async function profileId(client: Client, value: string, type = 'EXTERNAL'): Promise<string> {
  return (await client.post('/v1/cdp/profiles:lookup', { type, value })).body.id;
}

/** All events of a timeline, page by page; `between` happens before each further page. */
async function walk(client: Client, path: string, between?: () => Promise<unknown>): Promise<any[]> {
  return (await pagesOf(client, path, between)).flat();
}

const idsOf = (items: readonly { eventId: string }[]) => items.map(({ eventId }) => eventId);

describe('GET /v1/cdp/profiles/{id}/events', () => {
  it('shows the records that GET /v1/events shows, newest occurrence first, equal times by id', async () => {
    const client = await aClient(service);
    const sent = await aTimeline(client, 'cust-1', 7);
    const id = await profileId(client, 'cust-1');
    const { body } = await client.get(`/v1/cdp/profiles/${id}/events`);
    expect(idsOf(body.items)).toEqual(sent.map((event) => event.id));
    expect(body.nextCursor).toBeNull();
    for (const record of body.items) {
      expect((await client.get(`/v1/events/${record.eventId}`)).body).toEqual(record);
    }
    expect(body.items[0]).toMatchObject({
      profileId: id,
      identity: { type: 'EXTERNAL', value: 'cu***' },
      processing: { state: 'queued' },
    });
  });

  it.each([
    ['desc', 1],
    ['desc', 3],
    ['desc', 200],
    ['asc', 1],
    ['asc', 4],
  ])('shows each event once (%s, %i at a time) while others arrive before and behind', async (order, limit) => {
    const client = await aClient(service);
    const sent = await aTimeline(client, 'cust-1', 12);
    const id = await profileId(client, 'cust-1');
    const ordered = order === 'desc' ? sent : sent.toReversed();
    // Behind the first page's place, where a page that counts rows would show an event again.
    const passed = order === 'desc' ? timeOf(40) : '2020-01-01T00:00:00Z';
    const seen = await walk(client, `/v1/cdp/profiles/${id}/events?order=${order}&limit=${limit}`, () =>
      client.post('/v1/external-events', anEvent('EXTERNAL', 'cust-1', { occurred_at: passed })),
    );
    expect(idsOf(seen)).toEqual(ordered.map((event) => event.id));
  });

  it('shows the events of all profiles that were merged into one, in one order', async () => {
    const client = await aClient(service);
    const people = [
      ['EMAIL', 'a@example.com'],
      ['EMAIL', 'b@example.com'],
      ['DEVICE', 'device-1'],
      ['EXTERNAL', 'cust-1'],
    ] as const;
    const items = Array.from({ length: 40 }, (_unused, day) => {
      const [type, value] = people[day % 4] ?? people[0];
      return anEvent(type, value, { occurred_at: timeOf(day) });
    });
    await client.post('/v1/external-events:batch', { items });
    await client.post('/v1/cdp/event-types', { eventType: 'login', properties: {} });
    for (const [field, value] of [
      ['email', 'a@example.com'],
      ['email', 'b@example.com'],
      ['deviceKey', 'device-1'],
    ] as const) {
      const identity = { externalUserId: 'cust-1', [field]: value };
      const login = {
        source: 'app',
        externalEventId: `login-${value}`,
        eventType: 'login',
        identity,
        occurredAt: timeOf(100),
      };
      expect((await client.post('/v1/cdp/events', login)).status).toBe(202);
    }
    const id = await profileId(client, 'b@example.com', 'EMAIL');
    const seen = await walk(client, `/v1/cdp/profiles/${id}/events?limit=7`);
    expect(seen).toHaveLength(43);
    expect(new Set(seen.map((record) => record.profileId))).toEqual(new Set([await profileId(client, 'cust-1')]));
    const times = seen.map((record) => record.occurredAt);
    expect(times).toEqual(times.toSorted().reverse());
  });

  it('shows at once what a merge brings, what its undo takes away, and nothing of an erased customer', async () => {
    const client = await aClient(service);
    await client.post('/v1/external-events', anEvent('EXTERNAL', 'cust-1', { occurred_at: timeOf(1) }));
    await client.post('/v1/external-events', anEvent('EMAIL', 'a@example.com', { occurred_at: timeOf(2) }));
    const known = await profileId(client, 'cust-1');
    const other = await profileId(client, 'a@example.com', 'EMAIL');
    const days = async (id: string): Promise<string[]> => {
      const { body } = await client.get(`/v1/cdp/profiles/${id}/events`);
      return body.items.map(({ occurredAt, profileId: owner }: { occurredAt: string; profileId: string }) => {
        return `${occurredAt.slice(8, 10)} ${owner === known ? 'known' : 'other'}`;
      });
    };
    expect([await days(known), await days(other)]).toEqual([['02 known'], ['03 other']]);

    await client.post('/v1/cdp/event-types', { eventType: 'login', properties: {} });
    const login = {
      source: 'app',
      externalEventId: 'login-1',
      eventType: 'login',
      occurredAt: timeOf(3),
      identity: { externalUserId: 'cust-1', email: 'a@example.com' },
    };
    expect((await client.post('/v1/cdp/events', login)).status).toBe(202);
    const all = ['04 known', '03 known', '02 known'];
    // Twice: the second time the node knows that there are two profiles.
    expect([await days(known), await days(known)]).toEqual([all, all]);
    expect([await days(other), await days(other)]).toEqual([all, all]);

    const [merge] = (await client.get(`/v1/cdp/profiles/${known}/merges`)).body.items;
    expect((await client.post(`/v1/cdp/merges/${merge.id}:undo`, {})).status).toBe(200);
    expect([await days(known), await days(other)]).toEqual([['04 known', '02 known'], ['03 other']]);

    expect((await client.post(`/v1/cdp/profiles/${known}:erase`, {})).status).toBe(200);
    expectProblem(await client.get(`/v1/cdp/profiles/${known}/events`), 404, 'not_found');
  });

  it('filters by type, source and time, the end of a span being open, in either order and over pages', async () => {
    const client = await aClient(service);
    const sent = await aTimeline(client, 'cust-1', 12);
    const id = await profileId(client, 'cust-1');
    const all = await walk(client, `/v1/cdp/profiles/${id}/events?limit=200`);
    const expectFound = async (query: string, fits: (record: any) => boolean) => {
      const expected = all.filter(fits).map((record) => record.eventId);
      expect(expected.length).toBeGreaterThan(0);
      expect(idsOf(await walk(client, `/v1/cdp/profiles/${id}/events?limit=2&${query}`))).toEqual(expected);
      const ascending = await walk(client, `/v1/cdp/profiles/${id}/events?limit=3&order=asc&${query}`);
      expect(idsOf(ascending)).toEqual(expected.toReversed());
    };
    const span = `from=${timeOf(3)}&to=${timeOf(6)}`;
    const isInSpan = (record: any) => record.occurredAt >= timeOf(3) && record.occurredAt < timeOf(6);
    await expectFound('eventType=refund', (record) => record.eventType === 'refund');
    await expectFound('source=odd', (record) => record.source === 'odd');
    await expectFound(span, isInSpan);
    await expectFound('from=2026-01-06T01:00:00%2B01:00', (record) => record.occurredAt >= timeOf(5));
    await expectFound(
      `${span}&eventType=purchase&source=even`,
      (record) => isInSpan(record) && record.source === 'even',
    );
    expect(sent).toHaveLength(16);
    expect((await client.get(`/v1/cdp/profiles/${id}/events?from=${timeOf(6)}&to=${timeOf(3)}`)).body.items).toEqual(
      [],
    );
  });

  it.each([
    ['from=yesterday', ['from format']],
    ['from=2026-01-02T03:04:05&to=2026-01-02', ['from missing_offset', 'to format']],
    ['order=newest', ['order enum']],
    ['cursor=garbage', ['cursor format']],
    ['limit=0', ['limit format']],
    ['family=cdp', ['family unknown_field']],
    [`source=${'x'.repeat(129)}`, ['source too_long']],
  ])('refuses ?%s', async (query, faults) => {
    const client = await aClient(service);
    await aTimeline(client, 'cust-1', 1);
    const id = await profileId(client, 'cust-1');
    expectProblem(await client.get(`/v1/cdp/profiles/${id}/events?${query}`), 422, 'validation_failed', faults);
  });
});
