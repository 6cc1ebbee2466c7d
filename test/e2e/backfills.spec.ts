import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { ALL_TIME, backfill, backfillOnce, readBackfill, startBackfill } from '../support/backfills';
import { aCdpEvent, anExternalEvent, ANYTHING } from '../support/builders';
import { aWorkspace, Client, expectProblem } from '../support/client';
import { rowsOf } from '../support/database';
import { untilDrained } from '../support/processing';
import { aCampaign, stateOf, type Campaign } from '../support/runtime';
import { until } from '../support/until';

const POINTS = { path: 'state.user.points', op: 'inc', valueFrom: 'properties.amount' };
const REVENUE = { path: 'state.campaign.revenue', op: 'inc', valueFrom: 'properties.amount' };
const LAST = { path: 'state.user.last', op: 'set', valueFrom: 'properties.n' };
const NEWEST = { path: 'state.campaign.newest', op: 'set', valueFrom: 'properties.n' };
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let nodes: TestApp[];
let campaign: Campaign;
let client: Client;

beforeAll(async () => {
  nodes = await Promise.all([1, 2].map(() => startApp({}, undefined, [], { processesEvents: true })));
});
beforeEach(async () => {
  campaign = await aCampaign(nodes[0]!);
  client = campaign.workspace.admin;
  for (const name of ['points', 'last']) await campaign.define(`state.user.${name}`, 'number');
  for (const name of ['revenue', 'newest']) await campaign.define(`state.campaign.${name}`, 'number');
});
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

async function define(fields: object = {}): Promise<void> {
  const reaction = { name: 'reward', eventType: 'purchase', ops: [POINTS, REVENUE], ...fields };
  const answer = await client.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, reaction);
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
}

const on = (node: number, { key }: Client): Client => new Client(nodes[node]!.url, key);
const purchase = (sub: string, attributes: object, fields: object = {}) =>
  anExternalEvent({ identity: { type: 'EXTERNAL', value: sub }, attributes, ...fields });

async function send(...events: readonly object[]): Promise<string[]> {
  const { status, body } = await client.post('/v1/external-events:batch', { items: events });
  expect(status).toBe(200);
  return body.results.map((result: any) => result.event_id);
}

const drained = (): Promise<void> => untilDrained(nodes[0]!.databaseUrl, campaign.workspace.tenantId, 60);
const run = (fields: object = {}) => backfill(client, campaign.campaignId, 'reward', { ...fields });
const start = (fields: object = {}) => startBackfill(client, campaign.campaignId, 'reward', { ...fields });
const over = (jobId: string) => backfillOnce(() => client, campaign.campaignId, 'reward', jobId);
const stateFor = (sub: string): Promise<any> => stateOf(campaign.participant({ sub }));
const processingOf = async (id: string): Promise<any> => (await client.get(`/v1/events/${id}`)).body.processing;
const reactionPath = () => `/v1/campaigns/${campaign.campaignId}/reactions/reward`;

