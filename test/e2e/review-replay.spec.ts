import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, anExternalEvent, INGEST_FAMILIES, PURCHASE, registerTypes } from '../support/builders';
import { aClient, aWorkspace, type Answer, type Client, expectProblem, reviewEntries } from '../support/client';
import { theReviewEntry } from '../support/client';
import { withClient } from '../support/database';
import { reopen } from '../support/review';

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

const replay = (client: Client, { id }: { id: string }, body?: object): Promise<Answer> =>
  client.send(`/v1/review-entries/${id}:replay`, body === undefined ? undefined : JSON.stringify(body));

const eventsOf = async (client: Client, query = ''): Promise<any[]> =>
  (await client.get(`/v1/events?limit=200${query}`)).body.items;

/** A CDP event that was refused because nobody had registered its type, and its entry. */
async function anEarlyEvent(client: Client, fields: Record<string, unknown> = {}): Promise<{ event: any; entry: any }> {
  const event = aCdpEvent(fields);
  expect((await client.post('/v1/cdp/events', event)).status).toBe(422);
  return { event, entry: await theReviewEntry(client) };
}

describe('POST /v1/review-entries/{id}:replay', () => {
  it('stores the event under its own id and first time of receipt, and says so in the answer and in the entry', async () => {
    const client = await aClient(service);
    const { event, entry } = await anEarlyEvent(client, { occurredAt: undefined });
    await registerTypes(client);
    const { status, body } = await replay(client, entry);
    expect([status, body.outcome]).toEqual([200, { status: 'accepted', event_id: expect.stringMatching(/\S/) }]);
    const eventId = body.outcome.event_id;
    expect(body.reviewEntry).toEqual({
      ...entry,
      status: 'replayed',
      eventId,
      resolution: { action: 'replayed', outcome: 'accepted', eventId, at: TIME, by: expect.stringMatching(/\S/) },
    });
    expect((await client.get(`/v1/review-entries/${entry.id}`)).body).toEqual(body.reviewEntry);
    const [stored, ...others] = await eventsOf(client);
    expect(others).toEqual([]);
    expect(stored).toMatchObject({ eventId, externalEventId: event.externalEventId, eventTypeVersion: 1 });
    expect([stored.receivedAt, stored.occurredAt]).toEqual([entry.firstSeenAt, entry.firstSeenAt]);
    expect((await client.post('/v1/cdp/events', event)).body).toEqual({
      status: 'duplicate',
      original_event_id: eventId,
    });
  });

  it.each(INGEST_FAMILIES)('takes a corrected payload of the $family family', async (ingest) => {
    const client = await aClient(service);
    await registerTypes(client);
    const event = ingest.anEvent({ identity: {} });
    await client.post(ingest.path, event);
    const entry = await theReviewEntry(client);
    const payload = { ...event, identity: ingest.anIdentity('EXTERNAL', 'customer-42') };
    const { body } = await replay(client, entry, { payload });
    expect(body.outcome.status).toBe('accepted');
    expect(body.reviewEntry).toMatchObject({ status: 'replayed', resolution: { corrected: true } });
    expect(await eventsOf(client)).toMatchObject([
      { externalEventId: event[ingest.id], receivedAt: entry.firstSeenAt },
    ]);
  });

  it('refused again, leaves the entry open with one more occurrence, and its resolution tells why', async () => {
    const client = await aClient(service);
    const { event, entry } = await anEarlyEvent(client);
    for (const occurrences of [2, 3]) {
      const { status, body } = await replay(client, entry);
      expect([status, body.outcome]).toMatchObject([200, { status: 'error', error_code: 'validation_failed' }]);
      const { message, details } = body.outcome;
      expect(body.reviewEntry).toEqual({
        ...entry,
        occurrences,
        lastSeenAt: TIME,
        resolution: {
          action: 'replayed',
          outcome: 'error',
          errorCode: 'validation_failed',
          at: TIME,
          reason: 'unregistered_event_type',
          message,
          details,
          by: expect.any(String),
        },
      });
    }
    await registerTypes(client);
    const { body } = await replay(client, entry, { payload: { ...event, properties: {} } });
    expect(body.reviewEntry.resolution).toMatchObject({ outcome: 'error', reason: 'required', corrected: true });
    expect(await reviewEntries(client)).toHaveLength(1);
    expect((await replay(client, entry)).body.outcome.status).toBe('accepted');
  });

  it('sends the event as what it was refused last: of which family, and at which stage', async () => {
    const client = await aClient(service);
    const event = aCdpEvent({ properties: {} });
    const { source, externalEventId } = event;
    await client.post('/v1/external-events', { source, external_event_id: externalEventId });
    expect(await theReviewEntry(client)).toMatchObject({ family: 'external', stage: 'validation', reason: 'required' });
    await registerTypes(client, [PURCHASE]);
    await client.post('/v1/cdp/events', event);
    const entry = await theReviewEntry(client);
    expect(entry).toMatchObject({ family: 'cdp', stage: 'contract', reason: 'required', occurrences: 2 });
    await client.post('/v1/cdp/event-types', { ...PURCHASE, properties: {}, force: true });
    expect((await replay(client, entry)).body.outcome.status).toBe('accepted');
  });

  it('closes every open entry of the event, the others as superseded', async () => {
    const client = await aClient(service);
    const { event, entry } = await anEarlyEvent(client);
    await client.post('/v1/cdp/events', { ...event, identity: {} });
    await registerTypes(client);
    await replay(client, entry);
    const entries = await reviewEntries(client);
    expect(entries.map(({ reason, status }) => `${reason} ${status}`).sort()).toEqual([
      ...['identity_required superseded', 'unregistered_event_type replayed'],
    ]);
    const { resolution } = entries.find(({ status }) => status === 'superseded');
    expect(resolution).toEqual({ action: 'superseded', outcome: 'accepted', at: TIME, eventId: expect.any(String) });
    expect(Math.abs(Date.parse(resolution.at) - Date.now())).toBeLessThan(60_000);
  });

  it('takes an event once, however often and by however many it is replayed at the same time', async () => {
    const client = await aClient(service);
    const { entry } = await anEarlyEvent(client);
    await registerTypes(client);
    const answers = await Promise.all(Array.from({ length: 20 }, () => replay(client, entry)));
    const outcomes = answers.map(({ status, body }) => (status === 409 ? body.error_code : body.outcome.status));
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1);
    // Replays of the closed entry are answered so.
    for (const outcome of outcomes) expect(['accepted', 'duplicate', 'entry_not_open']).toContain(outcome);
    const closed = await theReviewEntry(client);
    expect(closed).toMatchObject({ status: 'replayed', occurrences: 1, resolution: { outcome: 'accepted' } });
    expectProblem(await replay(client, entry), 409, 'entry_not_open', []);
    expect(await theReviewEntry(client)).toEqual(closed);
    expect(await eventsOf(client)).toHaveLength(1);
  });

  it('is a duplicate for an event that is stored; with other content its entry stays open and a warning says so', async () => {
    const client = await aClient(service);
    const event = anExternalEvent();
    await client.post('/v1/external-events', { ...event, attributes: { amount: 1 }, colour: 'red' });
    await client.post('/v1/external-events', event);
    const entry = await theReviewEntry(client);
    await reopen(service.databaseUrl, entry);
    const { body } = await replay(client, entry, { payload: { ...event, attributes: { amount: 1 } } });
    expect(body.outcome.status).toBe('duplicate');
    expect(body.reviewEntry).toMatchObject({ status: 'open', occurrences: 2, resolution: { outcome: 'duplicate' } });
    expect((await reviewEntries(client)).map(({ reason }) => reason).sort()).toEqual([
      ...['payload_mismatch', 'unknown_field'],
    ]);
    const same = await replay(client, entry, { payload: event });
    expect(same.body.reviewEntry).toMatchObject({ status: 'replayed', resolution: { outcome: 'duplicate' } });
  });

  it('sends a payload to the letter: what JSON cannot keep is refused again, single or in a batch', async () => {
    const client = await aClient(service);
    const texts = ['1e999', '12345678901234567890', '1e-400'].map((number) =>
      JSON.stringify(anExternalEvent({ attributes: { number: 'N' } })).replace('"N"', number),
    );
    await client.send('/v1/external-events', texts[0]);
    await client.send(
      '/v1/external-events:batch',
      `{"items" : [ ${texts[0]?.replace('order-', 'x')}, ${texts[1]}, ${texts[2]} ]}`,
    );
    const entries = await reviewEntries(client);
    expect(entries).toHaveLength(4);
    for (const entry of entries) {
      expect(entry.payload).toMatch(/1e999|12345678901234567890|1e-400/);
      const { body } = await replay(client, entry);
      expect(body.outcome).toMatchObject({ status: 'error', details: [{ path: 'attributes.number', code: 'range' }] });
    }
    expect(await eventsOf(client)).toEqual([]);
  });

  it('decides anew whose the event is', async () => {
    const client = await aClient(service);
    const identify = (identity: object, fields: Record<string, unknown> = {}) =>
      client.post('/v1/cdp/events', aCdpEvent({ eventType: 'anything', properties: {}, identity, ...fields }));
    await registerTypes(client);
    await identify({ externalUserId: 'anna', email: 'anna@example.com' });
    await identify({ externalUserId: 'bert', deviceKey: 'device-b' });
    const both = { email: 'anna@example.com', deviceKey: 'device-b' };
    expect((await identify(both, { externalEventId: 'e' })).status).toBe(409);
    const entry = await theReviewEntry(client);
    expect((await replay(client, entry)).body.outcome).toMatchObject({ error_code: 'identity_conflict' });
    const payload = aCdpEvent({
      externalEventId: 'e',
      eventType: 'anything',
      properties: {},
      identity: { ...both, externalUserId: 'anna' },
    });
    expect((await replay(client, entry, { payload })).body.outcome.status).toBe('accepted');
  });
});

