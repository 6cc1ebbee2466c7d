import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, anExternalEvent } from '../support/builders';
import {
  aReadyClient,
  type Client,
  expectProblem,
  reviewEntries,
  storedEvent,
  theReviewEntry,
} from '../support/client';

const PATH = '/v1/cdp/events';

let service: TestApp;
let strict: TestApp;

beforeAll(async () => {
  service = await startApp();
  strict = await startApp({ IDENTITY_CONFLICT_POLICY: 'reject' });
});

afterAll(async () => {
  await service.stop();
  await strict.stop();
});

/** Sends an event of this person, which must be accepted, and answers the profile that it is recorded under. */
async function profileOf(client: Client, identity: object): Promise<string> {
  const answer = await client.post(PATH, aCdpEvent({ identity }));
  expect([answer.status, answer.body.status]).toEqual([202, 'accepted']);
  return (await storedEvent(client, answer)).profileId;
}

const reasons = async (client: Client) => (await reviewEntries(client)).map(({ reason }) => reason);

/** Whether this identifier belongs to a customer who has an EXTERNAL one: another customer's EXTERNAL cannot take it over. */
async function isTaken(client: Client, identifier: object): Promise<boolean> {
  const before = (await reasons(client)).length;
  await profileOf(client, { externalUserId: `stranger-${Math.random()}`, ...identifier });
  const after = await reasons(client);
  expect(new Set(after.slice(0, after.length - before))).toEqual(
    new Set(after.length > before ? ['identity_link_refused'] : []),
  );
  return after.length > before;
}

describe('who an event belongs to: nobody or one customer is known (rule 1)', () => {
  it('makes one new profile of all identifiers of an unknown person', async () => {
    const client = await aReadyClient(service);
    const identity = {
      externalUserId: 'c-0001',
      email: 'jane@example.com',
      phone: '+4915112345612',
      deviceKey: 'device-1',
    };
    const profile = await profileOf(client, identity);
    for (const [field, value] of Object.entries(identity))
      expect(await profileOf(client, { [field]: value })).toBe(profile);
    expect(await profileOf(client, { externalUserId: 'c-0002' })).not.toBe(profile);
  });

  it('gives a known customer the identifiers that are new', async () => {
    const client = await aReadyClient(service);
    const profile = await profileOf(client, { email: 'jane@example.com' });
    expect(await profileOf(client, { email: 'jane@example.com', deviceKey: 'device-1' })).toBe(profile);
    expect(await profileOf(client, { deviceKey: 'device-1', externalUserId: 'c-0001' })).toBe(profile);
    expect(await profileOf(client, { externalUserId: 'c-0001' })).toBe(profile);
    expect(await reasons(client)).toEqual([]);
  });

  it('knows a customer in both families', async () => {
    const client = await aReadyClient(service);
    const profile = await profileOf(client, { externalUserId: 'c-0001', deviceKey: 'device-1' });
    for (const identity of [
      { type: 'external_user_id', value: 'c-0001' },
      { type: 'DEVICE', value: 'device-1' },
    ]) {
      const answer = await client.post('/v1/external-events', anExternalEvent({ identity }));
      expect(await storedEvent(client, answer)).toMatchObject({ profileId: profile });
    }
  });

  it('knows no customer of another workspace', async () => {
    const clients = [await aReadyClient(service), await aReadyClient(service)];
    const profiles = await Promise.all(clients.map((client) => profileOf(client, { email: 'jane@example.com' })));
    expect(new Set(profiles).size).toBe(2);
  });

  it('makes one profile of thirty simultaneous first events of one person', async () => {
    const client = await aReadyClient(service);
    const sent = Array.from({ length: 30 }, () =>
      profileOf(client, { externalUserId: 'c-0001', email: 'jane@example.com' }),
    );
    expect(new Set(await Promise.all(sent)).size).toBe(1);
  });
});

