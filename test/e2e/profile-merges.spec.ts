import { randomUUID } from 'node:crypto';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, registerTypes } from '../support/builders';
import { aClient, aReadyClient, aWorkspace, type Client, expectProblem, reviewEntries } from '../support/client';

let service: SharedApp;

beforeAll(async () => {
  service = await sharedApp();
});

const FIELDS = { x: 'externalUserId', m: 'email', d: 'deviceKey' } as const;
const valueOf = (name: string): string => (name.startsWith('m') ? `${name}@example.com` : `value-${name}`);

/** An event that names people as `x1 m1 d1`: an EXTERNAL identifier, an email and a device. */
async function link(client: Client, names: string): Promise<string> {
  const identity = Object.fromEntries(
    names.split(' ').map((name) => [FIELDS[name[0] as keyof typeof FIELDS], valueOf(name)]),
  );
  const answer = await client.post('/v1/cdp/events', aCdpEvent({ identity }));
  expect(answer.status).toBe(202);
  return answer.body.event_id;
}

const TYPES = { x: 'EXTERNAL', m: 'EMAIL', d: 'DEVICE' } as const;

async function profileOf(client: Client, name: string): Promise<any> {
  const body = { type: TYPES[name[0] as keyof typeof TYPES], value: valueOf(name) };
  return (await client.post('/v1/cdp/profiles:lookup', body)).body;
}

/** Which of the names are one person's: `['m1 x1', 'm2']`. */
async function partition(client: Client, names: string): Promise<string[]> {
  const persons = new Map<string, string[]>();
  for (const name of names.split(' ')) {
    const { id } = await profileOf(client, name);
    persons.set(id, [...(persons.get(id) ?? []), name]);
  }
  return [...persons.values()].map((each) => each.sort().join(' ')).sort();
}

const mergesOf = async (client: Client, name: string): Promise<any[]> =>
  (await client.get(`/v1/cdp/profiles/${(await profileOf(client, name)).id}/merges`)).body.items;
const undo = (client: Client, id: string) => client.send(`/v1/cdp/merges/${id}:undo`, undefined);

describe('GET /v1/cdp/profiles/{id}/merges', () => {
  it('tells which profile became part of which, by what event, newest first and in pages', async () => {
    const client = await aReadyClient(service);
    await link(client, 'm1');
    await link(client, 'd1');
    await link(client, 'x1');
    const [m1, d1, x1] = await Promise.all(['m1', 'd1', 'x1'].map((name) => profileOf(client, name)));
    const [first, second] = [await link(client, 'm1 d1'), await link(client, 'x1 d1')];
    const merges = await mergesOf(client, 'm1');
    const common = { id: expect.stringMatching(/^[0-9a-f-]{36}$/), mergedAt: expect.any(String), undoneAt: null };
    expect(merges).toEqual([
      { ...common, fromProfileId: m1.id, intoProfileId: x1.id, eventId: second },
      { ...common, fromProfileId: d1.id, intoProfileId: m1.id, eventId: first },
    ]);
    // Whichever profile is asked for, it is the same customer.
    for (const { id } of [m1, d1, x1]) {
      const one = (await client.get(`/v1/cdp/profiles/${id}/merges?limit=1`)).body;
      const other = (await client.get(`/v1/cdp/profiles/${id}/merges?limit=1&cursor=${one.nextCursor}`)).body;
      expect([...one.items, ...other.items, other.nextCursor]).toEqual([...merges, null]);
    }
  });

  it('is empty for who was never merged, and 404 for whom nobody or another workspace knows', async () => {
    const [client, stranger] = [await aReadyClient(service), await aReadyClient(service)];
    await link(client, 'x1 m1');
    expect(await mergesOf(client, 'x1')).toEqual([]);
    const { id } = await profileOf(client, 'x1');
    for (const unknown of [id, randomUUID(), 'x']) {
      expectProblem(await stranger.get(`/v1/cdp/profiles/${unknown}/merges`), 404, 'not_found', []);
    }
  });
});

