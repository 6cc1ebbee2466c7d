import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aClient, aWorkspace, expectProblem, faultsOf, reviewEntries, storedEvent } from '../support/client';

const PATH = '/v1/external-events:batch';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

const statuses = (results: readonly { status: string }[]) => results.map(({ status }) => status);

describe('POST /v1/external-events:batch', () => {
  it('answers one result an item, in their order, and stores each event as the single endpoint does', async () => {
    const client = await aClient(service);
    const items = Array.from({ length: 5 }, (_unused, place) => anExternalEvent({ attributes: { place } }));
    const answer = await client.post(PATH, { items });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      results: items.map(() => ({ status: 'accepted', event_id: expect.stringMatching(/\S/) })),
    });
    const places = answer.body.results.map(async (body: unknown) => {
      const event = await storedEvent(client, { ...answer, body });
      expect(event).toMatchObject({
        family: 'external',
        eventType: 'purchase',
        occurredAt: '2026-01-02T03:04:05.000Z',
      });
      return event.properties.place;
    });
    expect(await Promise.all(places)).toEqual([0, 1, 2, 3, 4]);
  });

  it('judges each item by itself: neither errors nor duplicates cost another item its place', async () => {
    const client = await aClient(service);
    const known = anExternalEvent();
    const first = await client.post('/v1/external-events', known);
    const items = [
      anExternalEvent(),
      anExternalEvent({ identity: {} }),
      known,
      anExternalEvent({ source: undefined, colour: 'red' }),
      anExternalEvent(),
    ];
    const { status, body } = await client.post(PATH, { items });
    expect(status).toBe(200);
    expect(statuses(body.results)).toEqual(['accepted', 'error', 'duplicate', 'error', 'accepted']);
    expect(body.results[2]).toEqual({ status: 'duplicate', original_event_id: first.body.event_id });
    expect(body.results[1]).toEqual({
      status: 'error',
      error_code: 'validation_failed',
      message: expect.stringContaining('identity.type'),
      details: [
        { path: 'items[1].identity.type', code: 'required', message: expect.any(String) },
        { path: 'items[1].identity.value', code: 'required', message: expect.any(String) },
      ],
    });
    expect(faultsOf(body.results[3])).toEqual(['items[3].source required', 'items[3].colour unknown_field']);
    expect((await client.get('/v1/events')).body.items).toHaveLength(3);
    expect(await reviewEntries(client)).toHaveLength(2);
  });

  it('gives an item the message that the single endpoint gives', async () => {
    const client = await aClient(service);
    const event = anExternalEvent({ identity: { value: 'customer-0001' }, occurred_at: 'yesterday' });
    const [single, batch] = [
      await client.post('/v1/external-events', event),
      await client.post(PATH, { items: [event] }),
    ];
    expect(batch.body.results[0].message).toBe(single.body.message);
    expect(batch.body.results[0].error_code).toBe(single.body.error_code);
  });

  it('answers 200 even if every item failed', async () => {
    const client = await aClient(service);
    const { status, body } = await client.post(PATH, { items: [{}, anExternalEvent({ type: null })] });
    expect(status).toBe(200);
    expect(statuses(body.results)).toEqual(['error', 'error']);
  });

  it('accepts the first of equal ids within a batch and names it to the others', async () => {
    const client = await aClient(service);
    const event = anExternalEvent({ attributes: { place: 'first' } });
    const items = [event, anExternalEvent(), { ...event, attributes: { place: 'second' } }, event];
    const { body } = await client.post(PATH, { items });
    expect(statuses(body.results)).toEqual(['accepted', 'accepted', 'duplicate', 'duplicate']);
    expect(body.results[2].original_event_id).toBe(body.results[0].event_id);
    expect(body.results[3].original_event_id).toBe(body.results[0].event_id);
    const [stored] = (
      await client.get(`/v1/events?source=shop.orders&externalEventId=${event['external_event_id'] as string}`)
    ).body.items;
    expect(stored.properties).toEqual({ place: 'first' });
  });

  it('accepts a corrected copy behind a refused one in the same batch, since a refusal uses up no id', async () => {
    const client = await aClient(service);
    const event = anExternalEvent();
    const { body } = await client.post(PATH, { items: [{ ...event, identity: {} }, event, event] });
    expect(statuses(body.results)).toEqual(['error', 'accepted', 'duplicate']);
  });

  it('closes the entry of a refused item when its corrected copy comes in the same batch', async () => {
    const client = await aClient(service);
    const event = anExternalEvent();
    await client.post(PATH, { items: [{ ...event, identity: {} }, event] });
    expect(await reviewEntries(client)).toMatchObject([{ reason: 'required', status: 'superseded' }]);
  });

  it('refuses an item whose source its key may not send, and takes the others', async () => {
    const workspace = await aWorkspace(service);
    const client = await workspace.client({
      scopes: ['external-events:write'],
      sources: ['shop.orders', 'shop.refunds'],
    });
    const items = [
      anExternalEvent(),
      anExternalEvent({ source: 'crm.contacts' }),
      anExternalEvent({ source: 'shop.refunds' }),
    ];
    const { status, body } = await client.post(PATH, { items });
    expect(status).toBe(200);
    expect(statuses(body.results)).toEqual(['accepted', 'error', 'accepted']);
    expect(body.results[1]).toMatchObject({ error_code: 'source_not_allowed', message: expect.stringMatching(/\S/) });
    expect(faultsOf(body.results[1])).toEqual(['items[1].source source_not_allowed']);
    expect(await reviewEntries(workspace.admin)).toMatchObject([
      {
        reason: 'source_not_allowed',
        stage: 'authorization',
        source: 'crm.contacts',
        externalEventId: items[1]?.['external_event_id'],
      },
    ]);
  });

  it.each([
    [{}, ['items required']],
    [{ items: null }, ['items required']],
    [{ items: {} }, ['items type']],
    [{ items: 'x' }, ['items type']],
    [{ items: [] }, ['items too_few_items']],
    [{ items: [{}], dryRun: true }, ['dryRun unknown_field']],
    [[], [' type']],
    [anExternalEvent({ source: 's' }), undefined],
  ])('refuses the envelope %j as a whole', async (envelope, faults) => {
    const client = await aClient(service);
    expectProblem(await client.post(PATH, envelope), 422, 'validation_failed', faults);
    expect(await reviewEntries(client)).toMatchObject([{ stage: 'request', severity: 'error', family: 'external' }]);
  });

  it('takes %3A for its colon, and nothing else in its place', async () => {
    const client = await aClient(service);
    for (const path of ['/v1/external-events%3Abatch', '/v1/external-events%3abatch']) {
      expect((await client.post(path, { items: [anExternalEvent()] })).status).toBe(200);
    }
    for (const path of [
      '/v1/external-events:batchX',
      '/v1/external-eventsXbatch',
      '/v1/external-eventsbatch',
      '/v1/external-events/batch',
    ]) {
      expectProblem(await client.post(path, { items: [anExternalEvent()] }), 404, 'not_found');
    }
  });
});
