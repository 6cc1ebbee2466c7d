import { randomUUID } from 'node:crypto';
import type { Scope } from '../../src/platform/auth/scopes';
import { PAGE_BYTES_MAX } from '../../src/platform/pagination/page-bytes';
import { sharedApp, type SharedApp } from '../support/app';
import { aCdpEvent, anExternalEvent, registerTypes } from '../support/builders';
import { type Client, expectProblem } from '../support/client';
import { rowsOf } from '../support/database';
import { aCampaign, stateOf, type Campaign } from '../support/runtime';

const POINTS = { path: 'state.user.points', op: 'inc', valueFrom: 'properties.amount' };
const AMOUNT = { var: 'event.properties.amount' };

let service: SharedApp;
let campaign: Campaign;
let client: Client;

beforeAll(async () => {
  service = await sharedApp();
});
beforeEach(async () => {
  campaign = await aCampaign(service);
  client = campaign.workspace.admin;
  await campaign.define('state.user.points', 'number');
  await campaign.define('state.user.note', 'string');
});

const reactionOf = (fields: object = {}) => ({ name: 'reward', eventType: 'purchase', ops: [POINTS], ...fields });
const purchase = (attributes: object, fields: object = {}) =>
  anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' }, attributes, ...fields });
const test = (body: object, by = client) => by.post(`/v1/campaigns/${campaign.campaignId}/reactions:test`, body);

async function items(body: object, by = client): Promise<any[]> {
  const answer = await test(body, by);
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  return answer.body.items;
}

async function store(...events: readonly object[]): Promise<string[]> {
  const { body } = await client.post('/v1/external-events:batch', { items: events });
  return body.results.map((result: any) => result.event_id);
}

const purchaseOf = (identity: object) => aCdpEvent({ identity, properties: { amount: 5 } });

/** Has a customer known by an event that no reaction is to. */
async function send(identity: object): Promise<void> {
  const { status } = await client.post(
    '/v1/cdp/events',
    aCdpEvent({ eventType: 'anything', identity, properties: {} }),
  );
  expect(status).toBe(202);
}

/** The part of the condition that decides for one event with these attributes, and whether it is met. */
async function decisive(when: object, attributes: object): Promise<[boolean, string, string]> {
  const [item] = await items({ reaction: reactionOf({ when }), event: purchase(attributes) });
  return [item.matched, item.why.path, item.why.code];
}

