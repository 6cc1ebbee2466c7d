import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { backfill, backfillOnce, readBackfill, startBackfill } from '../support/backfills';
import { aCdpEvent, anExternalEvent, ANYTHING } from '../support/builders';
import type { Client } from '../support/client';
import { brokenHistories } from '../support/histories';
import { rowsOf, untilBlocked, withClient } from '../support/database';
import { untilDrained } from '../support/processing';
import { expireAll, expireOver, keepDays, letDaysPass, untilExpired } from '../support/retention';
import { aCampaign, inc, mutate, stateOf, type Campaign } from '../support/runtime';
import { until } from '../support/until';

const POINTS = { path: 'state.user.points', op: 'inc', valueFrom: 'properties.amount' };
const REVENUE = { path: 'state.campaign.revenue', op: 'inc', valueFrom: 'properties.amount' };

let service: TestApp;
let campaign: Campaign;
let client: Client;

beforeAll(async () => {
  // Events wait for their customers for longer than they are kept.
  service = await startApp({ REACTION_LINK_DAYS: '90' }, undefined, [], { processesEvents: true });
});
beforeEach(async () => {
  campaign = await aCampaign(service);
  client = campaign.workspace.admin;
});
afterEach(async () => expect(await brokenHistories(service.databaseUrl, campaign.workspace.tenantId)).toEqual([]));
afterAll(() => service.stop());

const declare = (path: string, fields: object = {}) => campaign.define(path, 'number', { ...fields });
const pathTo = (rest: string) => `/v1/campaigns/${campaign.campaignId}/${rest}`;

async function define(...ops: readonly object[]): Promise<void> {
  const answer = await client.post(pathTo('reactions:define'), { name: 'reward', eventType: 'purchase', ops });
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
}

const purchase = (sub: string, amount: number, fields: object = {}) =>
  anExternalEvent({ identity: { type: 'EXTERNAL', value: sub }, attributes: { amount }, ...fields });

/** One after the other, so that their order is that of the list. */
async function send(...events: readonly object[]): Promise<string[]> {
  const ids: string[] = [];
  for (const event of events) {
    const { status, body } = await client.post('/v1/external-events', event);
    expect(status).toBe(202);
    ids.push(body.event_id);
  }
  await untilDrained(service.databaseUrl, campaign.workspace.tenantId, 60);
  return ids;
}

const untilApplied = (jobId: string, events: number) =>
  until(async () => (await readBackfill(client, campaign.campaignId, 'reward', jobId)).applied >= events);
const run = () => backfill(client, campaign.campaignId, 'reward');
const stateFor = (sub: string): Promise<any> => stateOf(campaign.participant({ sub }));
const rows = (text: string) => rowsOf<any>(service.databaseUrl, text, [campaign.workspace.tenantId]);

