import { LimitsCheck } from '../../src/variables/limits-check';
import { startApp, type TestApp } from '../support/app';
import { answered, Client, expectProblem, type Answer } from '../support/client';
import { rowsOf, untilBlocked, urlOf, whileLocked, withClient } from '../support/database';
import { anEventToProcess, EffectsWorker, summaryOf } from '../support/reactions';
import { aCampaign, campaignOf, dec, inc, mutate, set, stateOf, summary, type Campaign } from '../support/runtime';
import { until } from '../support/until';

const COINS = 'state.user.coins';
const STOCK = 'state.campaign.stock';

let nodes: readonly TestApp[];
let campaign: Campaign;
let admin: Client;

beforeAll(async () => {
  nodes = await Promise.all([startApp(), startApp()]);
});
beforeEach(async () => {
  campaign = await aCampaign(nodes[0]!);
  ({ admin } = campaign.workspace);
});
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

const on = (node: number, { key }: Client): Client => new Client(nodes[node]!.url, key);
const pathTo = (rest: string): string => `/v1/campaigns/${campaign.campaignId}/${rest}`;
const define = (fields: object, by = admin): Promise<Answer> =>
  by.post(pathTo('variables:define'), { scope: 'user', name: 'coins', type: 'number', ...fields });
const listed = async (): Promise<any[]> => (await admin.get(pathTo('variables'))).body.variables;
const problem = ({ body }: Answer) => [body.path, body.details.map(({ path, code }: any) => `${path} ${code}`)];

describe('the limits and the period of a definition', () => {
  it('are shown, and removed by a definition without them', async () => {
    const rules = { default: 1, min: -1.5, max: 10, period: { every: 'week', timezone: 'Europe/Berlin' } };
    expect((await define(rules)).body.variable).toEqual({ scope: 'user', name: 'coins', type: 'number', ...rules });
    expect(await listed()).toEqual([{ scope: 'user', name: 'coins', type: 'number', ...rules }]);
    await define({ max: null });
    expect(await listed()).toEqual([{ scope: 'user', name: 'coins', type: 'number' }]);
  });

  it.each<[string, object, string[]]>([
    ['min over max', { min: 2, max: 1 }, ['min range']],
    ['a default below min', { min: 2, default: 1 }, ['default range']],
    ['a default above max', { max: 0, default: 1 }, ['default range']],
    ['limits of a text', { type: 'string', min: 0, max: 1 }, ['min type', 'max type']],
    ['a limit that no number can reach', { max: 2 ** 60 }, ['max range']],
    ['a limit that is a text', { min: '1' }, ['min type']],
    ['an unknown time zone', { period: { every: 'day', timezone: 'Mars/Olympus' } }, ['period.timezone format']],
    ['an unknown unit', { period: { every: 'year', timezone: 'UTC' } }, ['period.every enum']],
    ['a period without a time zone', { period: { every: 'day' } }, ['period.timezone required']],
    [
      'a field that a period does not have',
      { period: { every: 'day', timezone: 'UTC', from: 1 } },
      ['period.from unknown_field'],
    ],
  ])('are refused: %s', async (_what, fields, faults) => {
    const answer = await define(fields);
    expectProblem(answer, 422, 'validation_failed');
    expect(problem(answer)[1]).toEqual(faults);
  });

  it('must be the same in all campaigns that share a variable of an app', async () => {
    const other = campaignOf(campaign.workspace, campaign.issuer);
    await other.define('state.app.visits', 'number', { max: 10 });
    const visits = { scope: 'app', name: 'visits' };
    expect((await define({ ...visits, max: 10, default: 3 })).status).toBe(200);
    expectProblem(await define({ ...visits, max: 11 }), 409, 'variable_rules_conflict');
    await other.archive('state.app.visits');
    expect((await define({ ...visits, max: 11 })).status).toBe(200);
  });
});

