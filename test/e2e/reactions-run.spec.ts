import { setTimeout as wait } from 'node:timers/promises';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { Clock } from '../../src/platform/values/clock';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent, registerTypes, aCdpEvent } from '../support/builders';
import { Client } from '../support/client';
import { rowsOf } from '../support/database';
import { beginReplay, closeRefusals, replayOnce } from '../support/review';
import { aCampaign, stateOf, type Campaign } from '../support/runtime';

const IN_TIME_MS = 15_000;

let nodes: TestApp[];
let campaign: Campaign;
let client: Client;

beforeAll(async () => {
  nodes = await Promise.all([1, 2].map(() => startApp({}, undefined, [], { processesEvents: true })));
});
beforeEach(async () => {
  campaign = await aCampaign(nodes[0]!);
  client = campaign.workspace.admin;
  await campaign.define('state.user.points', 'number');
  await campaign.define('state.campaign.revenue', 'number');
});
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

async function define(fields: object): Promise<void> {
  const answer = await client.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, {
    name: 'reward',
    eventType: 'purchase',
    ops: [{ path: 'state.user.points', op: 'inc', value: 10 }],
    ...fields,
  });
  expect(answer.status).toBe(200);
}

const ofAnn = (fields: object = {}) => anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' }, ...fields });

async function send(event: object): Promise<string> {
  const { status, body } = await client.post('/v1/external-events', event);
  expect(status).toBe(202);
  return body.event_id;
}

/** The record of an event that has left the queue. */
async function processed(eventId: string): Promise<any> {
  for (const until = Date.now() + IN_TIME_MS; Date.now() < until;) {
    const { body } = await client.get(`/v1/events/${eventId}`);
    if (body.processing.state !== 'queued') return body.processing;
    await wait(20);
  }
  throw new Error('The event is still queued');
}

it('rewards a purchase: from the event of a backend to what the participant reads', async () => {
  await define({ when: { '>=': [{ var: 'event.properties.amount' }, 20] } });
  await define({
    name: 'revenue',
    ops: [{ path: 'state.campaign.revenue', op: 'inc', valueFrom: 'properties.amount' }],
  });
  const [large, small] = [await send(ofAnn()), await send(ofAnn({ attributes: { amount: 0.1 } }))];
  const { campaignId } = campaign;
  expect(await processed(large)).toMatchObject({
    state: 'processed',
    reactions: [
      { campaignId, name: 'reward', outcome: 'applied' },
      { campaignId, name: 'revenue', outcome: 'applied' },
    ],
  });
  expect((await processed(small)).reactions[0]).toEqual({
    campaignId,
    name: 'reward',
    outcome: 'skipped',
    reason: 'condition',
  });
  const state = await stateOf(campaign.participant({ sub: 'ann' }));
  expect(state).toMatchObject({ user: { points: 10 }, campaign: { revenue: 29.43 } });
});

it('counts 200 events of both families and two nodes once each, also those that are sent again', async () => {
  await registerTypes(client);
  await define({ name: 'count', ops: [{ path: 'state.campaign.revenue', op: 'inc', value: 0.1 }] });
  await define({});
  const external = Array.from({ length: 100 }, () => ofAnn());
  const cdp = Array.from({ length: 100 }, () => aCdpEvent({ identity: { externalUserId: 'ann' } }));
  for (const _time of [1, 2]) {
    await client.post('/v1/external-events:batch', { items: external });
    await client.post('/v1/cdp/events/batch', { items: cdp });
  }
  for (const until = Date.now() + IN_TIME_MS; Date.now() < until;) {
    if ((await client.get('/v1/processing/summary')).body.queued === 0) break;
    await wait(50);
  }
  const state = await stateOf(campaign.participant({ sub: 'ann' }));
  expect(state).toMatchObject({ user: { points: 2_000 }, campaign: { revenue: 20 } });
});