describe('the history of values', () => {
  it('names the backfilled reaction and the event of each change, and goes on the chain', async () => {
    await declare(POINTS.path);
    await declare(REVENUE.path);
    const [first, second] = await send(purchase('ann', 2), purchase('ann', 3));
    await mutate(campaign.participant({ sub: 'ann' }), [inc(POINTS.path, 10)], { mutation_id: 'm' });
    await define(POINTS, REVENUE);
    await run();
    const [live] = await send(purchase('ann', 4));
    const cause = (kind: string, eventId: unknown) => ({
      kind,
      campaignId: campaign.campaignId,
      reaction: 'reward',
      eventId,
    });
    const ofAnn = (await client.get(pathTo('participants/ann/history'))).body.items;
    expect(ofAnn).toMatchObject([
      { name: 'points', op: 'inc', previous: 15, current: 19, cause: cause('reaction', live) },
      { name: 'points', op: 'inc', previous: 12, current: 15, cause: cause('backfill', second) },
      { name: 'points', op: 'inc', previous: 10, current: 12, cause: cause('backfill', first) },
      { name: 'points', op: 'inc', previous: null, current: 10, cause: { kind: 'mutation', mutationId: 'm' } },
    ]);
    // No participant has made them, whose erasure would have to reach them.
    expect(ofAnn[1].cause).toEqual(cause('backfill', second));
    const ofCampaign = (await client.get(pathTo('variables/campaign/revenue/history'))).body.items;
    expect(ofCampaign.map((entry: any) => [entry.previous, entry.current, entry.cause])).toEqual([
      [5, 9, cause('reaction', live)],
      [2, 5, cause('backfill', second)],
      [null, 2, cause('backfill', first)],
    ]);
  });

  it('names the backfill also for an event that waited for its customer', async () => {
    await declare(POINTS.path);
    const device = randomUUID();
    const [id] = await send(purchase('', 2, { identity: { type: 'DEVICE', value: device } }));
    await define(POINTS);
    expect(await run()).toMatchObject({ waiting: 1 });
    await login('ann', device);
    const [entry] = (await client.get(pathTo('participants/ann/history'))).body.items;
    expect(entry).toMatchObject({ current: 2, cause: { kind: 'backfill', reaction: 'reward', eventId: id } });
  });
});

/** Links a device to a participant, and waits until what has waited for that is done. */
async function login(sub: string, device: string): Promise<void> {
  await client.post('/v1/cdp/event-types', ANYTHING);
  const identity = { externalUserId: sub, deviceKey: device };
  const event = aCdpEvent({ eventType: ANYTHING.eventType, identity, properties: {} });
  expect((await client.post('/v1/cdp/events', event)).status).toBe(202);
  await untilDrained(service.databaseUrl, campaign.workspace.tenantId, 60);
}

describe('the limits of a variable', () => {
  it('are kept by a backfill, which counts what would leave them as matched and skipped, also the next time', async () => {
    await declare(POINTS.path, { max: 10 });
    await declare(REVENUE.path);
    const ids = await send(...[6, 6, 4, 1].map((amount) => purchase('ann', amount)), purchase('bob', 10));
    await define(POINTS, REVENUE);
    const counts = { total: 5, scanned: 5, matched: 5, applied: 3, skipped: 2, failed: 0 };
    expect(await run()).toMatchObject({ state: 'done', ...counts });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 10 }, campaign: { revenue: 20 } });
    const { processing } = (await client.get(`/v1/events/${ids[1]}`)).body;
    expect(processing.reactions).toMatchObject([{ outcome: 'skipped', reason: 'limit_reached' }]);
    // It is as final as for a live event: more room later does not bring it back.
    await declare(POINTS.path, { max: 100 });
    expect(await run()).toMatchObject({ matched: 0, applied: 0, skipped: 5 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 10 } });
  });

  it('are reached by an operation that says clamp, which counts as applied', async () => {
    await declare(POINTS.path, { max: 10 });
    const ids = await send(purchase('ann', 6), purchase('ann', 6));
    await define({ ...POINTS, onLimit: 'clamp' });
    expect(await run()).toMatchObject({ matched: 2, applied: 2, skipped: 0 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 10 } });
    const { processing } = (await client.get(`/v1/events/${ids[1]}`)).body;
    expect(processing.reactions).toMatchObject([{ outcome: 'applied', reason: 'clamped' }]);
    const [entry] = (await client.get(pathTo('participants/ann/history'))).body.items;
    expect(entry).toMatchObject({ previous: 6, current: 10, cause: { kind: 'backfill' } });
  });
  it('may be narrowed while it runs, and hold for the rest of the events', async () => {
    await declare(POINTS.path);
    await send(...Array.from({ length: 12 }, () => purchase('ann', 1)));
    await define(POINTS);
    const jobId = await startBackfill(client, campaign.campaignId, 'reward', { eventsPerSecondMax: 4 });
    await untilApplied(jobId, 2);
    await declare(POINTS.path, { max: 9 });
    const done = await backfillOnce(() => client, campaign.campaignId, 'reward', jobId);
    expect(done).toMatchObject({ state: 'done', matched: 12, applied: 9, skipped: 3, failed: 0 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 9 } });
  });

  it('hold for negative amounts on both sides', async () => {
    await declare(POINTS.path, { min: -5, max: 10 });
    await declare(REVENUE.path, { min: -5, max: 10 });
    await send(...[6, -12, -8, 13, 12, -20].map((amount) => purchase('ann', amount)));
    await define(POINTS);
    expect(await run()).toMatchObject({ matched: 6, applied: 3, skipped: 3 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 10 } });
    const clamped = { ...REVENUE, onLimit: 'clamp' };
    await define(clamped, { ...clamped, op: 'dec' });
    await send(...[6, -12].map((amount) => purchase('ann', amount)));
    const entries = (await client.get(pathTo('variables/campaign/revenue/history'))).body.items.toReversed();
    expect(entries.map(({ previous, current }: any) => [previous, current])).toEqual([
      [null, 6],
      [6, 0],
      [0, -5],
      [-5, 7],
    ]);
  });
});