describe('who an event belongs to: several customers are known (rule 2)', () => {
  it('merges two customers of whom one has an EXTERNAL identifier into that one', async () => {
    const client = await aReadyClient(service);
    const older = await profileOf(client, { email: 'jane@example.com' });
    const named = await profileOf(client, { externalUserId: 'c-0001', deviceKey: 'device-1' });
    expect(older).not.toBe(named);
    expect(await isTaken(client, { deviceKey: 'device-1' })).toBe(true);
    expect(await profileOf(client, { externalUserId: 'c-0001', email: 'jane@example.com' })).toBe(named);
    expect(await isTaken(client, { email: 'jane@example.com' })).toBe(true);
  });

  it('merges them by weaker identifiers alone, too', async () => {
    const client = await aReadyClient(service);
    const named = await profileOf(client, { externalUserId: 'c-0001', email: 'jane@example.com' });
    await profileOf(client, { deviceKey: 'device-1' });
    expect(await profileOf(client, { email: 'jane@example.com', deviceKey: 'device-1' })).toBe(named);
    expect(await isTaken(client, { deviceKey: 'device-1' })).toBe(true);
  });

  it('counts the EXTERNAL identifier that the event itself brings', async () => {
    const client = await aReadyClient(service);
    await profileOf(client, { email: 'jane@example.com' });
    await profileOf(client, { deviceKey: 'device-1' });
    await profileOf(client, { externalUserId: 'c-0001', email: 'jane@example.com', deviceKey: 'device-1' });
    expect(await reasons(client)).toEqual([]);
    expect(await isTaken(client, { email: 'jane@example.com' })).toBe(true);
    expect(await isTaken(client, { deviceKey: 'device-1' })).toBe(true);
  });

  it('merges customers without an EXTERNAL identifier, who then get theirs together', async () => {
    const client = await aReadyClient(service);
    await profileOf(client, { email: 'jane@example.com' });
    await profileOf(client, { deviceKey: 'device-1' });
    await profileOf(client, { email: 'jane@example.com', deviceKey: 'device-1' });
    expect(await reasons(client)).toEqual([]);
    await profileOf(client, { externalUserId: 'c-0001', email: 'jane@example.com' });
    expect(await isTaken(client, { deviceKey: 'device-1' })).toBe(true);
  });

  it('merges them into the oldest, under whose profile events are recorded from then on', async () => {
    const client = await aReadyClient(service);
    const oldest = await profileOf(client, { deviceKey: 'device-1' });
    await profileOf(client, { email: 'jane@example.com' });
    expect(await profileOf(client, { email: 'jane@example.com', deviceKey: 'device-1' })).toBe(oldest);
    expect(await profileOf(client, { email: 'jane@example.com' })).toBe(oldest);
  });
});

