import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { CONDITION_MS_MAX } from '../../src/reactions/evaluation-time';
import { READ_REACTIONS } from '../../src/reactions/reaction.sql';
import { ReactionsService } from '../../src/reactions/reactions.service';
import { StateService } from '../../src/runtime/state.service';
import { VariablesService } from '../../src/variables/variables.service';
import { databaseUrl, withClient } from '../support/database';
import { brokenHistories } from '../support/histories';
import { aCaller, startNode } from '../support/ingest';
import { anEventToProcess, EffectsWorker, summaryOf } from '../support/reactions';
import { bySteppingClock } from '../support/stepping-clock';

const CAMPAIGN = 'summer';
const POINTS = { path: 'state.user.points', op: 'inc', value: 1 };
const REVENUE = { path: 'state.campaign.revenue', op: 'inc', valueFrom: 'properties.amount' };
const VISITS = { path: 'state.app.visits', op: 'inc', value: 1 };

let url: string;
let nodes: INestApplicationContext[];
let workers: EffectsWorker[];
let tenantId: string;

beforeAll(async () => {
  url = await databaseUrl();
  nodes = await Promise.all([startNode(url), startNode(url)]);
  workers = nodes.map((node) => new EffectsWorker(node, url));
});

beforeEach(async () => {
  tenantId = randomUUID();
  for (const [scope, name] of [
    ['user', 'points'],
    ['campaign', 'revenue'],
    ['app', 'visits'],
  ] as const) {
    await variables().define(tenantId, CAMPAIGN, { scope, name, type: 'number' });
  }
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.close()));
  await Promise.all(nodes.map((node) => node.close()));
});

const variables = (node = 0) => nodes[node]!.get(VariablesService);
const reactions = (node = 0) => nodes[node]!.get(ReactionsService);
const define = (name: string, fields: object = {}, node = 0) =>
  reactions(node).define(aCaller(tenantId), CAMPAIGN, { name, eventType: 'purchase', ops: [POINTS], ...fields });
const anEvent = (fields = {}, externalId?: string | null) => anEventToProcess(tenantId, fields, externalId);
const apply = (events: ReturnType<typeof anEvent>[], node = 0) => workers[node]!.apply(events);
const applyOne = async (event: ReturnType<typeof anEvent>, node = 0) => (await apply([event], node))[0]!;

async function stateOf(subject = 'ann'): Promise<any> {
  const owner = { campaignId: CAMPAIGN, appId: 'default', subject };
  return (await nodes[0]!.get(StateService).readFor(tenantId, owner)).state;
}

const countOf = (table: string, condition = 'true'): Promise<number> =>
  withClient(url, async (client) => {
    const sql = `SELECT count(*)::int AS count FROM ${table} WHERE tenant_id = $1 AND ${condition}`;
    return (await client.query<{ count: number }>(sql, [tenantId])).rows[0]!.count;
  });

