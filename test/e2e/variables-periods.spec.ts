import { Clock } from '../../src/platform/values/clock';
import { startApp, type TestApp } from '../support/app';
import { readBackfill, startBackfill } from '../support/backfills';
import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { untilBlocked, withClient } from '../support/database';
import { aClockedDatabase, type ClockedDatabase } from '../support/database-clock';
import { brokenHistories } from '../support/histories';
import { untilDrained } from '../support/processing';
import { aCampaign, inc, mutate, stateOf, summary, type Campaign } from '../support/runtime';
import { until } from '../support/until';

const WRITERS = 64;
const GRANTS_MAX = 200;
const DAILY = 'state.user.daily';
const HOUR_MS = 60 * 60 * 1000;
const GRANT = [inc('state.campaign.quota')];

let database: ClockedDatabase;
let nodes: readonly TestApp[];
let campaign: Campaign;
let admin: Client;

beforeAll(async () => {
  database = await aClockedDatabase('periods');
  nodes = await Promise.all([startApp({}, database.url, [], { processesEvents: true }), startApp({}, database.url)]);
});
beforeEach(async () => {
  campaign = await aCampaign(nodes[0]!);
  ({ admin } = campaign.workspace);
});
afterEach(async () => expect(await brokenHistories(database.url, campaign.workspace.tenantId)).toEqual([]));
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

/** For longer than the test sets the clock ahead. */
const aParticipant = (sub: string): Client =>
  campaign.participant({ sub, exp: Math.floor(Date.now() / 1_000) + 2 * 60 * 60 });
const at = (node: number, { key }: Client): Client => new Client(nodes[node % 2]!.url, key);
const period = (fields = {}) => ({ every: 'day', timezone: database.timezone, ...fields });
const aPurchase = (value: string) => anExternalEvent({ type: 'purchase', identity: { type: 'EXTERNAL', value } });
const pathTo = (rest: string): string => `/v1/campaigns/${campaign.campaignId}/${rest}`;

/** Sets the clock to just before the boundary, and waits until it has passed. */
async function passBoundary(passed: () => Promise<boolean>): Promise<void> {
  await database.setBefore(100);
  await until(passed);
}

async function shownDaily(client: Client): Promise<unknown> {
  return (await stateOf(client)).user.daily;
}