it('meets what is sent behind its definition, and nothing that was answered before, whatever the clock of a node says', async () => {
  const other = new Client(nodes[1]!.url, client.key);
  const { campaignId } = campaign;
  const clocks = nodes.map((node) => node.app.get(Clock));
  const names: string[] = [];
  const met = async (eventId: string) => (await processed(eventId)).reactions.map(({ name }: any) => name);
  try {
    Object.assign(clocks[1]!, { now: () => new Date(Date.now() + 5_000) });
    for (let round = 0; round < 10; round += 1) {
      const before = await send(ofAnn());
      const known = [...names];
      names.push(`r${round}`);
      const fields = {
        name: `r${round}`,
        eventType: 'purchase',
        ops: [{ path: 'state.user.points', op: 'inc', value: 1 }],
      };
      expect((await other.post(`/v1/campaigns/${campaignId}/reactions:define`, fields)).status).toBe(200);
      const after = [await send(ofAnn()), (await other.post('/v1/external-events', ofAnn())).body.event_id];
      expect(await met(before)).toEqual(known);
      for (const each of after) expect(await met(each)).toEqual(names);
    }
  } finally {
    Reflect.deleteProperty(clocks[1]!, 'now');
  }
});

it('is in force for the very next event, wherever that is taken and worked off', async () => {
  for (let round = 0; round < 10; round += 1) {
    await define({ name: `r${round}`, eventType: `type-${round}` });
    expect((await processed(await send(ofAnn({ type: `type-${round}` })))).reactions).toMatchObject([
      { outcome: 'applied' },
    ]);
  }
  expect((await stateOf(campaign.participant({ sub: 'ann' }))).user.points).toBe(100);
});

it('tells what failed in the event and in the review area, and a replay after it was mended applies the rest once', async () => {
  await define({});
  await define({ name: 'bad', ops: [{ path: 'state.campaign.revenue', op: 'inc', valueFrom: 'properties.total' }] });
  const event = await send(ofAnn());
  expect(await processed(event)).toMatchObject({
    state: 'failed',
    reactions: [{ outcome: 'applied' }, { name: 'bad', outcome: 'failed', reason: 'required' }],
  });
  const [entry] = (await client.get('/v1/review-entries?reason=required')).body.items;
  expect(entry).toMatchObject({ stage: 'processing', eventId: event, status: 'open' });
  await define({ name: 'bad', ops: [{ path: 'state.campaign.revenue', op: 'inc', valueFrom: 'properties.amount' }] });
  expect((await client.post(`/v1/review-entries/${entry.id}:replay`, {})).status).toBe(200);
  expect(await processed(event)).toMatchObject({ state: 'processed' });
  const state = await stateOf(campaign.participant({ sub: 'ann' }));
  expect(state).toMatchObject({ user: { points: 10 }, campaign: { revenue: 29.33 } });
});

it('shows a failure as one of processing, though the event was refused before for the same reason', async () => {
  await define({ ops: [{ path: 'state.user.points', op: 'inc', valueFrom: 'properties.bonus' }] });
  const event = ofAnn();
  expect((await client.post('/v1/external-events', { ...event, type: undefined })).status).toBe(422);
  const eventId = await send(event);
  expect((await processed(eventId)).lastError).toMatch(/^required: /);
  await closeRefusals(nodes[0]!.app);
  const { items } = (await client.get('/v1/review-entries')).body;
  const failure = { reason: 'required', stage: 'processing', status: 'open', payloadState: 'stored' };
  expect(items).toMatchObject([{ ...failure, eventId, occurrences: 2 }]);
  // A replay that has read the refusal before the event came in finds it stored.
  const attempt = { action: 'replayed', at: new Date().toISOString(), by: 'test' } as const;
  const replayed = { entryId: items[0].id, attempt, receivedAt: Date.now() };
  const submission = { family: 'external', value: event, bytes: 1, text: () => '', replay: replayed } as const;
  const sender = { tenantId: campaign.workspace.tenantId, sources: null };
  const result = await nodes[0]!.app.get(IngestPipeline).ingestOne(sender, submission, 'replay');
  expect(result).toMatchObject({ status: 'duplicate', warnings: [] });
  expect((await client.get(`/v1/review-entries/${items[0].id}`)).body).toMatchObject(failure);
  await define({});
  const replay = await client.post(`/v1/review-entries/${items[0].id}:replay`, {});
  expect(replay.body).toMatchObject({ outcome: { status: 'processed' }, reviewEntry: { status: 'replayed' } });
  expect((await stateOf(campaign.participant({ sub: 'ann' }))).user.points).toBe(10);
});

