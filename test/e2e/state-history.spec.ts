import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { Client, expectProblem } from '../support/client';
import { rowsOf } from '../support/database';
import { brokenHistories } from '../support/histories';
import { EffectsWorker, anEventToProcess } from '../support/reactions';
import { aCampaign, inc, mutate, set, type Campaign } from '../support/runtime';

const POINTS = 'state.user.points';
const TOTAL = 'state.campaign.total';

let service: TestApp;
/** Writes no history. */
let silent: TestApp;
let campaign: Campaign;
let admin: Client;

beforeAll(async () => {
  [service, silent] = await Promise.all([startApp(), startApp({ STATE_HISTORY_DAYS: '0' })]);
});
beforeEach(async () => {
  campaign = await aCampaign(service);
  ({ admin } = campaign.workspace);
  await campaign.define(POINTS, 'number', { default: 5 });
  await campaign.define('state.user.motto', 'string');
  await campaign.define(TOTAL, 'number');
  await campaign.define('state.app.visits', 'number');
});
afterAll(() => Promise.all([service, silent].map((each) => each.stop())));

const ofParticipant = (sub: string): string => `/v1/campaigns/${campaign.campaignId}/participants/${sub}/history`;
const ofValue = (scope: string, name: string): string =>
  `/v1/campaigns/${campaign.campaignId}/variables/${scope}/${name}/history`;

async function historyAt(path: string): Promise<any[]> {
  const { status, body } = await admin.get(path);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.items;
}

