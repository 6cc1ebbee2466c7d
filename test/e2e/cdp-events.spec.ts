import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, PURCHASE, registerTypes } from '../support/builders';
import { aClient, type Client, expectProblem, reviewEntries, storedEvent, theReviewEntry } from '../support/client';

const PATH = '/v1/cdp/events';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

async function aCdpClient(): Promise<Client> {
  const client = await aClient(service);
  await registerTypes(client);
  return client;
}

describe('POST /v1/cdp/events', () => {
  it('accepts a new event with 202 and answers every repetition with 200 and the id of the first', async () => {
    const client = await aCdpClient();
    const event = aCdpEvent();
    const first = await client.post(PATH, event);
    expect([first.status, first.body]).toEqual([202, { status: 'accepted', event_id: expect.stringMatching(/\S/) }]);
    const again = await client.post(PATH, event);
    expect([again.status, again.body]).toEqual([200, { status: 'duplicate', original_event_id: first.body.event_id }]);
  });

  it('has stored the whole event when its answer arrives, with the version it was checked against', async () => {
    const client = await aCdpClient();
    const sent = aCdpEvent({
      identity: { email: 'jane@example.com', phone: null },
      properties: { amount: 29.33, quantity: 2 },
    });
    const event = await storedEvent(client, await client.post(PATH, sent));
    expect(event).toMatchObject({
      family: 'cdp',
      source: 'shop.orders',
      externalEventId: sent['externalEventId'],
      eventType: 'purchase',
      eventTypeVersion: 1,
      occurredAt: '2026-01-02T03:04:05.000Z',
      identity: { email: 'j***@e***.com' },
      properties: { amount: 29.33, quantity: 2 },
      processing: { state: 'queued' },
    });
  });

  it.each(['externalUserId', 'email', 'phone', 'deviceKey'])('is content with identity.%s alone', async (field) => {
    const client = await aCdpClient();
    const values: Record<string, string> = { email: 'jane@example.com', phone: '+4915112345612' };
    const answer = await client.post(PATH, aCdpEvent({ identity: { [field]: values[field] ?? 'customer-0001' } }));
    expect([answer.status, answer.body.status]).toEqual([202, 'accepted']);
  });

  it.each([
    [{ identity: {} }, ['identity identity_required']],
    [{ identity: { email: null, phone: null, externalUserId: null, deviceKey: null } }, ['identity identity_required']],
    [
      { identity: { email: 'nobody', phone: '+49', deviceKey: 'n/a' } },
      ['identity.email format', 'identity.phone invalid_phone', 'identity.deviceKey placeholder_identity'],
    ],
    [{ identity: { externalUserId: 'c-1', userId: 'c-1' } }, ['identity.userId unknown_field']],
    [{ identity: { externalUserId: 'c-1', email: 4711 } }, ['identity.email type']],
    [{ occurred_at: '2026-01-02T03:04:05Z' }, ['occurred_at unknown_field']],
    [{ eventType: 'refund' }, ['eventType unregistered_event_type']],
    [{ eventType: 'Purchase' }, ['eventType unregistered_event_type']],
    [{ eventType: 'no name of a type' }, ['eventType unregistered_event_type']],
    [{ eventType: 'toString' }, ['eventType unregistered_event_type']],
    [{ properties: undefined }, ['properties.amount required']],
    [{ properties: null }, ['properties.amount required']],
    [{ properties: { amount: null } }, ['properties.amount required']],
    [{ properties: { amount: '29.33' } }, ['properties.amount type']],
    [
      { properties: { amount: 1, quantity: 1.5, currency: 'GBP', colour: 'red' } },
      ['properties.quantity type', 'properties.currency enum', 'properties.colour unknown_property'],
    ],
    [
      { source: null, eventType: 'refund', properties: { a: '\u0000' } },
      ['source required', 'eventType unregistered_event_type', 'properties.a invalid_characters'],
    ],
    [
      { externalEventId: '', properties: { colour: 1 } },
      ['externalEventId empty', 'properties.amount required', 'properties.colour unknown_property'],
    ],
  ])('refuses %j and names every fault', async (fields, faults) => {
    const client = await aCdpClient();
    expectProblem(await client.post(PATH, aCdpEvent(fields)), 422, 'validation_failed', faults);
    expect((await client.get('/v1/events')).body.items).toEqual([]);
    expect(await theReviewEntry(client)).toMatchObject({ family: 'cdp', severity: 'error' });
  });

  it('names the field when an identifier of the wrong type is the only one, and does not call it missing', async () => {
    const client = await aCdpClient();
    expectProblem(await client.post(PATH, aCdpEvent({ identity: { email: 4711 } })), 422, 'validation_failed', [
      'identity.email type',
    ]);
  });

  it('names the identity fields in the message when none is sent', async () => {
    const client = await aCdpClient();
    const { body } = await client.post(PATH, aCdpEvent({ identity: {} }));
    for (const field of ['externalUserId', 'email', 'phone', 'deviceKey'])
      expect(body.message).toContain(`identity.${field}`);
  });

  it('knows no event type beforehand, and each from the moment that its registration is answered', async () => {
    const client = await aClient(service);
    const event = aCdpEvent();
    expectProblem(await client.post(PATH, event), 422, 'validation_failed', ['eventType unregistered_event_type']);
    expect(await theReviewEntry(client)).toMatchObject({
      stage: 'contract',
      reason: 'unregistered_event_type',
      eventType: 'purchase',
    });
    await registerTypes(client, [PURCHASE]);
    expect((await client.post(PATH, event)).status).toBe(202);
    expect(await theReviewEntry(client)).toMatchObject({ status: 'superseded' });
  });

  it('knows no event type of another workspace', async () => {
    await aCdpClient();
    const stranger = await aClient(service);
    expectProblem(await stranger.post(PATH, aCdpEvent()), 422, 'validation_failed', [
      'eventType unregistered_event_type',
    ]);
  });

  it('checks by the newest version at once, and records for each event the version it was checked against', async () => {
    const client = await aCdpClient();
    const old = await client.post(PATH, aCdpEvent());
    const wider = { ...PURCHASE, properties: { ...PURCHASE.properties, colour: { type: 'string' } } };
    expectProblem(
      await client.post(PATH, aCdpEvent({ properties: { amount: 1, colour: 'red' } })),
      422,
      'validation_failed',
    );
    await registerTypes(client, [wider]);
    const next = await client.post(PATH, aCdpEvent({ properties: { amount: 1, colour: 'red' } }));
    expect(await storedEvent(client, old)).toMatchObject({ eventTypeVersion: 1 });
    expect(await storedEvent(client, next)).toMatchObject({
      eventTypeVersion: 2,
      properties: { amount: 1, colour: 'red' },
    });
  });

  it('takes undeclared properties of types that allow them, and still checks the declared ones', async () => {
    const client = await aClient(service);
    await registerTypes(client, [{ ...PURCHASE, additionalProperties: 'allow' }]);
    const open = { amount: 1, colour: 'red', nested: { a: [1, null] } };
    expect(await storedEvent(client, await client.post(PATH, aCdpEvent({ properties: open })))).toMatchObject({
      properties: open,
    });
    const wrong = aCdpEvent({ properties: { colour: 'red', quantity: 'two' } });
    expectProblem(await client.post(PATH, wrong), 422, 'validation_failed', [
      'properties.amount required',
      'properties.quantity type',
    ]);
  });

  it('takes null in an optional property for absent', async () => {
    const client = await aCdpClient();
    const answer = await client.post(
      PATH,
      aCdpEvent({ properties: { amount: 1, quantity: null, currency: null, nickname: null } }),
    );
    expect(answer.status).toBe(202);
    expect(await reviewEntries(client)).toEqual([]);
  });

  it.each([
    ['string', ['', 'a'], [1, true, {}, []]],
    ['number', [1.5, -3], ['1', true]],
    ['integer', [3], [1.5, '3']],
    ['boolean', [true, false], ['true', 0]],
    ['timestamp', ['2026-01-02T03:04:05+02:00'], [1_767_323_045, {}]],
    ['object', [{ a: 1 }], [[], 'a']],
    ['array', [[1, 'a']], [{}, 'a']],
  ])('holds a property of type %s to it', async (type, right, wrong) => {
    const client = await aClient(service);
    await registerTypes(client, [{ eventType: 'purchase', properties: { value: { type, required: true } } }]);
    const send = (value: unknown) => client.post(PATH, aCdpEvent({ properties: { value } }));
    for (const value of right) expect((await send(value)).status).toBe(202);
    for (const value of wrong) expectProblem(await send(value), 422, 'validation_failed', ['properties.value type']);
  });

  it('refuses a timestamp property without an offset, or of a day that no calendar has', async () => {
    const client = await aClient(service);
    await registerTypes(client, [{ eventType: 'purchase', properties: { at: { type: 'timestamp' } } }]);
    const send = (at: string) => client.post(PATH, aCdpEvent({ properties: { at } }));
    expectProblem(await send('2026-01-02T03:04:05'), 422, 'validation_failed', ['properties.at missing_offset']);
    expectProblem(await send('2026-02-30T03:04:05Z'), 422, 'validation_failed', ['properties.at format']);
  });
});