describe('a mutation that would leave the limits', () => {
  beforeEach(async () => {
    await define({ default: 5, min: 0, max: 10 });
    await campaign.define(STOCK, 'number', { max: 100 });
  });

  it('fails as a whole, with the path and every offending operation', async () => {
    const ann = campaign.participant();
    const answer = await mutate(ann, [inc(COINS, 5), inc(COINS), set(STOCK, 101), inc(STOCK), set(COINS, -1)]);
    expect(summary(answer)).toBe('409 limit_reached');
    expect(problem(answer)).toEqual([COINS, ['ops[1] limit_reached', 'ops[2] limit_reached', 'ops[4] limit_reached']]);
    expect(await stateOf(ann)).toMatchObject({ user: { coins: 5 }, campaign: { stock: null } });
  });

  it('leaves its id to be used again', async () => {
    const ann = campaign.participant();
    const send = () => mutate(ann, [dec(COINS, 5)], { mutation_id: 'm' });
    await mutate(ann, [dec(COINS)]);
    expect(summary(await send())).toBe('409 limit_reached');
    await mutate(ann, [inc(COINS)]);
    expect([summary(await send()), summary(await send())]).toEqual(['200 applied', '200 duplicate']);
  });

  it('may reach a limit, also in steps, but not pass it on the way', async () => {
    const ann = campaign.participant();
    expect(summary(await mutate(ann, [inc(COINS, 5), dec(COINS, 10)]))).toBe('200 applied');
    expect(summary(await mutate(ann, [dec(COINS), inc(COINS)]))).toBe('409 limit_reached');
    expect(summary(await mutate(ann, [inc(COINS, 2 ** 53)]))).toBe('409 limit_reached');
  });

  it('has no onLimit of its own', async () => {
    const answer = await mutate(campaign.participant(), [{ ...inc(COINS, 9), onLimit: 'clamp' }]);
    expect(problem(answer)[1]).toEqual(['ops[0].onLimit unknown_field']);
  });

  it('is one of 64 on two nodes that are not granted, of a stock of 20', async () => {
    const ann = campaign.participant();
    await campaign.define('state.campaign.vouchers', 'number', { default: 0, max: 20 });
    await until(async () => 'vouchers' in (await stateOf(on(1, ann))).campaign);
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_unused, number) =>
        mutate(on(number % 2, campaign.participant()), [inc('state.campaign.vouchers')]),
      ),
    );
    const granted = answers.filter(({ status }) => status === 200).map(({ body }) => body.mutations[0].current);
    expect(granted.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_unused, number) => number + 1));
    expect(new Set(answers.map(summary))).toEqual(new Set(['200 applied', '409 limit_reached']));
  });
});

describe('a reaction that would leave the limits', () => {
  async function reactTo(ops: readonly object[]): Promise<string[]> {
    await define({ default: 5, min: 0, max: 10 });
    await campaign.define(STOCK, 'number');
    const path = pathTo('reactions:define');
    const answer = await admin.post(path, { name: 'reward', eventType: 'purchase', ops });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    const worker = new EffectsWorker(nodes[0]!.app, nodes[0]!.databaseUrl);
    const [result] = await worker.apply([anEventToProcess(campaign.workspace.tenantId)]);
    await worker.close();
    return summaryOf(result);
  }
  const stateOfAnn = async () => (await admin.get(pathTo('participants/ann/state'))).body.state;

  it('is skipped as a whole', async () => {
    expect(await reactTo([inc(STOCK), inc(COINS, 6)])).toEqual(['reward skipped limit_reached']);
    expect(await stateOfAnn()).toMatchObject({ user: { coins: 5 }, campaign: { stock: null } });
  });

  it.each([
    [inc(COINS, 6), 10],
    [dec(COINS, 2 ** 53), 0],
    [set(COINS, 11), 10],
  ])('moves the value to the limit if its operation says so, and tells what it changed: %j', async (op, current) => {
    expect(await reactTo([inc(STOCK), { ...op, onLimit: 'clamp' }])).toEqual(['reward applied clamped']);
    expect(await stateOfAnn()).toMatchObject({ user: { coins: current }, campaign: { stock: 1 } });
    const { items } = (await admin.get(pathTo('participants/ann/history'))).body;
    expect(items).toMatchObject([{ previous: 5, current, cause: { kind: 'reaction', reaction: 'reward' } }]);
  });

  it('shows onLimit in its definition, and no other than clamp', async () => {
    await reactTo([{ ...inc(COINS, 1), onLimit: 'clamp' }]);
    const { ops } = (await admin.get(pathTo('reactions'))).body.items[0];
    expect(ops).toEqual([{ ...inc(COINS, 1), onLimit: 'clamp' }]);
    const other = { name: 'x', eventType: 'purchase', ops: [{ ...inc(COINS, 1), onLimit: 'stop' }] };
    expect(problem(await admin.post(pathTo('reactions:define'), other))[1]).toEqual(['ops[0].onLimit enum']);
  });
});

