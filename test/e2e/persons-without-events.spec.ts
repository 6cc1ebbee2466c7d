import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, anExternalEvent } from '../support/builders';
import { type Answer, type Client, expectProblem } from '../support/client';
import { aCampaign, type Campaign, mutate, set } from '../support/runtime';
import { placesOf } from '../support/traces';

const ERASE = '/v1/cdp/profiles:erase';
const EXPORT = '/v1/cdp/profiles:export';

let service: TestApp;
let campaign: Campaign;
let admin: Client;

beforeAll(async () => {
  service = await startApp();
  campaign = await aCampaign(service);
  ({ admin } = campaign.workspace);
  await campaign.define('state.user.motto', 'string');
});

afterAll(() => service.stop());

interface Participant {
  readonly identity: { readonly type: 'EXTERNAL'; readonly value: string };
  readonly motto: string;
  readonly client: Client;
}

/** A participant who has changed their state, and without events. */
async function aParticipant(value = `sub-${randomUUID()}`): Promise<Participant> {
  const motto = `motto-${randomUUID()}`;
  const client = campaign.participant({ sub: value });
  expect((await mutate(client, [set('state.user.motto', motto)], { mutation_id: 'one' })).status).toBe(200);
  return { identity: { type: 'EXTERNAL', value }, motto, client };
}