describe('a variable with a period', () => {
  it('gets what was received in its current period, as from a reaction that was there', async () => {
    const { campaignId, workspace } = campaign;
    await declare(POINTS.path, { max: 6, period: { every: 'month', timezone: 'UTC' } });
    await declare(REVENUE.path);
    const [early] = await send(purchase('ann', 5));
    await letDaysPass(service.databaseUrl, workspace.tenantId, 40);
    await send(purchase('ann', 4));
    await define(POINTS, REVENUE);
    expect(await backfill(client, campaignId, 'reward', { dryRun: true })).toMatchObject({
      sums: [
        { path: POINTS.path, events: 1, sum: 4 },
        { path: REVENUE.path, events: 2, sum: 9 },
      ],
    });
    expect(await run()).toMatchObject({ matched: 2, applied: 2, skipped: 0 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 4 }, campaign: { revenue: 9 } });
    const alone = { name: 'points-alone', eventType: 'purchase', ops: [{ ...POINTS, valueFrom: undefined, value: 1 }] };
    await client.post(pathTo('reactions:define'), alone);
    expect(await backfill(client, campaignId, alone.name)).toMatchObject({ matched: 2, applied: 1, skipped: 1 });
    const { processing } = (await client.get(`/v1/events/${early}`)).body;
    expect(processing.reactions).toMatchObject([{ name: 'reward' }, { outcome: 'skipped', reason: 'period_over' }]);
    expect(await backfill(client, campaignId, alone.name)).toMatchObject({ matched: 0, skipped: 2 });
    expect(await stateFor('ann')).toMatchObject({ user: { points: 5 } });
  });
});

describe('another version of the reaction', () => {
  it('ends the backfill; the next one comes to the rest of the events only', async () => {
    await declare(POINTS.path);
    await send(...Array.from({ length: 12 }, () => purchase('ann', 1)));
    await define(POINTS);
    const jobId = await startBackfill(client, campaign.campaignId, 'reward', { eventsPerSecondMax: 4 });
    await untilApplied(jobId, 2);
    await define({ ...POINTS, valueFrom: undefined, value: 100 });
    const ended = await backfillOnce(() => client, campaign.campaignId, 'reward', jobId);
    expect(ended).toMatchObject({ state: 'failed', reason: 'reaction_changed' });
    const before = Number(ended.applied);
    expect(before).toBeLessThan(12);
    expect(await run()).toMatchObject({ state: 'done', applied: 12 - before, skipped: before });
    expect(await stateFor('ann')).toMatchObject({ user: { points: before + 100 * (12 - before) } });
  });
});