describe('who an event belongs to: nobody holds two EXTERNAL identifiers (rule 3)', () => {
  it('leaves an identifier of another customer where it is, and accepts the event with a warning', async () => {
    const client = await aReadyClient(service);
    const jane = await profileOf(client, { externalUserId: 'c-0001', email: 'jane@example.com' });
    const event = aCdpEvent({ identity: { externalUserId: 'c-0002', email: 'jane@example.com' } });
    const answer = await client.post(PATH, event);
    expect(answer.status).toBe(202);
    expect((await storedEvent(client, answer)).profileId).not.toBe(jane);
    expect(await profileOf(client, { email: 'jane@example.com' })).toBe(jane);
    expect(await theReviewEntry(client)).toMatchObject({
      severity: 'warning',
      stage: 'identity',
      reason: 'identity_link_refused',
      externalEventId: event['externalEventId'],
      eventId: answer.body.event_id,
    });
  });

  const twoCustomers = [
    { externalUserId: 'c-0001', email: 'jane@example.com' },
    { externalUserId: 'c-0002', deviceKey: 'device-2' },
  ];
  const conflict = { email: 'jane@example.com', deviceKey: 'device-2' };

  it('refuses an event whose weaker identifiers belong to two customers with 409, and keeps it in review', async () => {
    const client = await aReadyClient(service);
    for (const identity of twoCustomers) await profileOf(client, identity);
    const event = aCdpEvent({ identity: conflict });
    expectProblem(await client.post(PATH, event), 409, 'identity_conflict', ['identity identity_conflict']);
    expect((await client.get('/v1/events')).body.items).toHaveLength(2);
    expect(await theReviewEntry(client)).toMatchObject({
      severity: 'error',
      stage: 'identity',
      reason: 'identity_conflict',
      externalEventId: event['externalEventId'],
      status: 'open',
    });
    const corrected = await client.post(PATH, { ...event, identity: { ...conflict, externalUserId: 'c-0001' } });
    expect(corrected.status).toBe(202);
    const [warning, refusal] = await reviewEntries(client);
    expect([warning?.reason, refusal?.status]).toEqual(['identity_link_refused', 'superseded']);
  });

  it('changes nothing by an event that it refuses', async () => {
    const client = await aReadyClient(service);
    const [jane, jim] = [
      await profileOf(client, twoCustomers[0] ?? {}),
      await profileOf(client, twoCustomers[1] ?? {}),
    ];
    const refused = aCdpEvent({ identity: { ...conflict, phone: '+4915112345612' } });
    expectProblem(await client.post(PATH, refused), 409, 'identity_conflict');
    expect(await profileOf(client, { email: 'jane@example.com' })).toBe(jane);
    expect(await profileOf(client, { deviceKey: 'device-2' })).toBe(jim);
    expect([jane, jim]).not.toContain(await profileOf(client, { phone: '+4915112345612' }));
  });

  it('refuses the first case too under IDENTITY_CONFLICT_POLICY=reject', async () => {
    const client = await aReadyClient(strict);
    const jane = await profileOf(client, { externalUserId: 'c-0001', email: 'jane@example.com' });
    const event = aCdpEvent({ identity: { externalUserId: 'c-0002', email: 'jane@example.com' } });
    expectProblem(await client.post(PATH, event), 409, 'identity_conflict', ['identity identity_conflict']);
    const batch = await client.post('/v1/cdp/events/batch', { items: [event, aCdpEvent()] });
    expect(batch.body.results).toMatchObject([{ error_code: 'identity_conflict' }, { status: 'accepted' }]);
    expect(await theReviewEntry(client)).toMatchObject({
      severity: 'error',
      reason: 'identity_conflict',
      occurrences: 2,
    });
    expect(await profileOf(client, { email: 'jane@example.com' })).toBe(jane);
  });

  it('links what may be linked under IDENTITY_CONFLICT_POLICY=reject as well', async () => {
    const client = await aReadyClient(strict);
    const jane = await profileOf(client, { externalUserId: 'c-0001' });
    await profileOf(client, { email: 'jane@example.com' });
    expect(await profileOf(client, { externalUserId: 'c-0001', email: 'jane@example.com' })).toBe(jane);
    expect(await reasons(client)).toEqual([]);
  });
});

describe('how many identifiers a customer may have', () => {
  it('links 50 devices and leaves the next one unlinked, accepted with a warning', async () => {
    const client = await aReadyClient(service);
    const event = (device: number) =>
      aCdpEvent({ identity: { externalUserId: 'c-0001', deviceKey: `device-${device}` } });
    await client.post(`${PATH}/batch`, { items: Array.from({ length: 50 }, (_unused, device) => event(device)) });
    expect(await reasons(client)).toEqual([]);
    const jane = await profileOf(client, { externalUserId: 'c-0001' });
    const answer = await client.post(PATH, event(50));
    expect((await storedEvent(client, answer)).profileId).toBe(jane);
    expect(await theReviewEntry(client)).toMatchObject({
      severity: 'warning',
      stage: 'identity',
      reason: 'identity_limit_reached',
      eventId: answer.body.event_id,
    });
    expect(await profileOf(client, { deviceKey: 'device-49' })).toBe(jane);
    expect(await profileOf(client, { deviceKey: 'device-50' })).not.toBe(jane);
    expect(await profileOf(client, { externalUserId: 'c-0001', email: 'jane@example.com' })).toBe(jane);
  });
});
