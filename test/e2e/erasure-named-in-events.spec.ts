import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, registerTypes } from '../support/builders';
import { aWorkspace, type Client, reviewEntries, type Workspace } from '../support/client';
import { rowsOf } from '../support/database';
import { anEchoingWebhook } from '../support/persons';
import { untilDrained } from '../support/processing';
import { expireOver, letDaysPass } from '../support/retention';
import { placesOf } from '../support/traces';
import { until } from '../support/until';
import { startReceiver, type Receiver } from '../support/webhooks';

let service: TestApp;
let workspace: Workspace;
let admin: Client;
let receiver: Receiver;

beforeAll(async () => {
  const environment = { DEFAULT_PHONE_REGION: 'DE', WEBHOOKS_ALLOW_PRIVATE: 'true' };
  [service, receiver] = await Promise.all([
    startApp(environment, undefined, [], { processesEvents: true }),
    startReceiver(),
  ]);
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  ({ admin } = workspace);
  await registerTypes(admin);
});

afterAll(() => Promise.all([service.stop(), receiver.stop()]));

const mark = (): string => randomUUID().slice(0, 8);

/** Stores an event of any properties, and returns its id. */
async function send(identity: object, properties: object = {}): Promise<string> {
  const { status, body } = await admin.post(
    '/v1/cdp/events',
    aCdpEvent({ eventType: 'anything', identity, properties }),
  );
  expect(status).toBe(202);
  return body.event_id;
}

const eventOf = async (id: string): Promise<any> => (await admin.get(`/v1/events/${id}?unmask=true`)).body;
const customerOf = async (type: string, value: string): Promise<string> =>
  (await admin.post('/v1/cdp/profiles:lookup', { type, value })).body.id;

async function erase(type: string, value: string): Promise<void> {
  expect((await admin.post('/v1/cdp/profiles:erase', { type, value })).status).toBe(200);
}

const erasedByNow = async (texts: readonly string[]): Promise<void> =>
  expect(await placesOf(service.databaseUrl, texts)).toEqual([]);