describe('persons', () => {
  const ROUNDS = 8;
  const GONE = Array.from({ length: 5 }, (_unused, number) => `gone-${number}`);
  const STAYING = Array.from({ length: 5 }, (_unused, number) => `here-${number}`);
  const DEVICES = Array.from({ length: 5 }, () => randomUUID());

  it('who are erased, merged and parted while it runs get each event once, or not at all', async () => {
    await declare(POINTS.path);
    await declare(REVENUE.path);
    await client.post('/v1/cdp/event-types', ANYTHING);
    for (let round = 0; round < ROUNDS; round += 1) {
      const anonymous = DEVICES.map((value) => purchase('', 1, { identity: { type: 'DEVICE', value } }));
      const known = [...GONE, ...STAYING].map((sub) => purchase(sub, 1));
      expect((await client.post('/v1/external-events:batch', { items: [...anonymous, ...known] })).status).toBe(200);
    }
    await define(POINTS, REVENUE);
    const jobId = await startBackfill(client, campaign.campaignId, 'reward', { eventsPerSecondMax: 20 });
    await untilApplied(jobId, 1);
    for (const [number, device] of DEVICES.entries()) {
      const erased = await client.post('/v1/cdp/profiles:erase', { type: 'EXTERNAL', value: GONE[number] });
      expect(erased.status).toBe(200);
      const merge = await mergeWith(STAYING[number] ?? '', device);
      if (number % 2 === 0) expect((await client.send(`/v1/cdp/merges/${merge}:undo`, undefined)).status).toBe(200);
    }
    expect((await readBackfill(client, campaign.campaignId, 'reward', jobId)).state).toBe('running');
    const done = await backfillOnce(() => client, campaign.campaignId, 'reward', jobId);
    await untilDrained(service.databaseUrl, campaign.workspace.tenantId, 60);
    expect(done).toMatchObject({ state: 'done', scanned: 15 * ROUNDS, failed: 0 });
    expect(done.applied).toBeLessThan(15 * ROUNDS);
    const points = async () => {
      const states = await rows(`SELECT subject, values -> 'points' AS points FROM participant_states
        WHERE tenant_id = $1 AND values ? 'points'`);
      return new Map<string, number>(states.map((row) => [row.subject, row.points]));
    };
    const before = await points();
    expect([...before.keys()].sort()).toEqual(STAYING);
    for (const [number, sub] of STAYING.entries()) {
      // Those that were parted keep what they got before.
      if (number % 2 === 0) expect(before.get(sub)).toBeGreaterThanOrEqual(ROUNDS);
      else expect(before.get(sub)).toBe(2 * ROUNDS);
    }
    const applied = await rows(`SELECT e.profile_id IN (SELECT profile_id FROM profiles WHERE tenant_id = $1
        AND erased_at IS NOT NULL) AS erased, count(*)::int AS events FROM event_processing p
      JOIN events e ON e.tenant_id = p.tenant_id AND e.event_id = p.event_id
      WHERE p.tenant_id = $1 AND p.reactions @> '[{"name": "reward", "outcome": "applied"}]' GROUP BY 1`);
    const eventsOf = (erased: boolean): number => applied.find((row) => row.erased === erased)?.events ?? 0;
    const sum = [...before.values()].reduce((total, each) => total + each, 0);
    const { revenue } = (await stateFor('bob')).campaign;
    expect([sum, revenue]).toEqual([eventsOf(false), eventsOf(false) + eventsOf(true)]);
    const left = await rows(`SELECT 1 FROM value_changes WHERE tenant_id = $1 AND subject LIKE 'gone-%'`);
    expect(left).toEqual([]);
    expect(await run()).toMatchObject({ matched: 0, applied: 0 });
    expect(await points()).toEqual(before);
  });

  /** Merges the customer with that of a device; returns the id of the merge. */
  async function mergeWith(sub: string, device: string): Promise<string> {
    const identity = { externalUserId: sub, deviceKey: device };
    const event = aCdpEvent({ eventType: ANYTHING.eventType, identity, properties: {} });
    expect((await client.post('/v1/cdp/events', event)).status).toBe(202);
    const { body } = await client.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: sub });
    return (await client.get(`/v1/cdp/profiles/${body.id}/merges`)).body.items[0].id;
  }
});