describe('a replay of an event that failed, of whose reactions one was applied', () => {
  const BAD = [{ path: 'state.campaign.revenue', op: 'inc', valueFrom: 'properties.total' }];
  const MENDED = [{ path: 'state.campaign.revenue', op: 'inc', valueFrom: 'properties.amount' }];
  const EMAIL = 'ann@example.com';

  const identify = async (identity: object): Promise<void> => {
    const event = aCdpEvent({ eventType: 'anything', identity, properties: {} });
    expect((await client.post('/v1/cdp/events', event)).status).toBe(202);
  };
  const profileOf = async (value: string): Promise<string> =>
    (await client.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value })).body.id;
  const pointsOf = async (sub: string) => (await stateOf(campaign.participant({ sub }))).user.points;

  /** Of ann, whom an email and her EXTERNAL identifier belong to: it names the email. */
  async function aFailedEvent(): Promise<string> {
    await registerTypes(client);
    await identify({ externalUserId: 'ann' });
    await identify({ email: EMAIL });
    await identify({ externalUserId: 'ann', email: EMAIL });
    await define({});
    await define({ name: 'bad', ops: BAD });
    const event = await send(ofAnn({ identity: { type: 'EMAIL', value: EMAIL } }));
    expect(await processed(event)).toMatchObject({
      state: 'failed',
      reactions: [{ outcome: 'applied' }, { outcome: 'failed' }],
    });
    return event;
  }

  /** Everything that failed, in bulk; answers what became of the event. */
  async function replay(event: string): Promise<any> {
    await replayOnce(() => client, await beginReplay(client, { reason: 'required' }));
    return processed(event);
  }

  /** The email's profile is another customer's since. */
  async function giveTo(sub: string): Promise<void> {
    const merges = await client.get(`/v1/cdp/profiles/${await profileOf('ann')}/merges`);
    expect((await client.send(`/v1/cdp/merges/${merges.body.items[0].id}:undo`, undefined)).status).toBe(200);
    await identify({ externalUserId: sub, email: EMAIL });
  }

  it.each<[string, () => Promise<unknown>]>([
    ['its profile belongs to another customer', () => giveTo('bob')],
    [
      'the outcomes of mutations were removed',
      () =>
        rowsOf(nodes[0]!.databaseUrl, 'DELETE FROM mutation_outcomes WHERE tenant_id = $1', [
          campaign.workspace.tenantId,
        ]),
    ],
    ['the reaction was redefined', () => define({ ops: [{ path: 'state.user.points', op: 'inc', value: 100 }] })],
    [
      'the reaction was deleted and defined anew',
      async () => {
        await client.send(`/v1/campaigns/${campaign.campaignId}/reactions/reward`, undefined, { method: 'DELETE' });
        await define({});
      },
    ],
  ])('applies the others and not that one again, also when %s', async (_what, change) => {
    const event = await aFailedEvent();
    await change();
    await define({ name: 'bad', ops: MENDED });
    const { state, reactions } = await replay(event);
    expect(state).toBe('processed');
    expect(reactions).toEqual([
      { campaignId: campaign.campaignId, name: 'reward', outcome: 'applied' },
      { campaignId: campaign.campaignId, name: 'bad', outcome: 'applied' },
    ]);
    expect([await pointsOf('ann'), await pointsOf('bob')]).toEqual([10, null]);
    expect((await stateOf(campaign.participant({ sub: 'ann' }))).campaign.revenue).toBe(29.33);
  });
});