describe('POST /v1/cdp/merges/{id}:undo', () => {
  it('restores both customers with their identifiers and events, and says so in the record', async () => {
    const client = await aReadyClient(service);
    await link(client, 'x1');
    await link(client, 'm1 d1');
    const before = [await profileOf(client, 'x1'), await profileOf(client, 'm1')];
    await link(client, 'x1 m1');
    expect(await partition(client, 'x1 m1 d1')).toEqual(['d1 m1 x1']);
    const [merge] = await mergesOf(client, 'x1');
    const answer = await undo(client, merge.id);
    expect([answer.status, answer.body]).toEqual([200, { ...merge, undoneAt: expect.any(String) }]);
    // The event that linked them stays where its strongest identifier is.
    expect(await profileOf(client, 'x1')).toEqual({ ...before[0], eventCount: 2 });
    expect(await profileOf(client, 'm1')).toEqual(before[1]);
    expect(await partition(client, 'x1 m1 d1')).toEqual(['d1 m1', 'x1']);
    for (const name of ['x1', 'm1']) expect(await mergesOf(client, name)).toEqual([answer.body]);
    const timeline = await client.get(`/v1/cdp/profiles/${before[1].id}/events`);
    expect(timeline.body.items).toHaveLength(1);
  });

  it('changes nothing when it is done again, also by several at once', async () => {
    const client = await aReadyClient(service);
    for (const names of ['m1', 'x1', 'x1 m1']) await link(client, names);
    const [merge] = await mergesOf(client, 'x1');
    const answers = await Promise.all(Array.from({ length: 8 }, () => undo(client, merge.id)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map(({ body }) => body.undoneAt)).size).toBe(1);
    expect((await undo(client, merge.id)).body).toEqual(answers[0]?.body);
    expect(await partition(client, 'x1 m1')).toEqual(['m1', 'x1']);
  });

  it('sticks: the same identifiers do not merge the two again, and new ones of either do not help them to', async () => {
    const client = await aReadyClient(service);
    for (const names of ['m1', 'x1', 'x1 m1']) await link(client, names);
    const [merge] = await mergesOf(client, 'x1');
    await undo(client, merge.id);
    await link(client, 'x1 m1');
    await link(client, 'm1 d1');
    await link(client, 'x1 d1');
    expect(await partition(client, 'x1 m1 d1')).toEqual(['d1 m1', 'x1']);
    expect((await reviewEntries(client)).map(({ reason }) => reason)).toEqual([
      'identity_link_refused',
      'identity_link_refused',
    ]);
  });

  it('lets a merge that came later go with the side whose identifier it was about', async () => {
    const client = await aReadyClient(service);
    for (const names of ['m1', 'm2', 'd1', 'd2', 'x1']) await link(client, names);
    await link(client, 'm1 d1');
    await link(client, 'm2 d2');
    await link(client, 'm2 d1');
    const [middle] = await mergesOf(client, 'm1');
    await link(client, 'x1 d2');
    expect(await partition(client, 'm1 m2 d1 d2 x1')).toEqual(['d1 d2 m1 m2 x1']);
    expect((await undo(client, middle.id)).status).toBe(200);
    expect(await partition(client, 'm1 m2 d1 d2 x1')).toEqual(['d1 m1', 'd2 m2 x1']);
    // Each of the others can be undone as well, whichever profile is the root now.
    for (const { id } of await mergesOf(client, 'x1')) expect((await undo(client, id)).status).toBe(200);
    for (const { id } of await mergesOf(client, 'm1')) expect((await undo(client, id)).status).toBe(200);
    expect(await partition(client, 'm1 m2 d1 d2 x1')).toEqual(['d1', 'd2', 'm1', 'm2', 'x1']);
  });

  it('keeps everybody of one side apart from everybody of the other, whatever else is undone after it', async () => {
    const client = await aReadyClient(service);
    for (const names of ['m1', 'd1', 'm1 d1', 'x1', 'x1 d1']) await link(client, names);
    const [later, earlier] = await mergesOf(client, 'x1');
    await undo(client, earlier.id);
    expect(await partition(client, 'm1 d1 x1')).toEqual(['d1 x1', 'm1']);
    await undo(client, later.id);
    await link(client, 'x1 d1');
    expect(await partition(client, 'm1 d1 x1')).toEqual(['d1', 'm1', 'x1']);
    // The first undoing parted the email from the device and from who was one with it.
    await link(client, 'x1 m1');
    await link(client, 'm1 d1');
    expect(await partition(client, 'm1 d1 x1')).toEqual(['d1', 'm1', 'x1']);
  });

  it('keeps a device apart from who was named with the email that it was parted from', async () => {
    const client = await aReadyClient(service);
    for (const names of ['d1', 'm1', 'm1 d1', 'x1', 'x1 m1']) await link(client, names);
    const [, first] = await mergesOf(client, 'd1');
    await undo(client, first.id);
    expect(await partition(client, 'd1 m1 x1')).toEqual(['d1', 'm1 x1']);
    const [second] = await mergesOf(client, 'x1');
    await undo(client, second.id);
    for (const names of ['x1 d1', 'm1 d1', 'x1 m1 d1', 'm2 d1', 'x1 m2']) await link(client, names);
    expect(await partition(client, 'd1 m1 m2 x1')).toEqual(['d1 m2', 'm1', 'x1']);
  });

  it('lets a new EXTERNAL identifier go with the email that it came with, however old the device is', async () => {
    const client = await aReadyClient(service);
    for (const names of ['d1', 'm1', 'm1 d1', 'x1 m1']) await link(client, names);
    const [device, customer] = [await profileOf(client, 'd1'), await profileOf(client, 'x1')];
    expect(customer.id).toBe(device.id);
    const [merge] = await mergesOf(client, 'd1');
    await undo(client, merge.id);
    expect(await partition(client, 'd1 m1 x1')).toEqual(['d1', 'm1 x1']);
    await link(client, 'x1 m1');
    await link(client, 'x1 d1');
    expect(await partition(client, 'd1 m1 x1')).toEqual(['d1', 'm1 x1']);
    expect(await profileOf(client, 'x1')).toMatchObject({ id: merge.fromProfileId, eventCount: 5 });
    expect(await profileOf(client, 'd1')).toMatchObject({ id: device.id, eventCount: 1 });
    expect((await reviewEntries(client)).map(({ reason }) => reason)).toEqual(['identity_link_refused']);
    // The device is free to become somebody else's.
    await link(client, 'x2 d1');
    expect(await partition(client, 'd1 m1 x1 x2')).toEqual(['d1 x2', 'm1 x1']);
  });

  it('warns of an event that names parted identifiers together, and keeps it under the strongest', async () => {
    const client = await aReadyClient(service);
    for (const names of ['d1', 'm1', 'm1 d1']) await link(client, names);
    const [merge] = await mergesOf(client, 'd1');
    await undo(client, merge.id);
    await link(client, 'm1 d1');
    expect(await profileOf(client, 'm1')).toMatchObject({ eventCount: 3 });
    expect(await profileOf(client, 'd1')).toMatchObject({ eventCount: 1 });
    expect(await reviewEntries(client)).toMatchObject([{ severity: 'warning', reason: 'identity_link_refused' }]);
    // A new EXTERNAL identifier goes to the stronger one; once both have one of their own, nothing tells whose it is.
    await link(client, 'x1 m1 d1');
    await link(client, 'x2 d1');
    expect(await partition(client, 'd1 m1 x1 x2')).toEqual(['d1 x2', 'm1 x1']);
    const identity = { email: valueOf('m1'), deviceKey: valueOf('d1') };
    expectProblem(await client.post('/v1/cdp/events', aCdpEvent({ identity })), 409, 'identity_conflict', [
      'identity identity_conflict',
    ]);
  });

  it('takes identifiers along that came with those of a side', async () => {
    const client = await aReadyClient(service);
    for (const names of ['m1', 'm2', 'd1 m1', 'm2 d1', 'm2 x1']) await link(client, names);
    const [merge] = await mergesOf(client, 'm1');
    await link(client, 'm2 d3');
    await undo(client, merge.id);
    expect(await partition(client, 'm1 m2 d1 d3 x1')).toEqual(['d1 m1', 'd3 m2 x1']);
  });

  it('answers 404 for what is no merge, nobody’s, or another workspace’s, and takes profiles:write only', async () => {
    const workspace = await aWorkspace(service);
    const client = workspace.admin;
    await registerTypes(client);
    for (const names of ['m1', 'x1', 'x1 m1']) await link(client, names);
    const [merge] = await mergesOf(client, 'x1');
    for (const unknown of [randomUUID(), 'x', merge.fromProfileId]) {
      expectProblem(await undo(client, unknown), 404, 'not_found', []);
    }
    expectProblem(await undo(await aClient(service), merge.id), 404, 'not_found', []);
    expectProblem(
      await undo(await workspace.client({ scopes: ['profiles:read'] }), merge.id),
      403,
      'insufficient_scope',
    );
    expect((await mergesOf(client, 'x1'))[0].undoneAt).toBeNull();
    expect((await undo(await workspace.client({ scopes: ['profiles:write'] }), merge.id)).status).toBe(200);
  });
});