async function exportOf(identity: object): Promise<any[]> {
  const headers = { authorization: `Bearer ${admin.key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${admin.url}${EXPORT}`, { method: 'POST', headers, body: JSON.stringify(identity) });
  expect(answer.status).toBe(200);
  return (await answer.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const eventOf = (identity: object): Promise<Answer> => admin.post('/v1/external-events', anExternalEvent({ identity }));

describe('POST /v1/cdp/profiles:export', () => {
  it('hands out what a participant has stored, without making a profile', async () => {
    const { identity, motto } = await aParticipant();
    const records = await exportOf(identity);
    expect(records.map(({ record }) => record)).toEqual(['participant_state', 'mutation_outcome', 'value_change']);
    expect(records[0].data).toMatchObject({ campaignId: campaign.campaignId, values: { motto } });
    expectProblem(await admin.post('/v1/cdp/profiles:lookup', identity), 404, 'not_found');
  });

  it('hands out every change once, also where a mutation has more than fit into a page', async () => {
    const { identity, client } = await aParticipant();
    // A page has 200 changes: it ends within the third of these mutations.
    const values = [40, 100, 100].map((count, sent) => Array.from({ length: count }, (_none, at) => `${sent}-${at}`));
    for (const each of values) {
      const ops = each.map((value) => set('state.user.motto', value));
      expect((await mutate(client, ops)).status).toBe(200);
    }
    const changes = (await exportOf(identity)).filter(({ record }) => record === 'value_change');
    expect(changes.slice(1).map(({ data }) => data.current)).toEqual(values.flat());
  });

  it('hands out the same as by the id of the profile, once there is one', async () => {
    const { identity } = await aParticipant();
    await eventOf(identity);
    const { id } = (await admin.post('/v1/cdp/profiles:lookup', identity)).body;
    const byIdentifier = await exportOf(identity);
    expect(byIdentifier.map(({ record }) => record)).toEqual([
      'profile',
      'event',
      'participant_state',
      'mutation_outcome',
      'value_change',
    ]);
    expect(byIdentifier[0].data.id).toBe(id);
  });
});

describe('POST /v1/cdp/profiles:erase', () => {
  it('leaves nothing of a participant, and refuses their events from then on', async () => {
    const [person, other] = [await aParticipant(), await aParticipant()];
    const { identity, motto } = person;
    const answer = await admin.post(ERASE, identity);
    expect([answer.status, answer.body]).toEqual([
      200,
      { profileId: expect.any(String), erasedAt: expect.any(String) },
    ]);
    expect(await placesOf(service.databaseUrl, [identity.value, motto])).toEqual([]);
    expect((await placesOf(service.databaseUrl, [other.identity.value])).length).toBeGreaterThan(0);
    expectProblem(await eventOf(identity), 409, 'profile_erased');
    expectProblem(await admin.post(ERASE, identity), 404, 'not_found');
  });

  it('erases them again when they have begun anew', async () => {
    const { identity, client } = await aParticipant();
    expect((await admin.post(ERASE, identity)).status).toBe(200);
    const again = await mutate(client, [set('state.user.motto', 'again')], { mutation_id: 'one' });
    expect(again.body.status).toBe('applied');
    expect((await admin.post(ERASE, identity)).status).toBe(200);
    expect(await placesOf(service.databaseUrl, [identity.value])).toEqual([]);
  });

  it('keeps the identifiers together that were erased together, so that one lift is for all', async () => {
    const { identity, client } = await aParticipant();
    const email = `${randomUUID()}@example.com`;
    await admin.post('/v1/cdp/event-types', { eventType: 'signed_up', properties: {} });
    const event = () =>
      aCdpEvent({ eventType: 'signed_up', identity: { externalUserId: identity.value, email }, properties: {} });
    expect((await admin.post('/v1/cdp/events', event())).status).toBe(202);
    expect((await admin.post(ERASE, identity)).status).toBe(200);
    await mutate(client, [set('state.user.motto', 'again')], { mutation_id: 'two' });
    expect((await admin.post(ERASE, identity)).status).toBe(200);
    expect((await admin.post('/v1/cdp/erasures:lift', { type: 'EMAIL', value: email })).body.status).toBe('lifted');
    expect((await admin.post('/v1/cdp/events', event())).status).toBe(202);
  });

  it('erases a customer by any identifier, as by the id of the profile', async () => {
    const { identity } = await aParticipant();
    await eventOf(identity);
    const { id } = (await admin.post('/v1/cdp/profiles:lookup', identity)).body;
    expect((await admin.post(ERASE, identity)).body).toMatchObject({ profileId: id });
    expect(await placesOf(service.databaseUrl, [identity.value])).toEqual([]);
  });

  it('beside the first events of the participant erases them in one way or the other', async () => {
    const erasedOnes: string[] = [];
    for (let round = 0; round < 10; round += 1) {
      const { identity } = await aParticipant();
      const [erased] = await Promise.all([admin.post(ERASE, identity), eventOf(identity), eventOf(identity)]);
      expect(erased.status).toBe(200);
      expectProblem(await eventOf(identity), 409, 'profile_erased');
      erasedOnes.push(identity.value);
    }
    const places = await placesOf(service.databaseUrl, erasedOnes);
    // What came in behind the erasure was refused, and is kept for replay as anything that is refused.
    expect(places.filter((place) => !place.startsWith('public.review_entries'))).toEqual([]);
  });

  it('finds nobody by what nobody is known by, and nobody of another workspace', async () => {
    const { identity } = await aParticipant();
    const stranger = (await aCampaign(service)).workspace.admin;
    for (const [client, wanted] of [
      [stranger, identity],
      [admin, { type: 'EXTERNAL', value: 'nobody' }],
      [admin, { type: 'EMAIL', value: 'nobody@example.com' }],
    ] as const) {
      expectProblem(await client.post(ERASE, wanted), 404, 'not_found');
      expectProblem(await client.post(EXPORT, wanted), 404, 'not_found');
    }
    expect((await exportOf(identity)).length).toBe(3);
  });
});

describe('a participant whose subject is a placeholder', () => {
  it.each(['null', 'Guest', '0'])('is exported, erased and lifted by it, and no event has it: %j', async (value) => {
    const { identity, motto } = await aParticipant(value);
    expectProblem(await admin.post('/v1/cdp/profiles:lookup', identity), 404, 'not_found');
    const [state] = await exportOf(identity);
    expect(state.data.values).toEqual({ motto });
    expect((await admin.post(ERASE, identity)).status).toBe(200);
    const read = await admin.get(`/v1/campaigns/${campaign.campaignId}/participants/${value}/state`);
    expect(JSON.stringify(read.body)).not.toContain(motto);
    expectProblem(await eventOf(identity), 422, 'validation_failed', ['identity.value placeholder_identity']);
    expect((await admin.post('/v1/cdp/erasures:lift', identity)).body).toEqual({ status: 'lifted' });
  });
});