describe('a variable with a period', () => {
  it('starts again from its default in each period, wherever it is read', async () => {
    await database.setBefore(60_000);
    await campaign.define(DAILY, 'number', { default: 10, period: period() });
    await campaign.define('state.campaign.daily', 'number', { default: 3, period: period() });
    const ann = aParticipant('ann');
    await mutate(ann, [inc(DAILY), inc('state.campaign.daily')]);
    const listed = async () => (await admin.get(pathTo('participants'))).body.items[0].state.user;
    const shown = async () => (await admin.get(pathTo('participants/ann/state'))).body.state;
    expect([await shownDaily(ann), await listed()]).toEqual([11, { daily: 11 }]);
    await passBoundary(async () => (await shownDaily(ann)) === 10);
    expect(await listed()).toEqual({ daily: 10 });
    expect(await shown()).toMatchObject({ user: { daily: 10 }, campaign: { daily: 3 } });
    const { body } = await mutate(ann, [inc(DAILY, 5), inc(DAILY), inc('state.campaign.daily')]);
    expect(body.mutations).toEqual([
      { path: DAILY, previous: 10, current: 15 },
      { path: DAILY, previous: 15, current: 16 },
      { path: 'state.campaign.daily', previous: 3, current: 4 },
    ]);
    const { items } = (await admin.get(pathTo('participants/ann/history'))).body;
    const today = database.boundary.toISOString();
    const yesterday = new Date(database.boundary.getTime() - 24 * 60 * 60 * 1000).toISOString();
    expect(items.map(({ previous, current, periodStart }: any) => [previous, current, periodStart])).toEqual([
      [15, 16, today],
      [10, 15, today],
      [10, 11, yesterday],
    ]);
  });

  it('has the value of the period only in which it was changed, whatever it was before it had one', async () => {
    await database.setBefore(60_000);
    await campaign.define(DAILY, 'number', { default: 1 });
    const ann = aParticipant('ann');
    await mutate(ann, [inc(DAILY, 6)]);
    await campaign.define(DAILY, 'number', { default: 1, period: period() });
    expect(await shownDaily(ann)).toBe(1);
    await mutate(ann, [inc(DAILY)]);
    // A longer period contains the day.
    await campaign.define(DAILY, 'number', { default: 1, period: period({ every: 'month' }) });
    expect(await shownDaily(ann)).toBe(2);
    await campaign.define(DAILY, 'number', { default: 1 });
    expect(await shownDaily(ann)).toBe(2);
  });

  it(`grants exactly ${GRANTS_MAX} in each of two periods to ${WRITERS} writers on two nodes`, async () => {
    await database.setBefore(60_000);
    const quota = 'state.campaign.quota';
    await campaign.define(quota, 'number', { default: 0, min: 0, max: GRANTS_MAX, period: period() });
    const people = Array.from({ length: WRITERS }, (_unused, writer) => at(writer, aParticipant(`p-${writer}`)));
    await until(async () => (await stateOf(people[1]!)).campaign.quota === 0);
    const granted: number[] = [];
    let refused = 0;
    const isOver = (): boolean => granted.length > GRANTS_MAX;
    const nearBoundary = until(() => refused >= WRITERS, 60).then(() => database.setBefore(200));
    await Promise.all(
      people.map(async (person) => {
        for (;;) {
          const wasOver = isOver();
          const answer = await mutate(person, [inc(quota)]);
          if (summary(answer) === '200 applied') granted.push(answer.body.mutations[0].current);
          else {
            expect(summary(answer)).toBe('409 limit_reached');
            refused += 1;
            if (wasOver) return;
          }
        }
      }),
    );
    await nearBoundary;
    const each = Array.from({ length: GRANTS_MAX }, (_unused, number) => number + 1);
    expect(granted.sort((a, b) => a - b)).toEqual(each.flatMap((number) => [number, number]));
    const history: any[] = [];
    for (let cursor = ''; ;) {
      const { body } = await admin.get(pathTo(`variables/campaign/quota/history?limit=200${cursor}`));
      history.unshift(...body.items.toReversed());
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
    }
    const starts = [...new Set(history.map(({ periodStart }) => periodStart))];
    expect(starts).toHaveLength(2);
    expect(starts[1]).toBe(database.boundary.toISOString());
    for (const start of starts) {
      const ofPeriod = history.filter(({ periodStart }) => periodStart === start);
      expect(ofPeriod.map(({ previous, current }) => [previous, current])).toEqual(
        each.map((number) => [number - 1, number]),
      );
      expect(ofPeriod.every((entry) => entry.at >= database.boundary.toISOString() === (start === starts[1]))).toBe(
        true,
      );
    }
  });
});