/** Every page, joined. */
async function allPages(path: string, limit: number): Promise<any[]> {
  const items: any[] = [];
  for (let cursor = ''; ;) {
    const { body } = await admin.get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`);
    items.push(...body.items);
    if (body.nextCursor === null) return items;
    cursor = `&cursor=${body.nextCursor}`;
  }
}

describe('the history of a participant', () => {
  it('has one entry for each operation, newest first, with its cause', async () => {
    const ann = campaign.participant({ sub: 'ann' });
    await mutate(ann, [inc(POINTS, 2), set('state.user.motto', 'go'), inc(POINTS)], { mutation_id: 'm-1' });
    await mutate(ann, [inc(POINTS)]);
    const path = `/v1/campaigns/${campaign.campaignId}/participants/ann/state:mutate`;
    await admin.post(path, { ops: [set(POINTS, 0)], mutation_id: 'm-2' });
    const [key] = (await admin.get('/v1/api-keys')).body.items;
    const entry = (name: string, op: string, previous: unknown, current: unknown, cause: object) => ({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      scope: 'user',
      name,
      op,
      previous,
      current,
      cause,
    });
    const first = { kind: 'mutation', mutationId: 'm-1' };
    expect(await historyAt(ofParticipant('ann'))).toEqual([
      entry('points', 'set', 9, 0, { kind: 'mutation', mutationId: 'm-2', actor: key.id }),
      entry('points', 'inc', 8, 9, { kind: 'mutation' }),
      entry('points', 'inc', 7, 8, first),
      entry('motto', 'set', null, 'go', first),
      entry('points', 'inc', 5, 7, first),
    ]);
    expect((await historyAt(`${ofParticipant('ann')}?name=motto`)).map(({ name }) => name)).toEqual(['motto']);
    expect(await historyAt(ofParticipant('bob'))).toEqual([]);
  });

  it('has no entry of a refused mutation or a repetition', async () => {
    const ann = campaign.participant({ sub: 'ann' });
    for (const status of ['applied', 'duplicate']) {
      const { body } = await mutate(ann, [inc(POINTS)], { mutation_id: 'm' });
      expect(body.status).toBe(status);
    }
    expect((await mutate(ann, [inc(POINTS), inc(POINTS, 2 ** 53)])).status).toBe(422);
    expect(await historyAt(ofParticipant('ann'))).toHaveLength(1);
  });

  it('comes in pages that show each entry once while others arrive, in a range of time', async () => {
    const ann = campaign.participant({ sub: 'ann' });
    for (let round = 0; round < 3; round += 1)
      await mutate(
        ann,
        Array.from({ length: 4 }, () => inc(POINTS)),
      );
    const all = await historyAt(ofParticipant('ann'));
    expect(all.map(({ current }) => current)).toEqual(Array.from({ length: 12 }, (_unused, index) => 17 - index));
    for (const limit of [1, 5, 12]) {
      expect(await allPages(ofParticipant('ann'), limit)).toEqual(all);
      expect(await allPages(`${ofParticipant('ann')}?name=points`, limit)).toEqual(all);
    }
    const { body } = await admin.get(`${ofParticipant('ann')}?limit=5`);
    await mutate(ann, [inc(POINTS)]);
    const next = (await admin.get(`${ofParticipant('ann')}?limit=5&cursor=${body.nextCursor}`)).body.items;
    expect(next).toEqual(all.slice(5, 10));
    const at = all[4].at;
    const before = await historyAt(`${ofParticipant('ann')}?to=${at}`);
    const since = await historyAt(`${ofParticipant('ann')}?from=${at}`);
    expect(before.every((entry) => entry.at < at) && since.every((entry) => entry.at >= at)).toBe(true);
    expect(before.length + since.length).toBe(13);
  });

  it('ends a page of large values before its limit', async () => {
    const ann = campaign.participant({ sub: 'ann' });
    const large = 'x'.repeat(4_000);
    for (let round = 0; round < 2; round += 1) {
      await mutate(
        ann,
        Array.from({ length: 50 }, () => set('state.user.motto', large)),
      );
    }
    const { body } = await admin.get(`${ofParticipant('ann')}?limit=200`);
    expect(body.items.length).toBeLessThan(80);
    expect(await allPages(ofParticipant('ann'), 200)).toHaveLength(100);
  });

  it('goes on where an archived variable is defined again', async () => {
    const ann = campaign.participant({ sub: 'ann' });
    await mutate(ann, [inc(POINTS)]);
    await campaign.archive(POINTS);
    await campaign.define(POINTS, 'number', { default: 100 });
    await mutate(ann, [inc(POINTS)]);
    const entries = await historyAt(ofParticipant('ann'));
    expect(entries.map(({ previous, current }) => [previous, current])).toEqual([
      [6, 7],
      [5, 6],
    ]);
  });

  it('is not written where STATE_HISTORY_DAYS is 0', async () => {
    const ann = new Client(silent.url, campaign.participant({ sub: 'ann' }).key);
    expect((await mutate(ann, [inc(POINTS)])).status).toBe(200);
    expect(await historyAt(ofParticipant('ann'))).toEqual([]);
  });

  it.each(['cursor=x', 'name=1', 'from=yesterday', 'limit=0'])('refuses %s', async (query) => {
    expectProblem(await admin.get(`${ofParticipant('ann')}?${query}`), 422, 'validation_failed');
  });
});

describe('the history of a value that participants share', () => {
  it('says which participant or backend changed it', async () => {
    await mutate(campaign.participant({ sub: 'ann' }), [inc(TOTAL)], { mutation_id: 'm' });
    const path = `/v1/campaigns/${campaign.campaignId}/participants/bob/state:mutate`;
    await admin.post(path, { ops: [inc(TOTAL)], mutation_id: 'n' });
    const [key] = (await admin.get('/v1/api-keys')).body.items;
    expect(await historyAt(ofValue('campaign', 'total'))).toMatchObject([
      { scope: 'campaign', name: 'total', previous: 1, current: 2, cause: { mutationId: 'n', actor: key.id } },
      { scope: 'campaign', name: 'total', previous: null, current: 1, cause: { mutationId: 'm', actor: 'ann' } },
    ]);
  });

  it('is that of an app, by default of the app default', async () => {
    await mutate(campaign.participant({ sub: 'ann' }), [inc('state.app.visits')]);
    await mutate(campaign.participant({ sub: 'ann', app_id: 'shop' }), [inc('state.app.visits', 7)]);
    const currents = async (query: string) =>
      (await historyAt(`${ofValue('app', 'visits')}${query}`)).map(({ current }) => current);
    expect([await currents(''), await currents('?app_id=shop'), await currents('?app_id=none')]).toEqual([
      [1],
      [7],
      [],
    ]);
  });

  it('names the reaction and its event', async () => {
    const reaction = { name: 'count', eventType: 'purchase', ops: [inc(TOTAL, 3), inc(POINTS)] };
    await admin.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, reaction);
    const worker = new EffectsWorker(service.app, service.databaseUrl);
    const event = anEventToProcess(campaign.workspace.tenantId, {}, 'ann');
    await worker.apply([event]);
    await worker.close();
    const cause = {
      kind: 'reaction',
      campaignId: campaign.campaignId,
      reaction: 'count',
      eventId: event.event.eventId,
    };
    expect(await historyAt(ofValue('campaign', 'total'))).toMatchObject([{ previous: null, current: 3, cause }]);
    expect(await historyAt(ofParticipant('ann'))).toMatchObject([{ previous: 5, current: 6, cause }]);
  });

  it('is empty for an unknown value, and refused for a scope that has none', async () => {
    expect(await historyAt(ofValue('campaign', 'nothing'))).toEqual([]);
    expect(await historyAt(`/v1/campaigns/none-${randomUUID()}/variables/app/total/history`)).toEqual([]);
    expectProblem(await admin.get(ofValue('user', 'points')), 422, 'validation_failed');
  });
});

it('of a counter that 200 participants change at once is one chain in the order of the changes', async () => {
  const people = Array.from({ length: 20 }, (_unused, number) => campaign.participant({ sub: `p-${number}` }));
  await Promise.all(Array.from({ length: 200 }, (_unused, number) => mutate(people[number % 20]!, [inc(TOTAL)])));
  const entries = (await allPages(ofValue('campaign', 'total'), 200)).toReversed();
  expect(entries.map(({ previous, current }) => [previous ?? 0, current])).toEqual(
    Array.from({ length: 200 }, (_unused, number) => [number, number + 1]),
  );
});

it('keeps its order when the clock of the database is set back between two changes', async () => {
  const ann = campaign.participant({ sub: 'ann' });
  await mutate(ann, [inc(POINTS), inc(TOTAL)]);
  // As if the first change had been made an hour ahead.
  const anHourAhead = new Date(Date.now() + 3_600_000);
  for (const [table, column] of [
    ['participant_states', 'updated_at'],
    ['shared_values', 'updated_at'],
    ['value_changes', 'at'],
  ]) {
    await rowsOf(service.databaseUrl, `UPDATE ${table} SET ${column} = $2 WHERE tenant_id = $1`, [
      campaign.workspace.tenantId,
      anHourAhead,
    ]);
  }
  await mutate(ann, [inc(POINTS), inc(TOTAL)]);
  for (const path of [ofParticipant('ann'), ofValue('campaign', 'total')]) {
    const [newest, oldest] = await historyAt(path);
    expect(newest.previous).toBe(oldest.current);
  }
});

it('gives a change the time of the clock beside a value that was changed ahead of it', async () => {
  const ann = campaign.participant({ sub: 'ann' });
  await mutate(ann, [inc(POINTS), inc(TOTAL)]);
  await rowsOf(service.databaseUrl, `UPDATE participant_states SET updated_at = $2 WHERE tenant_id = $1`, [
    campaign.workspace.tenantId,
    new Date(Date.now() + 3_600_000),
  ]);
  await mutate(ann, [inc(POINTS), inc(TOTAL)]);
  const secondsAhead = async (path: string): Promise<number> => {
    const [newest] = await historyAt(path);
    return (Date.parse(newest.at) - Date.now()) / 1_000;
  };
  expect(await secondsAhead(ofParticipant('ann'))).toBeGreaterThan(3_000);
  expect(await secondsAhead(ofValue('campaign', 'total'))).toBeLessThan(1_000);
});

it('is seen to be broken wherever one entry is missing', async () => {
  const { tenantId } = campaign.workspace;
  const people = ['ann', 'bob', 'carl'].map((sub) => campaign.participant({ sub }));
  for (const person of people) for (const _change of [1, 2, 3]) await mutate(person, [inc(POINTS)]);
  expect(await brokenHistories(service.databaseUrl, tenantId)).toEqual([]);
  for (const [subject, current] of [
    ['ann', 6],
    ['bob', 7],
    ['carl', 8],
  ]) {
    const removed = await rowsOf(
      service.databaseUrl,
      `DELETE FROM value_changes WHERE tenant_id = $1 AND subject = $2 AND current::text = $3 RETURNING op`,
      [tenantId, subject, String(current)],
    );
    expect(removed).toHaveLength(1);
  }
  const broken = await brokenHistories(service.databaseUrl, tenantId);
  expect(broken.map((each) => each.replace(/, "user".*/, '')).sort()).toEqual([
    'a break in the history: ["bob"',
    'a history without its beginning: ["ann"',
    'a value without its change in the history: ["carl"',
  ]);
});