/** What the export of a person says of events of other customers. */
async function namedInEvents(type: string, value: string): Promise<object[]> {
  const headers = { authorization: `Bearer ${admin.key}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ type, value });
  const answer = await fetch(`${admin.url}/v1/cdp/profiles:export`, { method: 'POST', headers, body });
  const records: any[] = (await answer.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return records.filter(({ record }) => record === 'named_in_event').map(({ data }) => data);
}

/** Two customers with an EXTERNAL identifier; an event of the first one names what is the second one's. */
async function aNamedPerson() {
  const id = mark();
  const [owner, person] = [`owner-${id}`, `person-${id}`];
  const [email, phone, device] = [`jane-${id}@example.com`, `+4917${String(Date.now()).slice(-9)}`, `device-${id}`];
  const own = await send({ externalUserId: person, email, phone, deviceKey: device });
  await send({ externalUserId: owner });
  return { owner, person, email, phone, device, own, marks: [person, email, phone, phone.slice(3), device] };
}

describe('an event of another customer that names the person', () => {
  it('stays with that customer, and loses what names the person, also in its properties', async () => {
    const { owner, email, phone, device, marks } = await aNamedPerson();
    const dialled = ` 0${phone.slice(3)} `;
    const eventId = await send(
      { externalUserId: ` ${owner}`, email: email.toUpperCase(), phone: dialled, deviceKey: device },
      {
        amount: 1.5,
        said: `by ${email}`,
        list: ['first', `call 0${phone.slice(3)}`, { device, kept: true }, null],
        [email]: { deep: 1 },
        other: owner,
      },
    );
    const before = await eventOf(eventId);
    await erase('EMAIL', email);
    await erasedByNow(marks);
    const after = await eventOf(eventId);
    expect(after).toEqual({
      ...before,
      processing: expect.anything(),
      identity: { externalUserId: ` ${owner}` },
      properties: { amount: 1.5, list: ['first', null, { kept: true }, null], other: owner },
    });
    const timeline = await admin.get(`/v1/cdp/profiles/${await customerOf('EXTERNAL', owner)}/events`);
    expect(timeline.body.items.map((each: any) => each.eventId)).toContain(eventId);
  });

  it('is exported with the person, and with nothing of the other customer', async () => {
    const { owner, person, email } = await aNamedPerson();
    const eventId = await send({ externalUserId: owner, email }, { secret: `of ${owner}` });
    const { receivedAt } = await eventOf(eventId);
    expect(await namedInEvents('EXTERNAL', person)).toEqual([{ eventId, receivedAt, identity: { email } }]);
  });

  it('is a duplicate of every copy, about which nothing is noted', async () => {
    const { owner, email, marks } = await aNamedPerson();
    const event = aCdpEvent({ eventType: 'anything', identity: { externalUserId: owner, email } });
    const { body: first } = await admin.post('/v1/cdp/events', event);
    await erase('EMAIL', email);
    const entries = await reviewEntries(admin);
    for (const copy of [event, { ...event, properties: { amount: 2 } }, { ...event, eventType: 'unknown' }]) {
      const { status, body } = await admin.post('/v1/cdp/events', copy);
      expect([status, body]).toEqual([200, { status: 'duplicate', original_event_id: first.event_id }]);
    }
    expect(await reviewEntries(admin)).toEqual(entries);
    await erasedByNow(marks);
  });

  it('is emptied when its own customer is erased as well', async () => {
    const { owner, email, marks } = await aNamedPerson();
    const eventId = await send({ externalUserId: owner, email }, { note: `note of ${owner}` });
    await erase('EMAIL', email);
    await erase('EXTERNAL', owner);
    expect(await eventOf(eventId)).toMatchObject({ identity: {}, properties: {} });
    await erasedByNow([...marks, owner]);
  });

  it('leaves nothing where its own customer is erased first', async () => {
    const { owner, email, person, marks } = await aNamedPerson();
    await send({ externalUserId: owner, email });
    await erase('EXTERNAL', owner);
    const rows = 'SELECT 1 FROM unlinked_identifiers WHERE tenant_id = $1';
    expect(await rowsOf(service.databaseUrl, rows, [workspace.tenantId])).toEqual([]);
    expect(await customerOf('EXTERNAL', person)).toBeDefined();
    await erase('EXTERNAL', person);
    await erasedByNow(marks);
  });

  it('loses an identifier that was beyond the limit, and became somebody else’s later', async () => {
    const id = mark();
    const device = `shared-${id}`;
    for (let number = 0; number < 50; number += 1)
      await send({ email: `${number}-${id}@example.com`, deviceKey: device });
    const late = `late-${id}@example.com`;
    const eventId = await send({ deviceKey: device, email: late }, { by: late });
    expect((await reviewEntries(admin)).map(({ reason }) => reason)).toEqual(['identity_limit_reached']);
    await send({ externalUserId: `late-${id}`, email: late });
    await erase('EXTERNAL', `late-${id}`);
    expect(await eventOf(eventId)).toMatchObject({ identity: { deviceKey: device }, properties: {} });
    await erasedByNow([`late-${id}`]);
  });

  it('goes with what it names when it expires', async () => {
    const { owner, email } = await aNamedPerson();
    const eventId = await send({ externalUserId: owner, email });
    const rows = () =>
      rowsOf(service.databaseUrl, 'SELECT kind FROM unlinked_identifiers WHERE tenant_id = $1', [workspace.tenantId]);
    expect(await rows()).toEqual([{ kind: 'EMAIL' }]);
    await untilDrained(service.databaseUrl, workspace.tenantId);
    await letDaysPass(service.databaseUrl, workspace.tenantId, 40, [eventId]);
    await expireOver(admin, 30);
    expect((await admin.get(`/v1/events/${eventId}`)).status).toBe(410);
    expect(await rows()).toEqual([]);
  });

  it('leaves nothing of the person in the answers of a webhook, also of a call that is under way', async () => {
    const { owner, email, marks } = await aNamedPerson();
    const webhook = await anEchoingWebhook(admin, receiver);
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    receiver.answer(async ({ text }) => {
      await held;
      return { status: 500, body: text };
    });
    const calls = receiver.calls.length;
    const event = aCdpEvent({ identity: { externalUserId: owner, email } });
    const eventId = (await admin.post('/v1/cdp/events', event)).body.event_id;
    await receiver.until(calls + 1);
    const erasing = erase('EMAIL', email);
    await until(async () => (await eventOf(eventId)).identity.email === undefined);
    answer();
    await erasing;
    await erasedByNow(marks);
    const [delivery] = (await admin.get(`/v1/webhooks/${webhook}/deliveries`)).body.items;
    expect(delivery.attempts).toMatchObject([{ status: 500, answer: '' }]);
  });
});

describe('an event of a customer that an undo has separated from the person', () => {
  const undoAll = async (type: string, value: string): Promise<void> => {
    const { items } = (await admin.get(`/v1/cdp/profiles/${await customerOf(type, value)}/merges`)).body;
    for (const { id } of items) expect((await admin.send(`/v1/cdp/merges/${id}:undo`, undefined)).status).toBe(200);
  };

  it('loses what names the person, and what names nobody else stays', async () => {
    const id = mark();
    const [owner, device] = [`owner-${id}`, `device-${id}`];
    const [email, phone] = [`jane-${id}@example.com`, `+4917${String(Date.now()).slice(-9)}`];
    await send({ externalUserId: owner, deviceKey: device });
    await send({ email, phone });
    const merging = await send({ externalUserId: owner, email }, { said: `by ${email}` });
    const between = await send(
      { externalUserId: owner, phone: ` 0${phone.slice(3)}`, deviceKey: device },
      { amount: 1 },
    );
    await undoAll('EXTERNAL', owner);
    const refused = await send({ externalUserId: owner, email });
    const named = [
      { eventId: merging, identity: { email } },
      { eventId: between, identity: { phone: ` 0${phone.slice(3)}` } },
      { eventId: refused, identity: { email } },
    ].map((each) => ({ ...each, receivedAt: expect.any(String) }));
    const exported = await namedInEvents('EMAIL', email);
    expect(exported).toHaveLength(named.length);
    expect(exported).toEqual(expect.arrayContaining(named));
    await erase('EMAIL', email);
    await erasedByNow([email, phone, phone.slice(3)]);
    const identity = { externalUserId: owner };
    expect(await eventOf(merging)).toMatchObject({ identity, properties: {} });
    expect(await eventOf(between)).toMatchObject({
      identity: { ...identity, deviceKey: device },
      properties: { amount: 1 },
    });
    const [other] = (await admin.get(`/v1/cdp/profiles/${await customerOf('EXTERNAL', owner)}/events`)).body.items;
    expect(other.identity.externalUserId).toBeDefined();
  });

  it('is found through all profiles of both sides', async () => {
    const id = mark();
    const [first, second] = [`first-${id}@example.com`, `second-${id}@example.com`];
    const [device, other] = [`device-${id}`, `other-${id}`];
    // Each side has two profiles, and the event names those that did not cause the merge.
    for (const identity of [{ email: first }, { deviceKey: device }, { email: first, deviceKey: device }])
      await send(identity);
    for (const identity of [{ email: second }, { deviceKey: other }, { email: second, deviceKey: other }])
      await send(identity);
    await send({ email: first, deviceKey: other });
    const eventId = await send({ email: second, deviceKey: device });
    const { items } = (await admin.get(`/v1/cdp/profiles/${await customerOf('EMAIL', first)}/merges`)).body;
    expect((await admin.send(`/v1/cdp/merges/${items[0].id}:undo`, undefined)).status).toBe(200);
    expect(await customerOf('EMAIL', first)).toBe(await customerOf('DEVICE', device));
    await erase('EMAIL', first);
    expect(await eventOf(eventId)).toMatchObject({ identity: { email: second } });
    await erasedByNow([first, device]);
  });
});