describe('events that expire', () => {
  it('stay while a backfilled reaction waits for their customer, which then gets all of it', async () => {
    await declare(POINTS.path);
    const device = randomUUID();
    const anonymous = { identity: { type: 'DEVICE', value: device } };
    const waiting = await send(purchase('', 1, anonymous), purchase('', 2, anonymous));
    const [applied] = await send(purchase('bob', 3));
    await define(POINTS);
    expect(await run()).toMatchObject({ applied: 1, waiting: 2 });
    await letDaysPass(service.databaseUrl, campaign.workspace.tenantId, 40);
    await expireOver(client, 30);
    const statusOf = async (id: string | undefined) => (await client.get(`/v1/events/${id}`)).status;
    expect([await statusOf(applied), await statusOf(waiting[0]), await statusOf(waiting[1])]).toEqual([410, 200, 200]);
    await login('ann', device);
    expect(await stateFor('ann')).toMatchObject({ user: { points: 3 } });
    await expireOver(client, 30);
    expect([await statusOf(waiting[0]), await statusOf(waiting[1])]).toEqual([410, 410]);
    expect(await run()).toMatchObject({ total: 0, applied: 0 });
  });

  it('count as skipped if a backfill had not come to them yet, and have no effect', async () => {
    await declare(POINTS.path);
    await send(...Array.from({ length: 8 }, () => purchase('ann', 1)));
    await letDaysPass(service.databaseUrl, campaign.workspace.tenantId, 40);
    await define(POINTS);
    const jobId = await startBackfill(client, campaign.campaignId, 'reward', { eventsPerSecondMax: 1 });
    await until(async () => (await readBackfill(client, campaign.campaignId, 'reward', jobId)).applied > 0);
    await expireOver(client, 30);
    const done = await backfillOnce(() => client, campaign.campaignId, 'reward', jobId);
    expect(done).toMatchObject({ state: 'done', total: 8, scanned: 8, failed: 0 });
    expect(done.skipped).toBeGreaterThan(0);
    expect(Number(done.applied) + Number(done.skipped)).toBe(8);
    expect(await stateFor('ann')).toMatchObject({ user: { points: done.applied } });
  });

  it('stay while a backfill is applying its reaction to them', async () => {
    await declare(POINTS.path);
    const [, second] = await send(purchase('ann', 1), purchase('ann', 1));
    await letDaysPass(service.databaseUrl, campaign.workspace.tenantId, 40);
    await define(POINTS);
    const jobId = await startBackfill(client, campaign.campaignId, 'reward', { eventsPerSecondMax: 1 });
    await until(async () => (await readBackfill(client, campaign.campaignId, 'reward', jobId)).applied === 1);
    await withClient(service.databaseUrl, async (holder) => {
      // The next step comes to the other event, and waits for this table before it commits.
      await holder.query('BEGIN');
      await holder.query('LOCK TABLE value_changes IN SHARE MODE');
      await untilBlocked(service.databaseUrl, 'cds-retries', 1);
      await keepDays(service.app, campaign.workspace.tenantId, 30);
      await expireAll(service.app);
      await untilExpired(service.databaseUrl, campaign.workspace.tenantId);
      expect(await rows('SELECT event_id FROM events WHERE tenant_id = $1')).toEqual([{ event_id: second }]);
      await holder.query('COMMIT');
    });
    const done = await backfillOnce(() => client, campaign.campaignId, 'reward', jobId);
    expect(done).toMatchObject({ state: 'done', total: 2, applied: 2 });
    await expireOver(client, 30);
    for (const table of ['events', 'event_processing']) {
      expect(await rows(`SELECT event_id FROM ${table} WHERE tenant_id = $1`)).toEqual([]);
    }
    expect(await stateFor('ann')).toMatchObject({ user: { points: 2 } });
  });
});