describe('a reaction', () => {
  it('changes the values of the participant, the campaign and the app default, once however often its event comes', async () => {
    await define('all', { ops: [POINTS, REVENUE, VISITS] });
    await define('shared', { ops: [REVENUE] });
    const event = anEvent();
    for (const node of [0, 1, 0]) {
      expect(summaryOf(await applyOne(event, node))).toEqual(['all applied', 'shared applied']);
    }
    expect(await stateOf()).toMatchObject({ user: { points: 1 }, campaign: { revenue: 20.66 }, app: { visits: 1 } });
  });

  it('is applied once by two workers that are handed its event at the same time', async () => {
    await define('own', { ops: [POINTS] });
    await define('shared', { ops: [REVENUE] });
    for (let round = 1; round <= 5; round += 1) {
      const event = anEvent({ properties: { amount: 1 } });
      const results = await Promise.all([0, 1].map((node) => applyOne(event, node)));
      expect(results.map(summaryOf)).toEqual([
        ['own applied', 'shared applied'],
        ['own applied', 'shared applied'],
      ]);
      expect(await stateOf()).toMatchObject({ user: { points: round }, campaign: { revenue: round } });
    }
  });

  it('that the record of its event says was applied is not applied again, whoever the customer is now', async () => {
    await define('all', { ops: [POINTS, REVENUE] });
    await define('other', { ops: [VISITS] });
    const recorded = [
      { campaignId: CAMPAIGN, name: 'all', outcome: 'applied' },
      { campaignId: CAMPAIGN, name: 'gone', outcome: 'applied' },
    ] as const;
    for (const externalId of ['ann', 'bob', null]) {
      const result = await applyOne({ ...anEvent({}, externalId), recorded });
      expect(summaryOf(result)).toEqual(['all applied', 'gone applied', 'other applied']);
    }
    for (const subject of ['ann', 'bob']) {
      expect(await stateOf(subject)).toMatchObject({ user: { points: null }, campaign: { revenue: null } });
    }
    expect((await stateOf()).app.visits).toBe(3);
  });

  it('that waited runs once its customer is known; what else is recorded stands', async () => {
    await define('own');
    await define('failed', { ops: [{ ...POINTS, value: undefined, valueFrom: 'properties.points' }] });
    const record = (name: string, outcome: 'failed' | 'waiting_for_customer' | 'skipped') => ({
      campaignId: CAMPAIGN,
      name,
      outcome,
    });
    const recorded = [
      record('own', 'waiting_for_customer'),
      record('failed', 'failed'),
      record('gone', 'waiting_for_customer'),
    ];
    const unknown = await applyOne({ ...anEvent({}, null), recorded });
    expect(unknown).toEqual({ reactions: recorded });
    const linked = await applyOne({ ...anEvent(), recorded });
    expect(linked.failure).toBeUndefined();
    expect(summaryOf(linked)).toEqual(['failed failed', 'gone skipped not_in_force', 'own applied']);
    expect((await stateOf()).user.points).toBe(1);
  });

  it('leaves nothing behind when its transaction does not commit, and is applied by the next one', async () => {
    await define('all', { ops: [POINTS, REVENUE] });
    const event = anEvent();
    const failing = workers[0]!.apply([event], () => Promise.reject(new Error('killed')));
    await expect(failing).rejects.toThrow('killed');
    expect((await stateOf()).user.points).toBeNull();
    await expect(applyOne(event).catch(() => applyOne(event))).resolves.toMatchObject({
      reactions: [{ outcome: 'applied' }],
    });
    expect(await stateOf()).toMatchObject({ user: { points: 1 }, campaign: { revenue: 10.33 } });
  });

  it('adds up 100 events of one batch to the last decimal, each seeing what the one before has left', async () => {
    await define('sum', { ops: [REVENUE, { path: 'state.user.points', op: 'set', valueFrom: 'properties.place' }] });
    const events = Array.from({ length: 100 }, (_, place) => anEvent({ properties: { amount: 0.1, place } }));
    const results = await apply(events);
    expect(results.flatMap(summaryOf)).toEqual(events.map(() => 'sum applied'));
    expect(await stateOf()).toMatchObject({ user: { points: 99 }, campaign: { revenue: 10 } });
  });

  it('writes much in parts, between which this process can do something else', async () => {
    const names = Array.from({ length: 45 }, (_unused, index) => `note${index}`);
    for (const name of names) await variables().define(tenantId, CAMPAIGN, { scope: 'user', name, type: 'string' });
    const note = (name: string) => ({ path: `state.user.${name}`, op: 'set', valueFrom: 'properties.text' });
    for (const name of ['first', 'second', 'third']) await define(name, { ops: [POINTS, ...names.map(note)] });
    const before = workers[0]!.sent.length;
    const text = 'x'.repeat(4 * 1024);
    const result = await applyOne(anEvent({ properties: { text } }));
    expect(summaryOf(result)).toEqual(['first applied', 'second applied', 'third applied']);
    const locks = workers[0]!.sent.slice(before).filter((name) => name.startsWith('runtime_lock_participant'));
    expect(locks).toEqual(['runtime_lock_participant_rows', ...Array(3).fill('runtime_lock_participants')]);
    expect((await stateOf()).user).toMatchObject({ points: 3, note0: text, note44: text });
    expect(await countOf('value_changes')).toBe(3 * 46);
    expect(await brokenHistories(url, tenantId)).toEqual([]);
  });

  it('reads large documents of many participants part by part, and small ones at once', async () => {
    const names = Array.from({ length: 99 }, (_unused, index) => `note${index}`);
    for (const name of names) await variables().define(tenantId, CAMPAIGN, { scope: 'user', name, type: 'string' });
    await define('points', { ops: [POINTS] });
    const subjects = Array.from({ length: 40 }, (_unused, index) => `large${index}`);
    const locksOf = async (node: number): Promise<readonly string[]> => {
      const { sent } = workers[node]!;
      const before = sent.length;
      const results = await apply(
        subjects.map((subject) => anEvent({}, subject)),
        node,
      );
      expect(results.flatMap(summaryOf)).toEqual(subjects.map(() => 'points applied'));
      return sent.slice(before).filter((name) => name.startsWith('runtime_lock_participant'));
    };
    // By their declarations these may have 16 MB.
    expect(await locksOf(0)).toEqual(['runtime_lock_participant_rows', 'runtime_lock_participants']);
    const grow = `UPDATE participant_states SET values = values || (
        SELECT jsonb_object_agg('note' || n, repeat('x', 4096)) FROM generate_series(0, 98) AS n)
      WHERE tenant_id = $1`;
    await withClient(url, (database) => database.query(grow, [tenantId]));
    const [first, ...parts] = await locksOf(1);
    expect(first).toBe('runtime_lock_participant_rows');
    expect(parts.length).toBeGreaterThan(5);
    for (const subject of subjects) expect((await stateOf(subject)).user.points).toBe(2);
  });

  it('is asked by event type, source and condition; only a condition that is not met is told', async () => {
    await define('other-type', { eventType: 'refund' });
    await define('other-source', { source: 'till' });
    await define('off', { enabled: false });
    await define('large', { when: { '>=': [{ var: 'event.properties.amount' }, 20] } });
    await define('small', { source: 'shop', when: { '==': [{ var: 'event.identity.value' }, 'ann'] } });
    const result = await applyOne(anEvent());
    expect(summaryOf(result)).toEqual(['large skipped condition', 'small applied']);
    expect(result.failure).toBeUndefined();
    expect((await stateOf()).user.points).toBe(1);
  });

  it('that changes a participant waits as a whole for a customer without an EXTERNAL identifier, and others do not', async () => {
    await define('mixed', { ops: [REVENUE, POINTS] });
    await define('shared', { ops: [REVENUE, VISITS] });
    expect(summaryOf(await applyOne(anEvent({}, null)))).toEqual(['mixed waiting_for_customer', 'shared applied']);
    expect(await stateOf()).toMatchObject({ campaign: { revenue: 10.33 }, app: { visits: 1 } });
  });

  it('on shared values counts once, also when the customer has got an EXTERNAL identifier in the meantime', async () => {
    await define('shared', { ops: [REVENUE] });
    const event = anEvent({}, null);
    await applyOne(event);
    await applyOne({ ...event, externalId: 'ann', event: { ...event.event, profileId: randomUUID() } });
    expect((await stateOf()).campaign.revenue).toBe(10.33);
  });

  it('keeps nothing of what it did to shared values but the record of the event and the history', async () => {
    await define('shared', { ops: [REVENUE] });
    await apply(Array.from({ length: 600 }, () => anEvent({}, null)));
    expect(await countOf('event_processing', `reactions @> '[{"outcome":"applied"}]'`)).toBe(600);
    expect(await countOf('value_changes', `subject = '' AND name = 'revenue'`)).toBe(600);
    expect([await countOf('mutation_outcomes'), await countOf('participant_states')]).toEqual([0, 0]);
  });

  it('of two campaigns changes each its own', async () => {
    await variables().define(tenantId, 'winter', { scope: 'user', name: 'points', type: 'number' });
    await define('here');
    await reactions().define(aCaller(tenantId), 'winter', {
      name: 'here',
      eventType: 'purchase',
      ops: [POINTS, POINTS],
    });
    const { reactions: outcomes } = await applyOne(anEvent());
    expect(outcomes.map(({ campaignId }) => campaignId)).toEqual([CAMPAIGN, 'winter']);
    expect((await stateOf()).user.points).toBe(1);
  });
});