it('gets nothing of its last period from a backfill that waited when the period began', async () => {
  // A definition waits for the real clock.
  await database.setTo(new Date());
  const clock = nodes[0]!.app.get(Clock);
  await until(() => Math.abs(clock.now().getTime() - Date.now()) < 1_000);
  await campaign.define('state.campaign.quota', 'number', { default: 0, period: period() });
  const ann = aParticipant('ann');
  await mutate(ann, GRANT);
  const { tenantId } = campaign.workspace;
  for (const sub of ['ann', 'bob']) await admin.post('/v1/external-events', aPurchase(sub));
  await untilDrained(database.url, tenantId);
  await admin.post(pathTo('reactions:define'), { name: 'grant', eventType: 'purchase', ops: GRANT });
  const jobId = await startBackfill(admin, campaign.campaignId, 'grant', { eventsPerSecondMax: 1 });
  await until(async () => (await stateOf(ann)).campaign.quota === 2);
  await withClient(database.url, async (other) => {
    await other.query('BEGIN');
    await other.query('SELECT 1 FROM shared_values WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
    await database.setBefore(2_500);
    await untilBlocked(database.url, 'cds-retries', 1);
    await until(async () => (await stateOf(ann)).campaign.quota === 0);
    await other.query('COMMIT');
  });
  const progress = () => readBackfill(admin, campaign.campaignId, 'grant', jobId);
  await until(async () => (await progress()).scanned === 2);
  expect(await progress()).toMatchObject({ applied: 1, skipped: 1 });
  expect((await stateOf(ann)).campaign.quota).toBe(0);
});

it('grants a day of 23 hours and one of 25 exactly what it grants any other', async () => {
  const year = new Date().getUTCFullYear() + 1;
  const zone = { every: 'day', timezone: 'Europe/Berlin' };
  await campaign.define('state.campaign.quota', 'number', { default: 0, min: 0, max: 3, period: zone });
  const exp = Date.UTC(year + 1, 0, 1) / 1_000;
  const people = [0, 1].map((number) => at(number, campaign.participant({ sub: `p-${number}`, exp })));
  for (const { change, hours } of [
    { change: lastSunday(year, 2), hours: 23 },
    { change: lastSunday(year, 9), hours: 25 },
  ]) {
    // The day begins in the one time and ends in the other one.
    const start = change.getTime() - (hours === 23 ? 1 : 2) * HOUR_MS;
    for (const [moment, isNew] of [
      [start - 60_000, true],
      [start, true],
      [start + (hours - 1) * HOUR_MS, false],
      [start + hours * HOUR_MS - 60_000, false],
      [start + hours * HOUR_MS, true],
    ] as const) {
      await database.setTo(new Date(moment));
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_unused, index) => mutate(people[index % 2]!, GRANT)),
      );
      const summaries = answers.map(summary).sort();
      expect(summaries.filter((each) => each === '200 applied')).toHaveLength(isNew ? 3 : 0);
      expect(summaries.filter((each) => each === '409 limit_reached')).toHaveLength(isNew ? 5 : 8);
    }
    const { items } = (await admin.get(pathTo('variables/campaign/quota/history?limit=9'))).body;
    const starts = [...new Set(items.map(({ periodStart }: any) => Date.parse(periodStart)))] as number[];
    expect(starts.slice(0, 2)).toEqual([start + hours * HOUR_MS, start]);
  }
});

it('starts again in its next period, though other values were changed while the clock was ahead', async () => {
  await database.setBefore(60_000);
  const ahead = new Date(database.boundary.getTime() + 48 * HOUR_MS);
  await campaign.define(DAILY, 'number', { default: 10, period: period() });
  await campaign.define('state.user.points', 'number');
  await campaign.define('state.campaign.total', 'number');
  // Also by the clock of the test before, which this service may still go by.
  const exp = Date.UTC(new Date().getUTCFullYear() + 2, 0, 1) / 1_000;
  const [ann, bob] = ['ann', 'bob'].map((sub) => at(0, campaign.participant({ sub, exp }))) as [Client, Client];
  await database.setTo(ahead);
  expect(summary(await mutate(bob, [inc('state.user.points'), inc('state.campaign.total')]))).toBe('200 applied');
  await database.setBefore(50_000);
  for (const person of [ann, bob]) {
    expect(summary(await mutate(person, [inc(DAILY), inc('state.campaign.total')]))).toBe('200 applied');
    expect(await shownDaily(person)).toBe(11);
  }
  await passBoundary(async () => (await shownDaily(ann)) === 10);
  expect(await shownDaily(bob)).toBe(10);
});

/** Midnight in UTC of the last Sunday of a month, counted from 0. */
function lastSunday(year: number, month: number): Date {
  const last = new Date(Date.UTC(year, month + 1, 0));
  return new Date(last.getTime() - last.getUTCDay() * 24 * HOUR_MS);
}