describe('limits that leave stored values outside', () => {
  it('are refused with their number, and what was declared stays', async () => {
    await define({ default: 0 });
    for (const [number, value] of [-7, -3, 0, 4, 8, 9].entries()) {
      await mutate(campaign.participant({ sub: `p-${number}` }), [set(COINS, value)]);
    }
    const answer = await define({ default: 0, min: -4, max: 7 });
    expectProblem(answer, 409, 'limit_reached');
    expect(problem(answer)[1]).toEqual(['min limit_reached', 'max limit_reached']);
    expect(answer.body.details.map(({ message }: any) => message)).toEqual([
      expect.stringContaining('Stored values that are less than min: 1'),
      expect.stringContaining('Stored values that are greater than max: 2'),
    ]);
    expect(await listed()).toEqual([{ scope: 'user', name: 'coins', type: 'number', default: 0 }]);
    expect((await define({ default: 0, min: -7, max: 9 })).status).toBe(200);
    expect((await define({ default: 0, min: -100 })).status).toBe(200);
  });

  it.each(['campaign', 'app'])('are refused for a value of scope %s', async (scope) => {
    const fields = { scope, name: 'stock' };
    await define(fields);
    await mutate(campaign.participant(), [set(`state.${scope}.stock`, 11)]);
    expectProblem(await define({ ...fields, max: 10 }), 409, 'limit_reached');
    expect((await define({ ...fields, max: 11 })).status).toBe(200);
  });

  it('count values of the current period only', async () => {
    const period = { every: 'day', timezone: 'UTC' };
    await define({ period });
    await mutate(campaign.participant({ sub: 'ann' }), [set(COINS, 50)]);
    await rowsOf(nodes[0]!.databaseUrl, `UPDATE participant_states SET periods = '{"coins": 0}' WHERE tenant_id = $1`, [
      campaign.workspace.tenantId,
    ]);
    expect((await define({ period, max: 10 })).status).toBe(200);
    // Without periods the last value counts again.
    expectProblem(await define({ max: 10 }), 409, 'limit_reached');
  });

  it('are counted after the mutation that began last of all', async () => {
    const { app, databaseUrl } = nodes[0]!;
    const { tenantId } = campaign.workspace;
    await define({});
    const order: string[] = [];
    await withClient(databaseUrl, async (last) => {
      await last.query('BEGIN');
      await last.query('UPDATE campaigns SET version = version WHERE tenant_id = $1', [tenantId]);
      const counting = app
        .get(LimitsCheck)
        .untilMutationsEnded(tenantId)
        .then(() => order.push('counted'));
      for (let looks = 0; looks < 20; looks += 1) await listed();
      order.push('stored');
      await last.query('COMMIT');
      await counting;
    });
    expect(order).toEqual(['stored', 'counted']);
  });

  it('do not wait for transactions of other databases on the server', async () => {
    await define({});
    await withClient(urlOf('postgres'), async (other) => {
      await other.query('BEGIN');
      await other.query('SELECT pg_current_xact_id()');
      expect((await define({ max: 10 })).status).toBe(200);
      await other.query('ROLLBACK');
    });
  });

  it('never stand beside a value that a mutation stores at the same time, whichever comes first', async () => {
    const outcomes: string[] = [];
    for (let round = 0; round < 4; round += 1) {
      const name = `coins${round}`;
      await define({ name });
      const bob = on(1, campaign.participant({ sub: 'bob' }));
      await until(async () => name in (await stateOf(bob)).user);
      // Mutations have read the declarations when they come to this table, and wait before they commit.
      const answers = await whileLocked(nodes[0]!.databaseUrl, 'value_changes', 'SHARE', async (release) => {
        // On a slow machine it gives up before the lock is released, and has stored nothing.
        const sent = answered(() => mutate(bob, [set(`state.user.${name}`, 50)]));
        if (round % 2 === 0) await untilBlocked(nodes[0]!.databaseUrl, 'cds-mutations', 1);
        const defined = define({ name, max: 10 });
        await until(async () => (await declared(name)).max === 10);
        await release();
        return Promise.all([sent, defined]);
      });
      outcomes.push(answers.map(summary).join(', '));
      const { max } = await declared(name);
      const value = (await stateOf(bob)).user[name];
      expect([max, value]).toEqual(answers[1].status === 200 ? [10, null] : [undefined, 50]);
    }
    for (const outcome of outcomes) {
      expect(['200 applied, 409 limit_reached', '409 limit_reached, 200 defined']).toContain(outcome);
    }
  });

  const declared = async (named: string): Promise<any> => (await listed()).find(({ name }) => name === named);
});