describe('a reaction that cannot succeed', () => {
  it.each<[string, object, object, string]>([
    ['a value that the event does not have', { ops: [POINTS, REVENUE] }, { amount: null }, 'ops[1].valueFrom required'],
    [
      'text where a number belongs',
      { ops: [POINTS, REVENUE] },
      { amount: 'jane@example.com' },
      'ops[1].valueFrom type',
    ],
    [
      'a number for a string',
      { ops: [{ path: 'state.user.note', op: 'set', valueFrom: 'properties.amount' }] },
      { amount: 1 },
      'ops[0].value type',
    ],
    [
      'an object',
      { ops: [{ path: 'state.user.note', op: 'set', valueFrom: 'properties.amount' }] },
      { amount: {} },
      'ops[0].valueFrom type',
    ],
    [
      'text that is too long',
      { ops: [{ path: 'state.user.note', op: 'set', valueFrom: 'properties.amount' }] },
      { amount: 'x'.repeat(5_000) },
      'ops[0].valueFrom too_large',
    ],
    [
      'a number that cannot be kept',
      { ops: [REVENUE, { ...REVENUE, value: undefined }] },
      { amount: 2 ** 53 },
      'ops[1] range',
    ],
    [
      'a condition that cannot be worked out',
      { when: { '>': [{ var: 'event.properties.amount' }, 1] } },
      { amount: 'jane@example.com' },
      'when condition_failed',
    ],
  ])('for %s fails, says where, and lets the others be applied', async (_what, fields, properties, fault) => {
    await variables().define(tenantId, CAMPAIGN, { scope: 'user', name: 'note', type: 'string' });
    await define('bad', fields);
    await define('good', { ops: [POINTS] });
    const result = await applyOne(anEvent({ properties }));
    const [path, code] = fault.split(' ');
    expect(summaryOf(result)).toEqual([`bad failed ${code}`, 'good applied']);
    expect(result.failure).toMatchObject({ code, details: [{ path: `reactions[${CAMPAIGN}/bad].${path}`, code }] });
    expect(JSON.stringify(result)).not.toContain('jane@example.com');
    expect(await stateOf()).toMatchObject({ user: { points: 1 }, campaign: { revenue: null } });
  });

  it('because its variable was archived fails, and is applied when the variable is back', async () => {
    await define('sum', { ops: [REVENUE] });
    await variables().archive(tenantId, { campaignId: CAMPAIGN, scope: 'campaign', name: 'revenue' });
    const event = anEvent();
    expect(summaryOf(await applyOne(event))).toEqual(['sum failed undeclared_variable']);
    await variables(1).define(tenantId, CAMPAIGN, { scope: 'campaign', name: 'revenue', type: 'number' });
    expect(summaryOf(await applyOne(event))).toEqual(['sum applied']);
  });
});

