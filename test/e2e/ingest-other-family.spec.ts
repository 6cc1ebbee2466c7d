import { sharedApp, type SharedApp } from '../support/app';
import { CDP_EVENTS, EXTERNAL_EVENTS } from '../support/builders';
import { aReadyClient } from '../support/client';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

const isUnknown = ({ code }: any): boolean => code === 'unknown_field';
const unknownIn = (details: any[]): string[] => details.filter(isUnknown).map(({ message }) => message);

/** What the single route and the batch route say of the unknown fields of an event; the same, or it fails. */
async function saidOf({ path, batchPath }: typeof EXTERNAL_EVENTS, event: object): Promise<string[]> {
  const client = await aReadyClient(service);
  const single = await client.post(path, event);
  const batch = await client.post(batchPath, { items: [{}, event] });
  expect([single.status, batch.status]).toEqual([422, 200]);
  const said = unknownIn(single.body.details);
  const inBatch = batch.body.results[1].details.filter(isUnknown);
  expect(unknownIn(inBatch)).toEqual(said);
  expect(inBatch.every((fault: any) => fault.path.startsWith('items[1].'))).toBe(true);
  return said;
}

describe('an external event of the other family', () => {
  it('is told the name of each field, and how its identity is written', async () => {
    const event = {
      source: 'shop',
      externalEventId: 'o-1',
      eventType: 'purchase',
      occurredAt: '2026-01-02T03:04:05Z',
      properties: { amount: 1 },
      identity: { email: 'jane@example.com', deviceKey: 'd3adb33f-device' },
    };
    const said = await saidOf(EXTERNAL_EVENTS, event);
    expect(said.sort()).toEqual([
      'eventType is the name in CDP events; external events have type.',
      'externalEventId is the name in CDP events; external events have external_event_id.',
      'identity.deviceKey is the name in CDP events; external events have identity.type, here "DEVICE", and identity.value.',
      'identity.email is the name in CDP events; external events have identity.type, here "EMAIL", and identity.value.',
      'occurredAt is the name in CDP events; external events have occurred_at.',
      'properties is the name in CDP events; external events have attributes.',
    ]);
    expect(said.join()).not.toContain('jane');
  });
});

describe('a CDP event of the other family', () => {
  it('is told the name of each field, and how its identity is written', async () => {
    const event = {
      source: 'shop',
      external_event_id: 'o-1',
      type: 'purchase',
      occurred_at: '2026-01-02T03:04:05Z',
      attributes: { amount: 1 },
      identity: { type: 'EMAIL', value: 'jane@example.com' },
    };
    const identity = 'identity.externalUserId, identity.email, identity.phone and identity.deviceKey';
    expect((await saidOf(CDP_EVENTS, event)).sort()).toEqual([
      'attributes is the name in external events; CDP events have properties.',
      'external_event_id is the name in external events; CDP events have externalEventId.',
      `identity.type is the name in external events; CDP events have ${identity}.`,
      `identity.value is the name in external events; CDP events have ${identity}.`,
      'occurred_at is the name in external events; CDP events have occurredAt.',
      'type is the name in external events; CDP events have eventType.',
    ]);
  });
});

describe('a typing mistake inside identity', () => {
  it.each<[string, typeof EXTERNAL_EVENTS, object, string]>([
    ['emial', CDP_EVENTS, { emial: 'x' }, 'email'],
    ['externalUserID', CDP_EVENTS, { externalUserID: 'x' }, 'externalUserId'],
    ['external_user_id', CDP_EVENTS, { external_user_id: 'x' }, 'externalUserId'],
    ['device', CDP_EVENTS, { device: 'x' }, 'deviceKey'],
    ['vaule', EXTERNAL_EVENTS, { type: 'EMAIL', vaule: 'x' }, 'value'],
    ['Type', EXTERNAL_EVENTS, { Type: 'EMAIL', value: 'x' }, 'type'],
  ])('%s is answered with what was meant', async (name, family, identity, meant) => {
    const said = await saidOf(family, family.anEvent({ identity }));
    expect(said).toEqual([`identity.${name} is not a field of this body. Did you mean ${meant}?`]);
  });
});

describe('a typing mistake in a body that a parser of its own reads', () => {
  it.each<[string, string, object, string]>([
    ['an event type', '/v1/cdp/event-types', { propertys: {} }, 'properties'],
    ['a property', '/v1/cdp/event-types', { properties: { a: { type: 'string', requird: true } } }, 'required'],
    ['a reaction', '/v1/campaigns/c/reactions:define', { event_type: 'x' }, 'eventType'],
    ['an operation of one', '/v1/campaigns/c/reactions:define', { ops: [{ valuefrom: 'source' }] }, 'valueFrom'],
    ['a variable', '/v1/campaigns/c/variables:define', { defualt: 1 }, 'default'],
  ])('of %s is answered with what was meant', async (_what, path, body, meant) => {
    const client = await aReadyClient(service);
    const { status, body: problem } = await client.post(path, body);
    expect(status).toBe(422);
    expect(unknownIn(problem.details)).toEqual([expect.stringMatching(new RegExp(` Did you mean ${meant}\\?$`))]);
  });
});
