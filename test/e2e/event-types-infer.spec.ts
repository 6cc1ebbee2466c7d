import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, PURCHASE, registerTypes } from '../support/builders';
import { aClient, expectProblem } from '../support/client';

const PATH = '/v1/cdp/event-types';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

describe('a draft of an event type', () => {
  it('can be registered as it is, and takes the events that it was made of', async () => {
    const client = await aClient(service);
    const events = [
      { link: 'https://shop.example/größe', day: '2026-02-30', at: '2026-02-30T00:00:00Z', '\u200b': 1, ' ': 2 },
      null,
    ].map((properties) => aCdpEvent({ properties }));
    for (const event of events) expect((await client.post('/v1/cdp/events', event)).status).toBe(422);
    const { body } = await client.post(`${PATH}:infer`, { eventType: 'purchase' });
    expect(body).toEqual({
      eventType: 'purchase',
      properties: { link: { type: 'string' }, day: { type: 'string' }, at: { type: 'string' } },
      stored: 0,
      refused: 2,
    });
    const { eventType, properties } = body;
    const registered = await client.post(PATH, { eventType, properties, additionalProperties: 'allow' });
    expect(registered.status).toBe(201);
    for (const event of events) expect((await client.post('/v1/cdp/events', event)).status).toBe(202);
  });
});

it('of a type that is not registered declares personal what another type does: its views hide it', async () => {
  const client = await aClient(service);
  await registerTypes(client, [{ eventType: 'signup', properties: { nickname: { type: 'string', pii: true } } }]);
  const properties = { nickname: 'https://example.com/me' };
  expect((await client.post('/v1/cdp/events', aCdpEvent({ eventType: 'sing_up', properties }))).status).toBe(422);
  const { body } = await client.post(`${PATH}:infer`, { eventType: 'sing_up' });
  expect(body.properties).toEqual({ nickname: { type: 'string', pii: true, required: true } });
});

it('makes drafts and checks without the events of erased persons, stored or refused', async () => {
  const client = await aClient(service);
  await registerTypes(client, [PURCHASE]);
  const event = () => aCdpEvent({ identity: { email: 'jane@example.com' }, properties: { amount: 1 } });
  const { body } = await client.post('/v1/cdp/events', event());
  const { profileId } = (await client.get(`/v1/events/${body.event_id}`)).body;
  expect((await client.post(`/v1/cdp/profiles/${profileId}:erase`, {})).status).toBe(200);
  expectProblem(await client.post('/v1/cdp/events', event()), 409, 'profile_erased');
  const { sample } = (await client.post(`${PATH}:check`, PURCHASE)).body;
  expect(sample).toEqual({ checked: 0, pass: 0, fail: 0, reasons: [] });
  const draft = (await client.post(`${PATH}:infer`, { eventType: 'purchase' })).body;
  expect(draft).toEqual({ eventType: 'purchase', properties: {}, stored: 0, refused: 0 });
});