describe('POST …/reactions:test', () => {
  it('shows for each stored event what the reaction would change by itself, from the values of now', async () => {
    const ids = await store(purchase({ amount: 0.2 }), purchase({ amount: 0.7 }), purchase({ amount: 'x' }));
    const state = `/v1/campaigns/${campaign.campaignId}/participants/ann/state:mutate`;
    await client.post(state, { ops: [{ path: POINTS.path, op: 'set', value: 0.1 }] });
    const shown = await items({ reaction: reactionOf(), eventIds: ids });
    expect(shown).toMatchObject([
      { eventId: ids[0], matched: true, outcome: 'applied', faults: [] },
      { eventId: ids[1], matched: true, outcome: 'applied', faults: [] },
      { eventId: ids[2], matched: true, outcome: 'failed', changes: [], faults: [{ path: 'ops[0].valueFrom' }] },
    ]);
    expect(shown[0].changes).toEqual([{ path: POINTS.path, previous: 0.1, current: 0.3 }]);
    expect(shown[1].changes).toEqual([{ path: POINTS.path, previous: 0.1, current: 0.8 }]);
    expect(shown[0].why).toMatchObject({ path: 'when', code: 'no_condition' });
    expect((await stateOf(campaign.participant({ sub: 'ann' }))).user.points).toBe(0.1);
    const [row] = await rowsOf<any>(
      service.databaseUrl,
      `SELECT (SELECT count(*)::int FROM reactions WHERE tenant_id = $1) AS reactions,
         (SELECT count(*)::int FROM event_processing WHERE tenant_id = $1) AS processed`,
      [campaign.workspace.tenantId],
    );
    expect(row).toEqual({ reactions: 0, processed: 0 });
  });

  it('names the part of the condition that decided, and what the event lacks', async () => {
    const big = { '>': [AMOUNT, 100] };
    const gold = { '==': [{ var: 'properties.tier' }, 'gold'] };
    expect(await decisive({ and: [big, gold] }, { amount: 5 })).toEqual([
      false,
      'when.and[0][">"]',
      'condition_not_met',
    ]);
    expect(await decisive({ and: [big, gold] }, { amount: 500, tier: 'tin' })).toEqual([
      ...[false, 'when.and[1]["=="]', 'condition_not_met'],
    ]);
    expect(await decisive({ and: [big, gold] }, { amount: 500, tier: 'gold' })).toEqual([
      ...[true, 'when.and', 'condition_met'],
    ]);
    expect(await decisive({ or: [big, gold] }, { amount: 1, tier: 'gold' })).toEqual([
      ...[true, 'when.or[1]["=="]', 'condition_met'],
    ]);
    expect(await decisive({ or: [big, gold] }, { amount: 1 })).toEqual([false, 'when.or', 'condition_not_met']);
    expect(await decisive({ '!': [{ and: [big, gold] }] }, { amount: 1 })).toEqual([
      ...[true, 'when["!"][0].and[0][">"]', 'condition_not_met'],
    ]);
    expect(await decisive({ if: [gold, big, { '<': [AMOUNT, 3] }] }, { amount: 2 })).toEqual([
      ...[true, 'when.if[2]["<"]', 'condition_met'],
    ]);
    expect(await decisive(big, { amount: 'many' })).toEqual([false, 'when[">"]', 'condition_failed']);
    const [item] = await items({ reaction: reactionOf({ when: big }), event: purchase({ secret: 'kept-to-itself' }) });
    expect(item.why.message).toBe('when[">"] does not hold; the event has no event.properties.amount.');
    expect(JSON.stringify(item)).not.toContain('kept-to-itself');
  });

  it('says which operation would leave the limits, as a backfill and live events count it, or where it would stop', async () => {
    await campaign.define('state.user.coins', 'number', { max: 10 });
    const coins = { path: 'state.user.coins', op: 'inc', valueFrom: 'properties.amount' };
    const [beyond, within] = [purchase({ amount: 11 }), purchase({ amount: 10 })];
    const [skipped] = await items({ reaction: reactionOf({ ops: [POINTS, coins] }), event: beyond });
    expect(skipped).toMatchObject({ matched: true, outcome: 'skipped', changes: [] });
    expect(skipped.faults).toMatchObject([{ path: 'ops[1]', code: 'limit_reached' }]);
    const [applied] = await items({ reaction: reactionOf({ ops: [coins] }), event: within });
    expect(applied).toMatchObject({ outcome: 'applied', changes: [{ previous: null, current: 10 }], faults: [] });
    const [clamped] = await items({ reaction: reactionOf({ ops: [{ ...coins, onLimit: 'clamp' }] }), event: beyond });
    expect(clamped).toMatchObject({ outcome: 'applied', changes: [{ previous: null, current: 10 }], faults: [] });
  });

  it('takes an event of either family that is not stored, with the faults that its ingest would answer', async () => {
    await registerTypes(client);
    const cdp = aCdpEvent({ identity: { externalUserId: 'ann' }, properties: { amount: 5 } });
    expect(await items({ reaction: reactionOf(), event: cdp })).toMatchObject([
      { matched: true, changes: [{ path: POINTS.path, previous: null, current: 5 }] },
    ]);
    const refused = await items({ reaction: reactionOf(), event: { ...cdp, properties: {}, identity: {} } });
    expect(refused).toMatchObject([{ eventId: null, matched: false, why: { code: 'invalid_event' } }]);
    expect(refused[0].faults.map(({ path }: any) => path)).toContain('properties.amount');
    expect((await client.get('/v1/events')).body.items).toEqual([]);
  });

  it('finds the customer of an event: known by a device, unknown, or erased', async () => {
    const device = { type: 'DEVICE', value: randomUUID() };
    const event = purchase({ amount: 1 }, { identity: device });
    expect(await items({ reaction: reactionOf(), event })).toMatchObject([
      { matched: true, outcome: 'waiting_for_customer', changes: [] },
    ]);
    await registerTypes(client);
    await client.post(
      '/v1/cdp/events',
      aCdpEvent({
        eventType: 'anything',
        identity: { externalUserId: 'ann', deviceKey: device.value },
        properties: {},
      }),
    );
    expect(await items({ reaction: reactionOf(), event })).toMatchObject([{ outcome: 'applied' }]);
    const [id] = await store(event);
    const { body } = await client.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: 'ann' });
    await client.post(`/v1/cdp/profiles/${body.id}:erase`, {});
    expect(await items({ reaction: reactionOf(), eventIds: [id] })).toMatchObject([
      { matched: false, why: { code: 'profile_erased' } },
    ]);
  });

  it('merges the customers of an event as its receipt does, and writes nothing of that', async () => {
    await registerTypes(client);
    const [email, deviceKey] = [`${randomUUID()}@example.com`, randomUUID()];
    await send({ email });
    await send({ externalUserId: 'ann', deviceKey });
    const event = purchaseOf({ email, deviceKey });
    const applied = { outcome: 'applied', changes: [{ path: POINTS.path, previous: null, current: 5 }], faults: [] };
    expect(await items({ reaction: reactionOf(), event })).toMatchObject([applied]);
    const { body: before } = await client.post('/v1/cdp/profiles:lookup', { type: 'EMAIL', value: email });
    expect(before.identifiers).toMatchObject([{ type: 'EMAIL' }]);
    const { status, body } = await client.post('/v1/cdp/events', event);
    expect(status).toBe(202);
    expect(await items({ reaction: reactionOf(), eventIds: [body.event_id] })).toMatchObject([applied]);
  });

  it('names a new customer by the EXTERNAL identifier of the event', async () => {
    await registerTypes(client);
    const [email, externalUserId] = [`${randomUUID()}@example.com`, randomUUID()];
    await send({ email });
    for (const identity of [{ externalUserId }, { email, externalUserId }]) {
      expect(await items({ reaction: reactionOf(), event: purchaseOf(identity) })).toMatchObject([
        { outcome: 'applied', changes: [{ current: 5 }] },
      ]);
    }
  });

  it.each(['identity_conflict', 'profile_erased'])('refuses an event with %s where its receipt does', async (code) => {
    await registerTypes(client);
    const [email, deviceKey] = [`${randomUUID()}@example.com`, randomUUID()];
    await send({ externalUserId: 'ann', email });
    await send({ externalUserId: 'bob', deviceKey });
    const { body } = await client.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: 'ann' });
    if (code === 'profile_erased') await client.post(`/v1/cdp/profiles/${body.id}:erase`, {});
    const event = purchaseOf(code === 'profile_erased' ? { externalUserId: 'ann' } : { email, deviceKey });
    const refused = await items({ reaction: reactionOf(), event });
    expect(refused).toMatchObject([
      { eventId: null, matched: false, outcome: 'skipped', why: { code: 'invalid_event' }, changes: [] },
    ]);
    expect(refused[0].faults).toMatchObject([{ path: 'identity', code }]);
    const live = await client.post('/v1/cdp/events', event);
    expectProblem(live, 409, code);
    expect(live.body.details).toEqual(refused[0].faults);
  });

  it('finds an event by its id in upper case, and shows it once', async () => {
    const [id = ''] = await store(purchase({ amount: 1 }));
    const upper = id.toUpperCase();
    expect((await client.get(`/v1/events/${upper}`)).status).toBe(200);
    expect(await items({ reaction: reactionOf(), eventIds: [upper, id] })).toMatchObject([
      { eventId: id, outcome: 'applied' },
    ]);
  });

  it('tests a stored reaction on the newest events of its type, whenever it was defined', async () => {
    const ids = await store(
      ...[1, 2, 3].map((amount) => purchase({ amount })),
      anExternalEvent({ type: 'login' }),
      purchase({ amount: 4 }, { source: 'till' }),
    );
    const define = (fields: object) =>
      client.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, reactionOf(fields));
    await define({ source: 'shop.orders' });
    const last = await items({ name: 'reward', last: 1000 });
    expect(last.map(({ matched }) => matched).sort()).toEqual([false, true, true, true]);
    expect(last.find(({ matched }) => !matched)).toMatchObject({ eventId: ids[4], why: { code: 'source' } });
    expect(await items({ name: 'reward', last: 2 })).toHaveLength(2);
    const [login, none] = await items({ name: 'reward', eventIds: [ids[3], randomUUID()] });
    expect([login.why.code, none.why.code]).toEqual(['event_type', 'not_found']);
    await define({ enabled: false });
    expect((await items({ name: 'reward', last: 1 }))[0].why.code).toBe('disabled');
    expectProblem(await test({ name: 'other', last: 1 }), 404, 'not_found');
  });

  it('shows no personal data without pii:read, no values without state:read, no stored event without events:read', async () => {
    const [id] = await store(purchase({ amount: 1, note: 'write to ann@example.com', email: 'ann@example.com' }));
    const copies = reactionOf({ ops: [{ path: 'state.user.note', op: 'set', valueFrom: 'properties.note' }] });
    const may = (...scopes: readonly Scope[]) => campaign.workspace.client({ scopes: ['reactions:read', ...scopes] });
    const [whole] = await items({ reaction: copies, eventIds: [id] });
    expect(whole.changes).toMatchObject([{ current: 'write to ann@example.com' }]);
    const [masked] = await items({ reaction: copies, eventIds: [id] }, await may('events:read', 'state:read'));
    expect(masked.changes).toMatchObject([{ path: 'state.user.note', previous: null }]);
    expect(JSON.stringify(masked)).not.toContain('ann@example.com');
    const [without] = await items({ reaction: copies, eventIds: [id] }, await may('events:read'));
    expect(without.changes).toEqual([{ path: 'state.user.note' }]);
    // Twice as much as a number can be, whatever the value is: whether it fits would tell the value.
    const most = { path: 'state.user.points', op: 'inc', value: 2 ** 53 };
    const adds = { reaction: reactionOf({ ops: [most, most] }), event: purchase({ note: 'n' }) };
    expect((await items(adds))[0]).toMatchObject({ outcome: 'failed', faults: [{ code: 'range' }] });
    expect((await items(adds, await may()))[0]).toMatchObject({
      outcome: 'applied',
      changes: [{ path: 'state.user.points' }, { path: 'state.user.points' }],
      faults: [],
    });
    expectProblem(await test({ reaction: copies, eventIds: [id] }, await may()), 403, 'insufficient_scope');
    expect(await items({ reaction: copies, event: purchase({ note: 'n' }) }, await may())).toHaveLength(1);
    const reads = reactionOf({ when: { '==': [{ var: 'properties.email' }, 'a'] } });
    const refused = await test({ reaction: reads, eventIds: [id] }, await may('events:read'));
    expectProblem(refused, 403, 'insufficient_scope');
    expect(refused.body.details).toMatchObject([{ path: 'reaction.when["=="][0].var', code: 'personal_data' }]);
    await client.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, reads);
    expectProblem(await test({ name: 'reward', eventIds: [id] }, await may('events:read')), 403, 'insufficient_scope');
  });

  it.each([
    { operations: 100, shown: 1 },
    { operations: 10, shown: 7 },
  ])('ends an answer where it has half a megabyte of changes: $operations for each event', async (each) => {
    await store(...Array.from({ length: 20 }, (_, n) => purchase({ note: String(n).padEnd(4_096, 'x') })));
    const copy = { path: 'state.user.note', op: 'set', valueFrom: 'properties.note' };
    const reaction = reactionOf({ ops: Array(each.operations).fill(copy) });
    const { status, body } = await test({ reaction, last: 20 });
    expect([status, body.items.length, body.omitted]).toEqual([200, each.shown, 20 - each.shown]);
    const sizes: number[] = body.items.map((item: unknown) => Buffer.byteLength(JSON.stringify(item)));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(PAGE_BYTES_MAX);
    expect(bytes - sizes.at(-1)!).toBeLessThan(PAGE_BYTES_MAX);
    expect(body.items.every(({ changes }: any) => changes.length === each.operations)).toBe(true);
    // Without the values, which this caller may not read, an answer has all events.
    const client = await campaign.workspace.client({ scopes: ['reactions:read', 'events:read'] });
    expect((await test({ reaction, last: 20 }, client)).body).toMatchObject({ omitted: 0, items: { length: 20 } });
  });

  it('names every fault of its body, and those of a definition as reactions:define does', async () => {
    const pathsOf = async (body: object): Promise<string[]> => {
      const answer = await test(body);
      expectProblem(answer, 422, 'validation_failed');
      return answer.body.details.map(({ path }: any) => path);
    };
    expect(await pathsOf({})).toEqual(['reaction', 'event']);
    expect(await pathsOf({ reaction: {}, name: 'x', last: 0, event: {}, extra: 1 })).toEqual(['name', 'last', 'extra']);
    expect(await pathsOf({ name: 'x', last: 1001 })).toEqual(['last']);
    expect(await pathsOf({ name: 'x', eventIds: ['no'] })).toEqual(['eventIds[0]']);
    expect(await pathsOf({ name: 'x', eventIds: Array(101).fill(randomUUID()) })).toEqual(['eventIds']);
    const undeclared = reactionOf({ ops: [{ ...POINTS, path: 'state.user.none' }] });
    expect(await pathsOf({ reaction: undeclared, last: 1 })).toEqual(['reaction.ops[0].path']);
    expect(await pathsOf({ reaction: { name: 'x' }, last: 1 })).toEqual(['reaction.eventType', 'reaction.ops']);
  });
});