describe('POST …/reactions/{name}:backfill', () => {
  it('applies the reaction to events received before it, and a second time to none', async () => {
    const [first] = await send(
      purchase('ann', { amount: 0.1 }),
      purchase('ann', { amount: 0.2 }),
      purchase('bob', { amount: 10.33 }),
      anExternalEvent({ type: 'login' }),
    );
    await define({ when: { '<': [{ var: 'properties.amount' }, 10] } });
    const jobId = await start();
    const counts = { total: 3, scanned: 3, matched: 2, applied: 2, waiting: 0, skipped: 1, failed: 0 };
    expect(await over(jobId)).toEqual({
      jobId,
      campaignId: campaign.campaignId,
      reaction: 'reward',
      from: '2000-01-01T00:00:00.000Z',
      to: TIME,
      dryRun: false,
      state: 'done',
      ...counts,
      createdAt: TIME,
      createdBy: expect.any(String),
      startedAt: TIME,
      finishedAt: TIME,
    });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 0.3 }, campaign: { revenue: 0.3 } });
    expect(await processingOf(first!)).toMatchObject({
      state: 'processed',
      reactions: [{ campaignId: campaign.campaignId, name: 'reward', outcome: 'applied', backfilledAt: TIME }],
    });
    expect(await run()).toMatchObject({ state: 'done', scanned: 3, matched: 0, applied: 0, skipped: 3 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 0.3 }, campaign: { revenue: 0.3 } });
  });

  it('leaves alone what the reaction has met live, and what another definition of its name has', async () => {
    await send(purchase('ann', { amount: 1 }));
    await define();
    await send(purchase('ann', { amount: 10 }));
    await drained();
    expect(await run()).toMatchObject({ total: 2, applied: 1, skipped: 1 });
    expect((await client.send(reactionPath(), undefined, { method: 'DELETE' })).status).toBe(200);
    await define();
    expect(await run()).toMatchObject({ total: 2, applied: 0, skipped: 2 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 11 }, campaign: { revenue: 11 } });
  });

  it('stays exact when outcomes of mutations have been removed', async () => {
    await send(purchase('ann', { amount: 1 }));
    await define();
    await run();
    await rowsOf(nodes[0]!.databaseUrl, 'DELETE FROM mutation_outcomes WHERE tenant_id = $1', [
      campaign.workspace.tenantId,
    ]);
    await run();
    expect(await stateFor('ann')).toMatchObject({ user: { points: 1 } });
  });

  it('evaluates a corrected condition again', async () => {
    await send(purchase('ann', { amount: 1 }));
    await define({ when: { '>': [{ var: 'properties.amount' }, 5] } });
    expect(await run()).toMatchObject({ applied: 0, skipped: 1 });
    await define({ when: { '>': [{ var: 'properties.amount' }, 0] } });
    expect(await run()).toMatchObject({ applied: 1, skipped: 0 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 1 } });
  });

  it('takes the events received from the one time to before the other', async () => {
    const ids = await Promise.all([1, 10, 100].map(async (amount) => (await send(purchase('ann', { amount })))[0]!));
    const times = ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z'];
    for (const [index, id] of ids.entries()) {
      await rowsOf(nodes[0]!.databaseUrl, 'UPDATE events SET received_at = $3 WHERE tenant_id = $1 AND event_id = $2', [
        ...[campaign.workspace.tenantId, id, times[index]],
      ]);
    }
    await define();
    expect(await run({ from: times[0], to: times[1] })).toMatchObject({ total: 1, applied: 1 });
    expect(await run({ from: times[0], to: times[2] })).toMatchObject({ total: 2, applied: 1 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 11 } });
  });

  it('has events of a customer without an EXTERNAL identifier wait, in their order, and applies them at the login', async () => {
    const device = { identity: { type: 'DEVICE', value: `d-${randomUUID()}` } };
    await client.post('/v1/cdp/event-types', ANYTHING);
    await send(...[1, 2, 3].map((n) => purchase('', { n, amount: n }, device)));
    await define({ ops: [POINTS, LAST] });
    expect(await run()).toMatchObject({ matched: 3, applied: 0, waiting: 3 });
    expect(await run()).toMatchObject({ matched: 0, skipped: 3 });
    const [later] = await send(purchase('', { n: 4, amount: 4 }, device));
    const identity = { externalUserId: 'ann', deviceKey: device.identity.value };
    await client.post('/v1/cdp/events', aCdpEvent({ eventType: ANYTHING.eventType, identity, properties: {} }));
    await drained();
    expect(await stateFor('ann')).toMatchObject({ user: { points: 10, last: 4 } });
    expect(await processingOf(later!)).toMatchObject({ reactions: [{ outcome: 'applied' }] });
    expect(await run()).toMatchObject({ matched: 0, applied: 0, skipped: 4 });
  });

  it('keeps the order of events of one request that wait, over all its steps', async () => {
    const device = { identity: { type: 'DEVICE', value: `d-${randomUUID()}` } };
    await client.post('/v1/cdp/event-types', ANYTHING);
    const numbers = Array.from({ length: 12 }, (_unused, index) => index + 1);
    const at = (n: number) => ({ occurred_at: `2026-01-01T00:00:${String(n).padStart(2, '0')}Z` });
    await send(...numbers.map((n) => purchase('', { n }, { ...device, ...at(n) })));
    await drained();
    await define({ ops: [LAST] });
    expect(await run({ eventsPerSecondMax: 5 })).toMatchObject({ matched: 12, waiting: 12 });
    const identity = { externalUserId: 'ann', deviceKey: device.identity.value };
    await client.post('/v1/cdp/events', aCdpEvent({ eventType: ANYTHING.eventType, identity, properties: {} }));
    await drained();
    const rows = await rowsOf<{ current: number }>(
      nodes[0]!.databaseUrl,
      `SELECT current FROM value_changes WHERE tenant_id = $1 AND name = 'last' ORDER BY at`,
      [campaign.workspace.tenantId],
    );
    expect(rows.map(({ current }) => current)).toEqual(numbers);
  });

  it('comes to events that wait under a definition which is not in force any more', async () => {
    const device = { identity: { type: 'DEVICE', value: `d-${randomUUID()}` } };
    await client.post('/v1/cdp/event-types', ANYTHING);
    const buy = async () => {
      await send(purchase('', { amount: 1 }, device));
      await drained();
    };
    await buy();
    await define({ ops: [POINTS] });
    await buy();
    await define({ ops: [POINTS], enabled: false });
    await buy();
    await define({ ops: [POINTS] });
    expect(await run()).toMatchObject({ matched: 3, waiting: 3 });
    expect(await run()).toMatchObject({ matched: 0, skipped: 3 });
    const identity = { externalUserId: 'ann', deviceKey: device.identity.value };
    await client.post('/v1/cdp/events', aCdpEvent({ eventType: ANYTHING.eventType, identity, properties: {} }));
    await drained();
    expect(await stateFor('ann')).toMatchObject({ user: { points: 3 } });
  });

  it('leaves out for good what a later event has set, also when another reaction of the event is replayed', async () => {
    await define({ name: 'bad', ops: [{ ...POINTS, valueFrom: 'properties.none' }] });
    const [early] = await send(purchase('ann', { n: 1 }));
    await drained();
    await define({ ops: [LAST] });
    await send(purchase('ann', { n: 2, none: 1 }));
    await drained();
    expect(await run()).toMatchObject({ matched: 1, skipped: 2 });
    await define({ name: 'bad', ops: [{ ...POINTS, valueFrom: undefined, value: 5 }] });
    const [entry] = (await client.get('/v1/review-entries?status=open')).body.items;
    const replay = await client.post(`/v1/review-entries/${entry.id}:replay`, {});
    expect(replay.body).toMatchObject({ outcome: { status: 'processed' } });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 6, last: 2 } });
    const { reactions } = await processingOf(early!);
    expect(reactions).toContainEqual(expect.objectContaining({ name: 'reward', reason: 'superseded' }));
  });

  it('records what fails for the review area, from where a replay applies it once', async () => {
    const [id] = await send(purchase('ann', { amount: 'many' }));
    await define();
    expect(await run()).toMatchObject({ matched: 1, failed: 1 });
    expect(await processingOf(id!)).toMatchObject({ state: 'failed', reactions: [{ outcome: 'failed' }] });
    const found = (await client.get(`/v1/events?state=failed`)).body.items;
    expect(found.map(({ eventId }: any) => eventId)).toEqual([id]);
    await define({ ops: [{ ...POINTS, valueFrom: undefined, value: 7 }] });
    const [entry] = (await client.get('/v1/review-entries?status=open')).body.items;
    const replay = await client.post(`/v1/review-entries/${entry.id}:replay`, {});
    expect(replay.body).toMatchObject({ outcome: { status: 'processed' } });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 7 } });
    expect(await run()).toMatchObject({ applied: 0, skipped: 1 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 7 } });
  });

  it('has no effect for an erased person', async () => {
    await send(purchase('ann', { amount: 1 }));
    const { body } = await client.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: 'ann' });
    expect((await client.post(`/v1/cdp/profiles/${body.id}:erase`, {})).status).toBe(200);
    await define();
    expect(await run()).toMatchObject({ applied: 0, skipped: 1 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: null }, campaign: { revenue: null } });
  });

  it('never overwrites what a later event has set, before the backfill or beside it', async () => {
    await send(...[1, 2].map((n) => purchase('ann', { n, amount: 1 })), purchase('bob', { n: 3, amount: 1 }));
    await define({ ops: [POINTS, LAST, NEWEST] });
    const [live] = await send(purchase('ann', { n: 9, amount: 1 }));
    await drained();
    expect(await run()).toMatchObject({ matched: 3, applied: 3 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 3, last: 9 }, campaign: { newest: 9 } });
    expect(await stateFor('bob')).toMatchObject({ user: { points: 1, last: 3 } });
    expect(await processingOf(live!)).toMatchObject({ reactions: [{ outcome: 'applied' }] });
    await define({ name: 'last-only', ops: [LAST] });
    await send(purchase('bob', { n: 8, amount: 1 }));
    await drained();
    const result = await backfill(client, campaign.campaignId, 'last-only');
    expect(result).toMatchObject({ matched: 4, applied: 3, skipped: 2 });
    expect(await stateFor('bob')).toMatchObject({ user: { last: 8 } });
    const marks = () =>
      rowsOf(nodes[0]!.databaseUrl, 'SELECT 1 FROM reaction_backfill_marks WHERE tenant_id = $1', [
        campaign.workspace.tenantId,
      ]);
    await until(async () => (await marks()).length === 0);
  });

  it('leaves the value of the last event, and the sum of all, beside live events of the same customers', async () => {
    const customers = Array.from({ length: 12 }, (_unused, index) => `customer-${index}`);
    const round = (n: number) => send(...customers.map((sub) => purchase(sub, { n, amount: 1 })));
    for (let n = 1; n <= 20; n += 1) await round(n);
    await define({ ops: [POINTS, REVENUE, LAST] });
    const jobId = await start({ eventsPerSecondMax: 60 });
    // The survey is over, so that it is the workers who report what they apply from now on.
    await until(async () => (await readBackfill(client, campaign.campaignId, 'reward', jobId)).scanned > 0);
    for (let n = 21; n <= 24; n += 1) await round(n);
    const done = await over(jobId);
    await drained();
    expect(done).toMatchObject({ state: 'done', failed: 0, applied: 20 * customers.length });
    for (const sub of customers) expect((await stateFor(sub)).user).toMatchObject({ points: 24, last: 24 });
    expect((await stateFor('ann')).campaign.revenue).toBe(24 * customers.length);
  });

  it('adds up what would change, and changes nothing, in a dry run', async () => {
    const ids = await send(...[0.1, 0.2, 'x'].map((amount) => purchase('ann', { amount, n: 1 })));
    await define({ ops: [POINTS, { ...REVENUE, op: 'dec' }, LAST] });
    expect(await run({ dryRun: true })).toMatchObject({
      dryRun: true,
      state: 'done',
      total: 3,
      matched: 3,
      applied: 2,
      failed: 1,
      sums: [
        { path: 'state.user.points', events: 2, sum: 0.3, sets: 0 },
        { path: 'state.campaign.revenue', events: 2, sum: -0.3, sets: 0 },
        { path: 'state.user.last', events: 2, sum: 0, sets: 2 },
      ],
    });
    expect(await stateFor('ann')).toMatchObject({ user: { points: null, last: null }, campaign: { revenue: null } });
    for (const id of ids) expect(await processingOf(id)).toMatchObject({ reactions: [] });
  });

  it('counts events as failed in a dry run whose changes no variable of the campaign takes, and sums up none of them', async () => {
    await campaign.define('state.user.grade', 'string');
    await send(purchase('ann', { amount: 1, grade: 'A' }), purchase('ann', { amount: 2, grade: 5 }));
    await define({ ops: [POINTS, { path: 'state.user.grade', op: 'set', valueFrom: 'properties.grade' }] });
    const sums = [
      { path: 'state.user.points', events: 1, sum: 1, sets: 0 },
      { path: 'state.user.grade', events: 1, sum: 0, sets: 1 },
    ];
    expect(await run({ dryRun: true })).toMatchObject({ matched: 2, applied: 1, failed: 1, sums });
    await campaign.archive('state.user.points');
    expect(await run({ dryRun: true })).toMatchObject({ matched: 2, applied: 0, failed: 2, sums: [] });
    expect(await run()).toMatchObject({ matched: 2, applied: 0, failed: 2 });
  });

  it('runs one backfill of a reaction at a time on two nodes, at its pace, until it is cancelled', async () => {
    await send(...Array.from({ length: 40 }, () => purchase('ann', { amount: 1 })));
    await define();
    const request = { ...ALL_TIME, eventsPerSecondMax: 5 };
    const path = `${reactionPath()}:backfill`;
    const starts = await Promise.all(
      Array.from({ length: 8 }, (_unused, index) => on(index % 2, client).post(path, request)),
    );
    const refused = starts.filter(({ status }) => status !== 202);
    expect(refused).toHaveLength(7);
    for (const answer of refused) expectProblem(answer, 409, 'backfill_running');
    const { jobId } = starts.find(({ status }) => status === 202)!.body;
    await until(async () => (await readBackfill(client, campaign.campaignId, 'reward', jobId)).applied > 0);
    await rowsOf(nodes[0]!.databaseUrl, 'UPDATE reaction_backfills SET started_at = $2 WHERE tenant_id = $1', [
      campaign.workspace.tenantId,
      new Date(Date.now() + 3_600_000),
    ]);
    const cancelled = await client.post(`${reactionPath()}/backfills/${jobId}:cancel`, {});
    expect(cancelled.body).toMatchObject({ state: 'cancelled', eventsPerSecondMax: 5, finishedAt: TIME });
    // The clock was set back by an hour since it began.
    expect(cancelled.body.finishedAt).toBe(cancelled.body.startedAt);
    expect(cancelled.body.applied).toBeLessThan(40);
    const { points } = (await stateFor('ann')).user;
    expect(points).toBe((await readBackfill(client, campaign.campaignId, 'reward', jobId)).applied);
    expect(await run()).toMatchObject({ state: 'done', applied: 40 - points });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 40 } });
    const list = (await client.get(`${reactionPath()}/backfills`)).body;
    expect(list.items.map(({ state }: any) => state)).toEqual(['done', 'cancelled']);
  });

  it('ends when its reaction is redefined, switched off or deleted', async () => {
    await send(...Array.from({ length: 10 }, () => purchase('ann', { amount: 1 })));
    const changes = [
      () => define({ ops: [POINTS] }),
      () => define({ enabled: false }),
      async () => expect((await client.send(reactionPath(), undefined, { method: 'DELETE' })).status).toBe(200),
    ];
    for (const change of changes) {
      await define();
      const jobId = await start({ eventsPerSecondMax: 1 });
      await change();
      expect(await over(jobId)).toMatchObject({ state: 'failed', reason: 'reaction_changed' });
    }
    await define({ enabled: false });
    expectProblem(await client.post(`${reactionPath()}:backfill`, ALL_TIME), 409, 'reaction_disabled');
  });

  it('shows a range in the future as empty', async () => {
    await define();
    const from = '2998-01-01T00:00:00.000Z';
    const ended = await run({ from });
    expect(ended).toMatchObject({ state: 'done', total: 0, from, to: from });
  });

  it('refuses ranges and paces that cannot be, and is not found for other names and workspaces', async () => {
    await define();
    const refused = await client.post(`${reactionPath()}:backfill`, { ...ALL_TIME, eventsPerSecondMax: 0, until: 1 });
    expectProblem(refused, 422, 'validation_failed');
    for (const range of [
      { from: ALL_TIME.to, to: ALL_TIME.from },
      { from: 'yesterday', to: ALL_TIME.to },
    ]) {
      expectProblem(await client.post(`${reactionPath()}:backfill`, range), 422, 'validation_failed');
    }
    const other = `/v1/campaigns/${campaign.campaignId}/reactions/other:backfill`;
    expectProblem(await client.post(other, ALL_TIME), 404, 'not_found');
    const stranger = (await aWorkspace(nodes[0]!)).admin;
    expectProblem(await stranger.post(`${reactionPath()}:backfill`, ALL_TIME), 404, 'not_found');
    expectProblem(await client.get(`${reactionPath()}/backfills/${randomUUID()}`), 404, 'not_found');
  });
});
