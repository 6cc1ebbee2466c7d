import { randomUUID } from 'node:crypto';
import { WaitingEventsRetention } from '../../src/processing/waiting-events-retention';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, anExternalEvent, ANYTHING } from '../support/builders';
import { Client } from '../support/client';
import { rowsOf, untilBlocked, withClient } from '../support/database';
import { metricsOf } from '../support/metrics';
import { untilDrained } from '../support/processing';
import { aCampaign, stateOf, type Campaign } from '../support/runtime';

/** An hour longer than events wait. */
const LONGER_THAN_EVENTS_WAIT = '7 days 1 hour';
const POINT = { path: 'state.user.points', op: 'inc', value: 1 };
const LAST = { path: 'state.user.last', op: 'set', valueFrom: 'properties.n' };

let nodes: TestApp[];
let campaign: Campaign;
let client: Client;

beforeAll(async () => {
  const environment = { REACTION_LINK_DAYS: '7' };
  nodes = await Promise.all([1, 2].map(() => startApp(environment, undefined, [], { processesEvents: true })));
});
beforeEach(async () => {
  campaign = await aCampaign(nodes[0]!);
  client = campaign.workspace.admin;
  await campaign.define('state.user.points', 'number');
  await campaign.define('state.user.last', 'number');
  await client.post('/v1/cdp/event-types', ANYTHING);
  await define({});
});
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

async function define(fields: object): Promise<void> {
  const reaction = { name: 'reward', eventType: 'purchase', ops: [POINT, LAST], ...fields };
  const answer = await client.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, reaction);
  expect(answer.status).toBe(200);
}

const device = (value: string) => ({ type: 'DEVICE', value });
const purchase = (n: number, identity: object = device('d')) => anExternalEvent({ identity, attributes: { n } });

async function accept(path: string, event: object): Promise<string> {
  const { status, body } = await client.post(path, event);
  expect(status).toBe(202);
  return body.event_id;
}

const buy = (n: number, identity?: object): Promise<string> => accept('/v1/external-events', purchase(n, identity));
/** An event that no reaction is there for. */
const identify = (identity: object): Promise<string> =>
  accept('/v1/cdp/events', aCdpEvent({ eventType: ANYTHING.eventType, identity, properties: {} }));

const drained = (): Promise<void> => untilDrained(nodes[0]!.databaseUrl, campaign.workspace.tenantId, 60);
const processingOf = async (id: string): Promise<any> => (await client.get(`/v1/events/${id}`)).body.processing;

/** What became of the one reaction to each of these events, once nothing is queued. */
async function outcomesOf(ids: readonly string[]): Promise<string[]> {
  await drained();
  const outcomes: string[] = [];
  for (const id of ids) {
    const { reactions } = await processingOf(id);
    outcomes.push(reactions.map((each: any) => [each.outcome, each.reason].filter(Boolean).join(' ')).join());
  }
  return outcomes;
}

async function userState(sub = 'ann'): Promise<{ points: number | null; last: number | null }> {
  return (await stateOf(campaign.participant({ sub }))).user;
}

/** The numbers of the events whose reaction has run, in the order in which each has seen what the one before has left. */
async function orderOfRuns(sub = 'ann'): Promise<number[]> {
  const rows = await rowsOf<{ previous: number | null; current: number }>(
    nodes[0]!.databaseUrl,
    `SELECT previous, current FROM value_changes WHERE tenant_id = $1 AND subject = $2 AND name = 'last'`,
    [campaign.workspace.tenantId, sub],
  );
  const next = new Map(rows.map(({ previous, current }) => [previous, current]));
  const order: number[] = [];
  for (let at = next.get(null); at !== undefined; at = next.get(at)) order.push(at);
  expect(order).toHaveLength(rows.length);
  return order;
}

const waitingRows = () =>
  rowsOf(nodes[0]!.databaseUrl, 'SELECT 1 FROM waiting_events WHERE tenant_id = $1', [campaign.workspace.tenantId]);

/** As if each step were made by another job. */
async function expireWhatWaits(): Promise<void> {
  const retention = nodes[0]!.app.get(WaitingEventsRetention);
  for (let from: Readonly<Record<string, string>> = {}; ;) {
    const { value } = await retention.expireOld(from).next();
    if (value === undefined) break;
    from = value;
  }
}

