import { randomUUID } from 'node:crypto';
import { aCdpEvent, anExternalEvent, registerTypes } from './builders';
import { aWorkspace, type Client, type RunningService, type Workspace } from './client';
import { aTokenIssuer } from './tokens';
import { until } from './until';
import { aWebhook, type Receiver } from './webhooks';

/** A person with data in every place where the service stores personal data. */
export interface FullPerson {
  /** Texts that occur nowhere else: what an export shows and an erasure removes. */
  readonly marks: readonly string[];
  readonly subject: string;
  readonly email: string;
  readonly phone: string;
  readonly device: string;
  readonly profileId: string;
  /** Ids of the events that were accepted. */
  readonly eventIds: readonly string[];
  /** As the person's device would read and change state. */
  readonly participant: Client;
}

export const CAMPAIGN = 'spring';

/** What `aFullPerson` needs of a workspace; once. */
export async function preparePersons(admin: Client): Promise<void> {
  await declareForPersons(admin);
  await subscribeToPersons(admin);
}

async function declareForPersons(admin: Client): Promise<void> {
  await registerTypes(admin);
  const define = (scope: string, name: string) =>
    admin.post(`/v1/campaigns/${CAMPAIGN}/variables:define`, { scope, name, type: 'string' });
  await define('user', 'motto');
  await define('campaign', 'slogan');
}

async function subscribeToPersons(admin: Client): Promise<void> {
  // Changes are stored for an endpoint that is disabled, and nothing is sent.
  const events = [{ change: { scope: 'user', name: 'motto' } }, { change: { scope: 'campaign', name: 'slogan' } }];
  const { body } = await admin.post('/v1/webhooks', { url: 'https://hooks.example.com/', events });
  await admin.post(`/v1/webhooks/${body.webhook.id}:disable`, {});
}

/**
 * A workspace for each of so many tests. Each subscription to changes waits a second for all processes to know it, so that
 * they wait together; what a busy machine would answer 503 comes one after the other. What is returned gives the next one.
 */
export async function workspacesForPersons(service: RunningService, count: number): Promise<() => Workspace> {
  const prepared: Workspace[] = [];
  while (prepared.length < count) {
    const workspace = await aWorkspace(service);
    await declareForPersons(workspace.admin);
    prepared.push(workspace);
  }
  await Promise.all(prepared.map(({ admin }) => subscribeToPersons(admin)));
  return () => {
    const next = prepared.pop();
    if (next === undefined) throw new Error(`There are more than ${count} tests.`);
    return next;
  };
}

/** An endpoint whose answers repeat what it gets, with identities and all: its deliveries hold personal data. */
export async function anEchoingWebhook(admin: Client, receiver: Receiver): Promise<string> {
  receiver.answer(({ text }) => ({ status: 200, body: text }));
  return (await aWebhook(admin, receiver.url, { unmask: true })).id;
}

/** `webhookId`: of an endpoint that `anEchoingWebhook` has made, in a service that processes events. */
export async function aFullPerson(admin: Client, webhookId?: string): Promise<FullPerson> {
  const mark = randomUUID().slice(0, 8);
  const subject = `subject-${mark}`;
  const email = `jane-${mark}@example.com`;
  const device = `device-${mark}`;
  const phone = `+49170${String(Math.floor(Math.random() * 1e7)).padStart(7, '0')}`;
  const eventIds: string[] = [];
  const accept = async (path: string, event: object): Promise<void> => {
    const { status, body } = await admin.post(path, event);
    if (status !== 202) throw new Error(`An event was not accepted: ${JSON.stringify(body)}`);
    eventIds.push(body.event_id);
  };
  // Two profiles that a third event merges, with something personal in the properties too.
  const nickname = `nick-${mark}`;
  const first = anExternalEvent({ identity: { type: 'EMAIL', value: email.toUpperCase() } });
  await accept('/v1/external-events', first);
  // A warning about an event of theirs, whose payload names no person.
  await admin.post('/v1/external-events', {
    ...first,
    identity: { type: 'DEVICE', value: 'mistaken' },
    attributes: { said: `words-${mark}` },
  });
  await accept('/v1/cdp/events', aCdpEvent({ identity: { externalUserId: subject, phone } }));
  await accept(
    '/v1/cdp/events',
    aCdpEvent({ identity: { externalUserId: subject, email, deviceKey: device }, properties: { amount: 1, nickname } }),
  );
  // An event of another customer, which names the person.
  await admin.post(
    '/v1/cdp/events',
    aCdpEvent({ identity: { externalUserId: `other-${mark}`, email, deviceKey: device } }),
  );
  await refuseSome(admin, { subject, email, phone, mark });
  const issuer = await aTokenIssuer(admin);
  const participant = issuer.participant({ sub: subject, campaign_id: CAMPAIGN, sid: `session-${mark}` });
  const motto = `motto-${mark}`;
  const ops = [
    { path: 'state.user.motto', op: 'set', value: motto },
    { path: 'state.campaign.slogan', op: 'set', value: 'hello' },
  ];
  const changed = await participant.post('/v1/runtime/state:mutate', { ops, mutation_id: `mutation-${mark}` });
  if (changed.status !== 200) throw new Error(`State was not changed: ${JSON.stringify(changed.body)}`);
  const profileId = (await admin.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: subject })).body.id;
  if (webhookId !== undefined) await untilAnswered(admin, webhookId, eventIds);
  const marks = [
    subject,
    email,
    device,
    phone,
    phone.slice(3),
    nickname,
    motto,
    `session-${mark}`,
    `mutation-${mark}`,
    `note-${mark}`,
    `words-${mark}`,
  ];
  return { marks, subject, email, phone, device, profileId, eventIds, participant };
}

/** Waits until the answers to the calls about these events are stored. */
async function untilAnswered(admin: Client, webhookId: string, eventIds: readonly string[]): Promise<void> {
  await until(async () => {
    const { body } = await admin.get(`/v1/webhooks/${webhookId}/deliveries?state=delivered&limit=200`);
    const answered = body.items.filter(({ attempts }: any) => attempts[0]?.answer.includes('"identity"'));
    return eventIds.every((eventId) => answered.some(({ id }: { id: string }) => id === eventId));
  });
}

/** Leaves payloads that name the person: by every kind of identifier, whole or in part, spelt in many ways. */
async function refuseSome(
  admin: Client,
  { subject, email, phone, mark }: { subject: string; email: string; phone: string; mark: string },
): Promise<void> {
  const dialled = `0${phone.slice(3, 6)} / ${phone.slice(6, 9)}-${phone.slice(9)}`;
  const attributes = { note: `note-${mark}` };
  const refused = [
    anExternalEvent({ type: '', identity: { type: 'EXTERNAL', value: ` ${subject} ` }, attributes }),
    anExternalEvent({ identity: { type: 'FAX', value: email.toUpperCase() }, attributes }),
    anExternalEvent({ source: '', identity: { type: 'PHONE', value: dialled }, attributes }),
    aCdpEvent({ identity: { externalUserId: subject }, properties: { amount: 'much', note: `note-${mark}` } }),
  ];
  for (const event of refused) {
    const path = 'eventType' in event ? '/v1/cdp/events' : '/v1/external-events';
    const { status } = await admin.post(path, event);
    if (status !== 422) throw new Error(`An event was not refused: ${status}`);
  }
  await admin.post('/v1/external-events:batch', { items: [], about: [email] });
  await admin.send('/v1/external-events', `{"identity": {"value" : "${subject}"`);
}
