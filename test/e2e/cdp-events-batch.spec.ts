import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, registerTypes } from '../support/builders';
import {
  aClient,
  aWorkspace,
  type Client,
  expectProblem,
  faultsOf,
  reviewEntries,
  storedEvent,
} from '../support/client';

const PATH = '/v1/cdp/events/batch';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

const statuses = (results: readonly { status: string }[]) => results.map(({ status }) => status);

async function aCdpClient(): Promise<Client> {
  const client = await aClient(service);
  await registerTypes(client);
  return client;
}

describe('POST /v1/cdp/events/batch', () => {
  it('answers one result an item, in their order, and stores each event as the single endpoint does', async () => {
    const client = await aCdpClient();
    const items = Array.from({ length: 5 }, (_unused, amount) => aCdpEvent({ properties: { amount } }));
    const answer = await client.post(PATH, { items });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      results: items.map(() => ({ status: 'accepted', event_id: expect.stringMatching(/\S/) })),
    });
    const amounts = answer.body.results.map(async (body: unknown) => {
      const event = await storedEvent(client, { ...answer, body });
      expect(event).toMatchObject({ family: 'cdp', eventType: 'purchase', eventTypeVersion: 1 });
      return event.properties.amount;
    });
    expect(await Promise.all(amounts)).toEqual([0, 1, 2, 3, 4]);
  });

  it('judges each item by itself: neither errors nor duplicates cost another item its place', async () => {
    const client = await aCdpClient();
    const known = aCdpEvent();
    const first = await client.post('/v1/cdp/events', known);
    const items = [
      aCdpEvent(),
      aCdpEvent({ identity: {} }),
      known,
      aCdpEvent({ eventType: 'refund' }),
      aCdpEvent({ properties: { amount: '1', colour: 'red' } }),
      aCdpEvent(),
    ];
    const { status, body } = await client.post(PATH, { items });
    expect(status).toBe(200);
    expect(statuses(body.results)).toEqual(['accepted', 'error', 'duplicate', 'error', 'error', 'accepted']);
    expect(body.results[2]).toEqual({ status: 'duplicate', original_event_id: first.body.event_id });
    expect(body.results[1]).toEqual({
      status: 'error',
      error_code: 'validation_failed',
      message: expect.stringContaining('identity'),
      details: [{ path: 'items[1].identity', code: 'identity_required', message: expect.any(String) }],
    });
    expect(faultsOf(body.results[3])).toEqual(['items[3].eventType unregistered_event_type']);
    expect(faultsOf(body.results[4]).sort()).toEqual([
      'items[4].properties.amount type',
      'items[4].properties.colour unknown_property',
    ]);
    expect((await client.get('/v1/events')).body.items).toHaveLength(3);
    expect(await reviewEntries(client)).toHaveLength(3);
  });

  it('answers 200 even if every item failed', async () => {
    const client = await aCdpClient();
    const { status, body } = await client.post(PATH, { items: [{}, aCdpEvent({ eventType: 'refund' })] });
    expect(status).toBe(200);
    expect(statuses(body.results)).toEqual(['error', 'error']);
  });

  it('accepts the first of equal ids within a batch and names it to the others', async () => {
    const client = await aCdpClient();
    const event = aCdpEvent({ properties: { amount: 1 } });
    const { body } = await client.post(PATH, { items: [event, { ...event, properties: { amount: 2 } }, event] });
    expect(statuses(body.results)).toEqual(['accepted', 'duplicate', 'duplicate']);
    expect(new Set(body.results.map((result: any) => result.event_id ?? result.original_event_id)).size).toBe(1);
    expect((await client.get('/v1/events')).body.items).toMatchObject([{ properties: { amount: 1 } }]);
  });

  it('refuses an item whose weak identifiers belong to two customers, and takes the others', async () => {
    const client = await aCdpClient();
    const items = [
      aCdpEvent({ identity: { externalUserId: 'customer-0001', email: 'jane@example.com' } }),
      aCdpEvent({ identity: { externalUserId: 'customer-0002', deviceKey: 'device-0002' } }),
      aCdpEvent({ identity: { email: 'jane@example.com', deviceKey: 'device-0002' } }),
      aCdpEvent({ identity: { email: 'jane@example.com' } }),
    ];
    const { status, body } = await client.post(PATH, { items });
    expect(status).toBe(200);
    expect(statuses(body.results)).toEqual(['accepted', 'accepted', 'error', 'accepted']);
    expect(body.results[2]).toMatchObject({ error_code: 'identity_conflict', message: expect.stringMatching(/\S/) });
    expect(await reviewEntries(client)).toMatchObject([
      {
        reason: 'identity_conflict',
        stage: 'identity',
        severity: 'error',
        externalEventId: items[2]?.['externalEventId'],
      },
    ]);
  });

  it('tries a corrected copy by itself behind one that was refused for its identity, and refuses an equal copy with it', async () => {
    const client = await aCdpClient();
    await client.post(
      '/v1/cdp/events',
      aCdpEvent({ identity: { externalUserId: 'c-0001', email: 'jane@example.com' } }),
    );
    await client.post('/v1/cdp/events', aCdpEvent({ identity: { externalUserId: 'c-0002', deviceKey: 'device-2' } }));
    const refused = aCdpEvent({ identity: { email: 'jane@example.com', deviceKey: 'device-2' } });
    const corrected = { ...refused, identity: { email: 'jane@example.com' } };
    const { body } = await client.post(PATH, { items: [refused, refused, corrected, corrected] });
    expect(body.results.map((result: any) => result.error_code ?? result.status)).toEqual([
      ...['identity_conflict', 'identity_conflict', 'accepted', 'duplicate'],
    ]);
  });

  it('refuses an item whose source its key may not send, and takes the others', async () => {
    const workspace = await aWorkspace(service);
    await registerTypes(workspace.admin);
    const client = await workspace.client({ scopes: ['cdp-events:write'], sources: ['shop.orders'] });
    const items = [aCdpEvent(), aCdpEvent({ source: 'crm.contacts' }), aCdpEvent()];
    const { status, body } = await client.post(PATH, { items });
    expect(status).toBe(200);
    expect(statuses(body.results)).toEqual(['accepted', 'error', 'accepted']);
    expect(body.results[1]).toMatchObject({ error_code: 'source_not_allowed', message: expect.stringMatching(/\S/) });
    expect(await reviewEntries(workspace.admin)).toMatchObject([
      { reason: 'source_not_allowed', stage: 'authorization', source: 'crm.contacts' },
    ]);
  });

  it.each([
    [{}, ['items required']],
    [{ items: null }, ['items required']],
    [{ items: { 0: {} } }, ['items type']],
    [{ items: [] }, ['items too_few_items']],
    [{ items: [{}], source: 'shop.orders' }, ['source unknown_field']],
  ])('refuses the envelope %j as a whole', async (envelope, faults) => {
    const client = await aCdpClient();
    expectProblem(await client.post(PATH, envelope), 422, 'validation_failed', faults);
    expect(await reviewEntries(client)).toMatchObject([{ stage: 'request', severity: 'error', family: 'cdp' }]);
  });

  it('has one address: neither a colon nor another family leads to it', async () => {
    const client = await aCdpClient();
    for (const path of ['/v1/cdp/events:batch', '/v1/cdp/events/batchX', '/v1/cdp/events/']) {
      expectProblem(await client.post(path, { items: [aCdpEvent()] }), 404, 'not_found');
    }
  });
});