describe('events of a customer before the first login', () => {
  it('count when an event names the customer, in the order of their receipt and before what comes later', async () => {
    const events = [await buy(1), await buy(2), await buy(3)];
    expect(await outcomesOf(events)).toEqual(Array(3).fill('waiting_for_customer'));
    expect(await processingOf(events[0]!)).toMatchObject({ state: 'processed', lastError: null });
    await identify({ externalUserId: 'ann', deviceKey: 'd' });
    const later = [await buy(4), await buy(5, { type: 'EXTERNAL', value: 'ann' })];
    expect(await outcomesOf([...events, ...later])).toEqual(Array(5).fill('applied'));
    expect(await userState()).toMatchObject({ points: 5, last: 5 });
    expect(await orderOfRuns()).toEqual([1, 2, 3, 4, 5]);
    expect(await waitingRows()).toEqual([]);
  });

  it('of several devices count in the order of their receipt when these become those of a known customer', async () => {
    await identify({ externalUserId: 'ann' });
    for (let n = 0; n < 12; n += 1) {
      await buy(n, device(`d${n % 3}`));
      if (n % 4 === 3) await drained();
    }
    await identify({ deviceKey: 'd0', email: 'ann@example.com' });
    await identify({ deviceKey: 'd1', email: 'ann@example.com' });
    await identify({ externalUserId: 'ann', email: 'ann@example.com' });
    await drained();
    expect(await orderOfRuns()).toEqual([0, 1, 3, 4, 6, 7, 9, 10]);
    await identify({ externalUserId: 'ann', deviceKey: 'd2' });
    await drained();
    expect(await orderOfRuns()).toEqual([0, 1, 3, 4, 6, 7, 9, 10, 2, 5, 8, 11]);
  });

  it('are let go of some at a time, however many there are, each once and in their order', async () => {
    const events = Array.from({ length: 450 }, (_unused, n) => purchase(n));
    const sent = await client.post('/v1/external-events:batch', { items: events });
    expect(sent.body.results.every(({ status }: { status: string }) => status === 'accepted')).toBe(true);
    await drained();
    expect(await waitingRows()).toHaveLength(450);
    await accept('/v1/external-events', purchase(450, { type: 'EXTERNAL', value: 'bob' }));
    await accept(
      '/v1/cdp/events',
      aCdpEvent({ eventType: ANYTHING.eventType, identity: { externalUserId: 'ann', deviceKey: 'd' }, properties: {} }),
    );
    await buy(451);
    await drained();
    expect(await userState('bob')).toMatchObject({ points: 1 });
    expect(await orderOfRuns()).toEqual([...events.keys(), 451]);
  });

  it('count once each when they come at the same time as the login, from several clients on two nodes', async () => {
    const people = Array.from({ length: 20 }, (_unused, number) => `person-${number}`);
    const visits = 6;
    const clients = nodes.map(({ url }) => new Client(url, client.key));
    const send = async (path: string, event: object, node: number): Promise<void> => {
      expect((await clients[node % 2]!.post(path, event)).status).toBe(202);
    };
    await Promise.all(
      people.flatMap((sub, number) => [
        ...Array.from({ length: visits }, (_unused, n) =>
          send('/v1/external-events', purchase(n, device(`d-${sub}-${n % 2}`)), number + n),
        ),
        ...[0, 1].map(async (which) => {
          const identity = { externalUserId: sub, deviceKey: `d-${sub}-${which}` };
          const login = aCdpEvent({ eventType: ANYTHING.eventType, identity, properties: {} });
          await send('/v1/cdp/events', login, number + which);
        }),
      ]),
    );
    await drained();
    const points = await Promise.all(people.map(async (sub) => (await userState(sub)).points));
    expect(points).toEqual(people.map(() => visits));
    expect(await waitingRows()).toEqual([]);
    const history = `SELECT 1 FROM value_changes WHERE tenant_id = $1 AND name = 'points'`;
    const runs = await rowsOf(nodes[0]!.databaseUrl, history, [campaign.workspace.tenantId]);
    expect(runs).toHaveLength(people.length * visits);
  });

  it('are not left behind by a login that commits while one of them is about to wait', async () => {
    const { databaseUrl } = nodes[0]!;
    const { tenantId } = campaign.workspace;
    await identify({ deviceKey: 'd' });
    await drained();
    await withClient(databaseUrl, async (login) => {
      await login.query('BEGIN');
      await login.query(
        `UPDATE profiles SET external_id = 'ann', version = version + 1 WHERE tenant_id = $1 AND root_id = profile_id`,
        [tenantId],
      );
      const event = await buy(1);
      await untilBlocked(databaseUrl, 'cds-worker', 1);
      await login.query('COMMIT');
      expect(await outcomesOf([event])).toEqual(['applied']);
    });
    expect(await waitingRows()).toEqual([]);
    expect(await userState()).toMatchObject({ points: 1 });
  });
});

