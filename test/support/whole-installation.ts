import { aCdpEvent, anExternalEvent } from './builders';
import { Client, expectProblem, reviewEntries } from './client';
import { aFullPerson, CAMPAIGN, preparePersons } from './persons';
import { beginReplay, replayOnce, sendTooEarly } from './review';
import { inc, mutate, stateOf, summary } from './runtime';
import { anHmacSigner, sendSigned } from './signatures';
import { aTokenIssuer } from './tokens';
import { until } from './until';

/** A service with data of every kind, and what must be true of each copy of them. */
export interface WholeInstallation {
  /** Of a service over a copy of the data, whose workers run; it changes them. */
  verify(url: string): Promise<void>;
}

const EVENTS = '/v1/external-events';

/** Fills a service whose workers do not run (`ROLE=api`), so that work is left in its queues. */
export async function fillInstallation(service: { url: string; adminKey: string }): Promise<WholeInstallation> {
  const admin = new Client(service.url, service.adminKey);
  await preparePersons(admin);
  const person = await aFullPerson(admin);
  const erased = await aFullPerson(admin);
  expect((await admin.send(`/v1/cdp/profiles/${erased.profileId}:erase`, undefined)).status).toBe(200);
  const key = await made(admin, '/v1/api-keys', { name: 'shop', scopes: ['external-events:write', 'events:read'] });
  const signer = await anHmacSigner(admin);
  const campaign = await fillCampaign(admin);
  const stored = anExternalEvent();
  expect((await admin.post(EVENTS, stored)).status).toBe(202);
  const replay = await fillReview(admin);
  const merges = (await admin.get(`/v1/cdp/profiles/${person.profileId}/merges`)).body.items;
  const timeline = (await admin.get(`/v1/cdp/profiles/${person.profileId}/events`)).body.items;
  const reviewed = await entryIds(admin);
  const events = (await admin.get('/v1/events?limit=200')).body.items.map(idOf);

  const verify = async (url: string): Promise<void> => {
    const copy = new Client(url, service.adminKey);
    expect((await copy.get('/v1/events?limit=200')).body.items.map(idOf)).toEqual(events);
    expect(await entryIds(copy)).toEqual(reviewed);
    expect((await copy.get(`/v1/cdp/profiles/${person.profileId}/merges`)).body.items).toEqual(merges);
    const events2 = (await copy.get(`/v1/cdp/profiles/${person.profileId}/events`)).body.items;
    expect(events2.map(idOf)).toEqual(timeline.map(idOf));
    expect(summary(await new Client(url, key.key).post(EVENTS, stored))).toBe('200 duplicate');
    const again = anExternalEvent({ identity: { type: 'EMAIL', value: erased.email } });
    expectProblem(await copy.post(EVENTS, again), 409, 'profile_erased');
    const signed = JSON.stringify(anExternalEvent());
    expect((await sendSigned(url, signer, { method: 'POST', target: EVENTS, body: signed })).status).toBe(202);
    await campaign.verify(url);
    expect(await replayOnce(() => copy, replay)).toMatchObject({ state: 'done', accepted: 3, failed: 0 });
    const queued = `/v1/events?state=queued`;
    await until(async () => (await copy.get(queued)).body.items.length === 0);
  };
  return { verify };
}

/** A participant with state and a mutation, whose issuer shares a secret, and an event that waits for a reaction. */
async function fillCampaign(admin: Client): Promise<WholeInstallation> {
  const variable = { scope: 'user', name: 'points', type: 'number' };
  await made(admin, `/v1/campaigns/${CAMPAIGN}/variables:define`, variable);
  const ops = [inc('state.user.points', 10)];
  await made(admin, `/v1/campaigns/${CAMPAIGN}/reactions:define`, { name: 'reward', eventType: 'visit', ops });
  const issuer = await aTokenIssuer(admin, { alg: 'HS256', fields: { audience: 'sealed' } });
  const token = issuer.token({ sub: 'ann', campaign_id: CAMPAIGN });
  const one = [inc('state.user.points')];
  const first = await mutate(new Client(admin.url, token), one, { mutation_id: 'first' });
  expect(summary(first)).toBe('200 applied');
  const visit = anExternalEvent({ type: 'visit', identity: { type: 'EXTERNAL', value: 'ann' } });
  const taken = await admin.post(EVENTS, visit);
  expect((await admin.get(`/v1/events/${taken.body.event_id}`)).body.processing.state).toBe('queued');
  return {
    verify: async (url) => {
      const participant = new Client(url, token);
      const repeated = await mutate(participant, one, { mutation_id: 'first' });
      expect([summary(repeated), repeated.body.mutations]).toEqual(['200 duplicate', first.body.mutations]);
      await until(async () => (await stateOf(participant)).user.points === 11);
    },
  };
}

/** Refused events, one that was dismissed, and a replay that no worker has begun; answers its id. */
async function fillReview(admin: Client): Promise<string> {
  await sendTooEarly(admin, 3, { source: 'early', eventType: 'early' });
  await admin.post('/v1/cdp/events', aCdpEvent({ source: 'late', properties: {} }));
  const [late] = await reviewEntries(admin, '&source=late');
  await made(admin, `/v1/review-entries/${late.id}:dismiss`, {});
  await made(admin, '/v1/cdp/event-types', { eventType: 'early', properties: {}, additionalProperties: 'allow' });
  return beginReplay(admin, { source: 'early' });
}

async function made(client: Client, path: string, body: object): Promise<any> {
  const answer = await client.post(path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function entryIds(client: Client): Promise<string[]> {
  return (await reviewEntries(client)).map(({ id }) => id);
}

function idOf({ eventId }: { eventId: string }): string {
  return eventId;
}