describe('what is defined on one node', () => {
  it('is met by the next event on another one, in each of 20 rounds', async () => {
    await applyOne(anEvent(), 1);
    for (let round = 0; round < 20; round += 1) {
      const name = `n${round}`;
      await variables(0).define(tenantId, CAMPAIGN, { scope: 'user', name, type: 'number' });
      await define('r', { ops: [{ path: `state.user.${name}`, op: 'inc', value: 1 }] }, 0);
      expect(summaryOf(await applyOne(anEvent(), 1))).toEqual(['r applied']);
      expect((await stateOf()).user[name]).toBe(1);
      await reactions(0).delete(tenantId, CAMPAIGN, 'r');
      expect(summaryOf(await applyOne(anEvent(), 1))).toEqual([]);
    }
  });

  it('is for events received from then on', async () => {
    const before = anEvent({ receivedAt: new Date(Date.now() - 1_000) });
    await define('r');
    expect(summaryOf(await applyOne(before))).toEqual([]);
    expect(summaryOf(await applyOne(anEvent()))).toEqual(['r applied']);
  });

  it('and mended is for the events that came before, but never a second time', async () => {
    await define('r', { ops: [{ ...POINTS, value: undefined, valueFrom: 'properties.points' }] });
    const [failed, applied] = [anEvent(), anEvent({ properties: { points: 5, amount: 10.33 } })];
    expect((await apply([failed, applied])).flatMap(summaryOf)).toEqual(['r failed required', 'r applied']);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await define('r', { ops: [POINTS] });
    expect((await apply([failed, applied])).flatMap(summaryOf)).toEqual(['r applied', 'r applied']);
    expect((await stateOf()).user.points).toBe(6);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['deleted and defined anew', async () => [await reactions().delete(tenantId, CAMPAIGN, 'r'), await define('r')]],
    ['switched off and on', async () => [await define('r', { enabled: false }), await define('r')]],
    ['given another source and the old one', async () => [await define('r', { source: 'till' }), await define('r')]],
  ])('and %s begins anew: events from before are none of its business', async (_what, change) => {
    await define('r');
    const event = anEvent({ receivedAt: new Date() });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await change();
    expect(summaryOf(await applyOne(event))).toEqual([]);
  });

  it('is read once, and again only when a reaction of the workspace has changed', async () => {
    const reads = async (): Promise<number> => {
      const { sent } = workers[1]!;
      const before = sent.length;
      await apply([anEvent(), anEvent()], 1);
      return sent.slice(before).filter((name) => name === READ_REACTIONS.name).length;
    };
    expect(await reads()).toBe(0);
    await define('r');
    expect([await reads(), await reads()]).toEqual([1, 0]);
    await define('r');
    expect(await reads()).toBe(0);
    await define('other', { eventType: 'refund' });
    expect([await reads(), await reads()]).toEqual([1, 0]);
  });

  it('is nobody’s business in another workspace', async () => {
    await define('r');
    const stranger = randomUUID();
    const results = await apply([anEventToProcess(stranger), anEvent(), anEventToProcess(stranger)]);
    expect(results.map(summaryOf)).toEqual([[], ['r applied'], []]);
  });
});