describe('a replay is refused', () => {
  it.each([
    ['a corrected payload of another event', { payload: aCdpEvent() }, 'payload.externalEventId other_event'],
    ['a payload that is no object', { payload: [] }, 'payload type'],
    ['a field that it does not have', { paylaod: {} }, 'paylaod unknown_field'],
  ])('with %s', async (_what, body, fault) => {
    const client = await aClient(service);
    const { entry } = await anEarlyEvent(client);
    expectProblem(await replay(client, entry, body), 422, 'validation_failed', [fault]);
    expect(await theReviewEntry(client)).toEqual(entry);
  });

  it('where the entry is a warning, keeps a batch, no JSON, or no payload any more', async () => {
    const warned = await aClient(service);
    await warned.post('/v1/external-events', anExternalEvent({ occurred_at: '2999-01-01T00:00:00Z' }));
    expectProblem(await replay(warned, await theReviewEntry(warned)), 422, 'validation_failed', [' not_replayable']);
    const batch = await aClient(service);
    await batch.post('/v1/external-events:batch', { items: [anExternalEvent()], colour: 'red' });
    const garbage = await aClient(service);
    await garbage.send('/v1/external-events', '{"source":');
    const late = await aClient(service);
    await late.post('/v1/external-events', anExternalEvent({ identity: {} }));
    await withClient(service.databaseUrl, async (database) => {
      await database.query('UPDATE review_entries SET payload = NULL WHERE id = $1', [(await theReviewEntry(late)).id]);
    });
    for (const client of [batch, garbage, late]) {
      const entry = await theReviewEntry(client);
      expectProblem(await replay(client, entry), 422, 'validation_failed', ['payload not_replayable']);
      const { externalEventId } = entry;
      const payload = anExternalEvent(externalEventId === null ? {} : { external_event_id: externalEventId });
      const { body } = await replay(client, entry, { payload });
      expect(body).toMatchObject({ outcome: { status: 'accepted' }, reviewEntry: { status: 'replayed' } });
    }
  });

  it('where the entry is closed, in whichever way, and says in which', async () => {
    const client = await aClient(service);
    await registerTypes(client);
    const close = async (fields: Record<string, unknown>, closing: (event: any, entry: any) => Promise<unknown>) => {
      const event = aCdpEvent();
      await client.post('/v1/cdp/events', { ...event, ...fields });
      const [entry] = await reviewEntries(client);
      await closing(event, entry);
      return { event, entry };
    };
    const closed = {
      dismissed: await close({ identity: {} }, (_event, { id }) => client.post(`/v1/review-entries/${id}:dismiss`, {})),
      superseded: await close({ identity: {} }, (event) => client.post('/v1/cdp/events', event)),
      replayed: await close({ identity: {} }, (payload, entry) => replay(client, entry, { payload })),
    };
    const stored = await eventsOf(client);
    for (const [status, { event, entry }] of Object.entries(closed)) {
      const before = (await client.get(`/v1/review-entries/${entry.id}`)).body;
      expect(before.status).toBe(status);
      for (const body of [undefined, { payload: event }]) {
        const answer = await replay(client, entry, body);
        expectProblem(answer, 409, 'entry_not_open', []);
        expect(answer.body.message).toContain(status);
      }
      expect((await client.get(`/v1/review-entries/${entry.id}`)).body).toEqual(before);
    }
    expect(await eventsOf(client)).toEqual(stored);
  });

  it('with a payload to a credential that may not send events of its family, or not of its source', async () => {
    const workspace = await aWorkspace(service);
    await registerTypes(workspace.admin);
    for (const { path, anEvent, anIdentity, family } of INGEST_FAMILIES) {
      const event = anEvent({ identity: {} });
      await workspace.admin.post(path, event);
      const [entry] = await reviewEntries(workspace.admin);
      const payload = { ...event, identity: anIdentity('EXTERNAL', 'customer-42') };
      const scope = family === 'cdp' ? 'cdp-events:write' : 'external-events:write';
      const other = family === 'cdp' ? 'external-events:write' : 'cdp-events:write';
      for (const scopes of [['review:write'], ['review:write', other]] as const) {
        const answer = await replay(await workspace.client({ scopes }), entry, { payload });
        expectProblem(answer, 403, 'insufficient_scope');
        expect(answer.headers.get('www-authenticate')).toContain(`scope="${scope}"`);
      }
      const limited = await workspace.client({ scopes: ['review:write', scope], sources: ['crm'] });
      for (const body of [undefined, { payload }, { payload: { ...payload, source: 'crm' } }]) {
        expectProblem(await replay(limited, entry, body), 403, 'source_not_allowed');
      }
      const [untouched] = await reviewEntries(workspace.admin);
      expect(untouched).toEqual(entry);
      const owner = await workspace.client({ scopes: ['review:write', scope], sources: [event['source'] as string] });
      expect((await replay(owner, entry, { payload })).body.outcome.status).toBe('accepted');
    }
  });

  it('to a credential with sources, where nobody knows the source, unless its payload has one of them', async () => {
    const workspace = await aWorkspace(service);
    await workspace.admin.send('/v1/external-events', '{"source":"shop.orders"');
    const entry = await theReviewEntry(workspace.admin);
    const scopes = ['review:write', 'external-events:write'] as const;
    const limited = await workspace.client({ scopes, sources: ['crm'] });
    for (const body of [undefined, { payload: anExternalEvent() }]) {
      expectProblem(await replay(limited, entry, body), 403, 'source_not_allowed');
    }
    expect(await theReviewEntry(workspace.admin)).toEqual(entry);
    const { body } = await replay(limited, entry, { payload: anExternalEvent({ source: 'crm' }) });
    expect(body.outcome.status).toBe('accepted');
  });

  it('to a credential that may not send the source, and the entry stays as it was', async () => {
    const workspace = await aWorkspace(service);
    const { entry } = await anEarlyEvent(workspace.admin);
    await registerTypes(workspace.admin, [PURCHASE]);
    const stranger = await workspace.client({ scopes: ['review:write'], sources: ['crm'] });
    expectProblem(await replay(stranger, entry), 403, 'source_not_allowed');
    expect(await theReviewEntry(workspace.admin)).toEqual(entry);
    const owner = await workspace.client({ scopes: ['review:write'], sources: ['shop.orders'] });
    expect((await replay(owner, entry)).body.outcome.status).toBe('accepted');
  });

  it('for entries that nobody has, and of another workspace, and without the scope', async () => {
    const workspace = await aWorkspace(service);
    const { entry } = await anEarlyEvent(workspace.admin);
    expectProblem(await replay(workspace.admin, { id: randomUUID() }), 404, 'not_found');
    expectProblem(await replay(workspace.admin, { id: 'x' }), 404, 'not_found');
    expectProblem(await replay(await aClient(service), entry), 404, 'not_found');
    const reader = await workspace.client({ scopes: ['review:read', 'cdp-events:write'] });
    expectProblem(await replay(reader, entry), 403, 'insufficient_scope');
  });
});