describe('a reaction that waits', () => {
  it('is what is defined when it runs, and is skipped when it is not in force any more', async () => {
    const { campaignId } = campaign;
    await define({ name: 'deleted' });
    await define({ name: 'disabled' });
    await define({ name: 'anew' });
    await define({ name: 'narrowed' });
    const event = await buy(1);
    await drained();
    await define({ ops: [{ ...POINT, value: 100 }] });
    await define({ name: 'disabled', enabled: false });
    await define({ name: 'narrowed', when: { '>': [{ var: 'event.properties.n' }, 1] } });
    for (const name of ['deleted', 'anew']) {
      await client.send(`/v1/campaigns/${campaignId}/reactions/${name}`, undefined, { method: 'DELETE' });
    }
    await define({ name: 'anew' });
    await identify({ externalUserId: 'ann', deviceKey: 'd' });
    await drained();
    const { state, reactions } = await processingOf(event);
    expect(state).toBe('processed');
    expect(new Set(reactions)).toEqual(
      new Set([
        { campaignId, name: 'reward', outcome: 'applied' },
        { campaignId, name: 'narrowed', outcome: 'skipped', reason: 'condition' },
        ...['deleted', 'disabled', 'anew'].map((name) => ({
          campaignId,
          name,
          outcome: 'skipped',
          reason: 'not_in_force',
        })),
      ]),
    );
    expect((await userState()).points).toBe(100);
  });

  it('that fails when it runs fails its event, whose replay applies it once it is mended', async () => {
    const event = await accept('/v1/external-events', anExternalEvent({ identity: device('d'), attributes: {} }));
    expect(await outcomesOf([event])).toEqual(['waiting_for_customer']);
    await identify({ externalUserId: 'ann', deviceKey: 'd' });
    expect(await outcomesOf([event])).toEqual(['failed required']);
    expect(await processingOf(event)).toMatchObject({ state: 'failed' });
    const [entry] = (await client.get('/v1/review-entries?reason=required')).body.items;
    expect(entry).toMatchObject({ eventId: event, status: 'open', stage: 'processing' });
    await define({ ops: [POINT] });
    expect((await client.post(`/v1/review-entries/${entry.id}:replay`, {})).status).toBe(200);
    expect(await outcomesOf([event])).toEqual(['applied']);
    expect((await userState()).points).toBe(1);
  });

  it('leaves a failure of another reaction to its replay, which does not disturb it', async () => {
    await campaign.define('state.campaign.total', 'number');
    const total = { path: 'state.campaign.total', op: 'inc' };
    await define({ name: 'bad', ops: [{ ...total, valueFrom: 'properties.none' }] });
    const event = await buy(1);
    expect(await outcomesOf([event])).toEqual(['waiting_for_customer,failed required']);
    const [entry] = (await client.get('/v1/review-entries?reason=required')).body.items;
    await identify({ externalUserId: 'ann', deviceKey: 'd' });
    expect(await outcomesOf([event])).toEqual(['failed required,applied']);
    expect(await processingOf(event)).toMatchObject({
      state: 'failed',
      lastError: expect.stringMatching(/^required: /),
    });
    await define({ name: 'bad', ops: [{ ...total, valueFrom: 'properties.n' }] });
    await client.post(`/v1/review-entries/${entry.id}:replay`, {});
    expect(await outcomesOf([event])).toEqual(['applied,applied']);
    expect((await userState()).points).toBe(1);
  });

  it('and another one that failed before for another reason are replayed together, and both entries are closed', async () => {
    await campaign.define('state.campaign.total', 'number');
    const total = { path: 'state.campaign.total', op: 'inc' };
    await define({ name: 'bad', ops: [{ ...total, valueFrom: 'properties.none' }] });
    await define({ ops: [{ ...POINT, value: undefined, valueFrom: 'properties.text' }] });
    const attributes = { n: 1, text: 'not a number' };
    const event = await accept('/v1/external-events', anExternalEvent({ identity: device('d'), attributes }));
    expect(await outcomesOf([event])).toEqual(['waiting_for_customer,failed required']);
    await identify({ externalUserId: 'ann', deviceKey: 'd' });
    expect(await outcomesOf([event])).toEqual(['failed required,failed type']);
    await define({ name: 'bad', ops: [{ ...total, valueFrom: 'properties.n' }] });
    await define({ ops: [POINT] });
    const entryOf = async (reason: string) => (await client.get(`/v1/review-entries?reason=${reason}`)).body.items[0];
    await client.post(`/v1/review-entries/${(await entryOf('required')).id}:replay`, {});
    expect(await outcomesOf([event])).toEqual(['applied,applied']);
    expect(await entryOf('required')).toMatchObject({ status: 'replayed', resolution: { outcome: 'processed' } });
    expect(await entryOf('type')).toMatchObject({
      status: 'superseded',
      eventId: event,
      resolution: { action: 'superseded', outcome: 'processed', eventId: event, at: expect.any(String) },
    });
  });

  it('begins to wait with a replay, when it could not be asked before', async () => {
    await define({ when: { '>': [{ var: 'event.properties.text' }, 1] } });
    const attributes = { n: 1, text: 'not a number' };
    const event = await accept('/v1/external-events', anExternalEvent({ identity: device('d'), attributes }));
    expect(await outcomesOf([event])).toEqual(['failed condition_failed']);
    await define({});
    const [entry] = (await client.get('/v1/review-entries?reason=condition_failed')).body.items;
    await client.post(`/v1/review-entries/${entry.id}:replay`, {});
    expect(await outcomesOf([event])).toEqual(['waiting_for_customer']);
    await identify({ externalUserId: 'ann', deviceKey: 'd' });
    expect(await outcomesOf([event])).toEqual(['applied']);
  });

  it('runs at the place of its receipt, also when it began to wait with a replay', async () => {
    await define({ when: { '>': [{ var: 'event.properties.text' }, 1] } });
    const attributes = { n: 1, text: 'not a number' };
    await accept('/v1/external-events', anExternalEvent({ identity: device('d'), attributes }));
    await drained();
    await define({});
    await buy(2);
    await drained();
    const [entry] = (await client.get('/v1/review-entries?reason=condition_failed')).body.items;
    await client.post(`/v1/review-entries/${entry.id}:replay`, {});
    await identify({ externalUserId: 'ann', deviceKey: 'd' });
    await drained();
    expect(await orderOfRuns()).toEqual([1, 2]);
  });

  it('stays with the profile of its event when a merge is undone', async () => {
    const ofDevice = await buy(1);
    await identify({ deviceKey: 'd', email: 'ann@example.com' });
    const ofEmail = await buy(2, { type: 'EMAIL', value: 'eve@example.com' });
    await identify({ deviceKey: 'd', email: 'eve@example.com' });
    await drained();
    const { id } = (await client.post('/v1/cdp/profiles:lookup', device('d'))).body;
    const merges = (await client.get(`/v1/cdp/profiles/${id}/merges`)).body.items;
    expect((await client.send(`/v1/cdp/merges/${merges[0].id}:undo`, undefined)).status).toBe(200);
    await identify({ externalUserId: 'eve', email: 'eve@example.com' });
    expect(await outcomesOf([ofDevice, ofEmail])).toEqual(['waiting_for_customer', 'applied']);
    await identify({ externalUserId: 'ann', email: 'ann@example.com' });
    expect(await outcomesOf([ofDevice])).toEqual(['applied']);
    expect([await userState('ann'), await userState('eve')]).toMatchObject([{ last: 1 }, { last: 2 }]);
  });

  it('is skipped after REACTION_LINK_DAYS, by the clock of the database, and stays so', async () => {
    const events = [await buy(1), await buy(2)];
    await drained();
    await rowsOf(
      nodes[0]!.databaseUrl,
      `UPDATE waiting_events SET queued_at = (queued_at AT TIME ZONE 'UTC' - interval '${LONGER_THAN_EVENTS_WAIT}') AT TIME ZONE 'UTC'
       WHERE tenant_id = $1 AND event_id = $2`,
      [campaign.workspace.tenantId, events[0]],
    );
    await expireWhatWaits();
    expect(await outcomesOf(events)).toEqual(['skipped no_external_identifier', 'waiting_for_customer']);
    await identify({ externalUserId: 'ann', deviceKey: 'd' });
    expect(await outcomesOf(events)).toEqual(['skipped no_external_identifier', 'applied']);
    expect(await userState()).toMatchObject({ points: 1, last: 2 });
  });

  it('goes with the person who is erased', async () => {
    const event = await buy(1);
    await drained();
    const { profileId } = (await client.get(`/v1/events/${event}`)).body;
    expect(await outcomesOf([event])).toEqual(['waiting_for_customer']);
    const exported = await client.send(`/v1/cdp/profiles/${profileId}:export`, undefined);
    expect(exported.body).toContain('"outcome":"waiting_for_customer"');
    expect((await client.send(`/v1/cdp/profiles/${profileId}:erase`, undefined)).status).toBe(200);
    expect(await outcomesOf([event])).toEqual(['skipped profile_erased']);
    expect(await waitingRows()).toEqual([]);
  });

  it('is counted', async () => {
    await buy(1, device(randomUUID()));
    await drained();
    const { cds_events_waiting_for_customer: waiting } = await metricsOf(nodes[0]!.url);
    expect(waiting).toBeGreaterThan(0);
  });
});