describe('conditions that take long', () => {
  const LIST = { properties: { list: Array.from({ length: 13_000 }, () => 'y') } };
  /** Costs most of what a condition may. */
  const COSTLY = { all: [{ var: 'event.properties.list' }, { '!!': [{ var: '' }] }] };
  /** By which a condition that costs most of what it may takes some 8 ms, however fast the machine is. */
  const LOOK_MS = 0.2;

  it('let others in this process work meanwhile, and leave events for another call', async () => {
    for (let number = 0; number < 50; number += 1) {
      await define(`r${number}`, { when: { '!': [COSTLY] } });
    }
    let turns = 0;
    let isOver = false;
    const next = (): void => {
      turns += 1;
      if (!isOver) setImmediate(next);
    };
    setImmediate(next);
    const events = Array.from({ length: 10 }, () => anEvent(LIST));
    const results = await bySteppingClock(LOOK_MS, () => apply(events));
    isOver = true;
    expect(results.length).toBeGreaterThan(0);
    expect(results.length).toBeLessThan(events.length);
    expect(turns).toBeGreaterThan(50);
    expect(results.every(({ failure }) => failure === undefined)).toBe(true);
  });

  it('longer than they may fail their event for now, and nothing of it is applied; those behind are not reached', async () => {
    await define('other');
    await define('costly', { when: COSTLY });
    const events = [anEvent(), anEvent(LIST), anEvent()];
    const results = await bySteppingClock(CONDITION_MS_MAX / 2, () => apply(events));
    expect(results.map(summaryOf)).toEqual([['other applied', 'costly skipped condition'], []]);
    expect(results[1]).toMatchObject({
      mayRetry: true,
      failure: { code: 'timed_out', details: [{ path: `reactions[${CAMPAIGN}/costly].when` }] },
    });
    expect((await stateOf()).user.points).toBe(1);
    expect((await bySteppingClock(LOOK_MS, () => apply(events))).map(summaryOf)).toEqual([
      ['other applied', 'costly skipped condition'],
      ['other applied', 'costly applied'],
      ['other applied', 'costly skipped condition'],
    ]);
    expect((await stateOf()).user.points).toBe(4);
  });

  it('more than they may fail their event for good', async () => {
    await define('costly', { when: { or: [COSTLY, COSTLY].map((each) => ({ '!': [each] })) } });
    const result = await bySteppingClock(LOOK_MS, () => applyOne(anEvent(LIST)));
    expect(summaryOf(result)).toEqual(['costly failed too_costly']);
    expect(result.mayRetry).toBeUndefined();
  });
});
