import { Client, expectProblem, type Answer } from '../support/client';
import { freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { aCampaign, mutate, set, stateOf, summary, type Campaign } from '../support/runtime';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { until } from '../support/until';

const COINS = 'state.user.coins';

let url: string;
let nodes: ServiceProcess[];
let campaign: Campaign;

beforeAll(async () => {
  url = await freshDatabaseUrl('narrowed_limits');
  const environment = { DATABASE_URL: url, SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters' };
  nodes = await Promise.all([startServiceProcess(environment), startServiceProcess(environment)]);
});
beforeEach(async () => {
  campaign = await aCampaign({ url: nodes[1]!.url, databaseUrl: url });
  await campaign.define(COINS, 'number', { max: 100 });
  expect(summary(await mutate(campaign.participant({ sub: 'ann' }), [set(COINS, 1)]))).toBe('200 applied');
});
afterAll(() => Promise.all(nodes.map((node) => node.stop())));

const pathTo = (rest: string): string => `/v1/campaigns/${campaign.campaignId}/${rest}`;
const admin = (node: number): Client => new Client(nodes[node]!.url, campaign.workspace.admin.key);
const define = (node: number): Promise<Answer> =>
  admin(node).post(pathTo('variables:define'), { scope: 'user', name: 'coins', type: 'number', max: 10 });
const maximum = async (): Promise<number> => (await admin(1).get(pathTo('variables'))).body.variables[0].max;

/** What happens while a mutation is under way that has read the limits before, and stores `value` in the end. */
async function besideMutation<T>(value: number, work: () => Promise<T>): Promise<T> {
  return withClient(url, async (mutation) => {
    await mutation.query('BEGIN');
    await mutation.query(
      `UPDATE participant_states SET values = jsonb_build_object('coins', $2::int)
       WHERE tenant_id = $1 AND subject = 'ann'`,
      [campaign.workspace.tenantId, value],
    );
    const result = await work();
    await mutation.query('COMMIT');
    return result;
  });
}

/** The definition is in force, and its process is killed before it has counted for the second time. */
async function defineAndKill(): Promise<void> {
  const lost = define(0).catch(() => 'lost');
  await until(async () => (await maximum()) === 10);
  await nodes[0]!.kill();
  expect(await lost).toBe('lost');
}

async function restart(): Promise<void> {
  const environment = { DATABASE_URL: url, SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters' };
  nodes[0] = await startServiceProcess(environment);
}

/** Of a definition that is not confirmed yet. */
const marks = (): Promise<{ mark: string }[]> =>
  rowsOf(url, "SELECT replaced ->> 'mark' AS mark FROM variables WHERE tenant_id = $1 AND replaced IS NOT NULL", [
    campaign.workspace.tenantId,
  ]);

describe('narrower limits whose process is killed before they are confirmed', () => {
  afterEach(restart);

  it('are taken back if a value came between; until then nobody is told that they hold', async () => {
    await besideMutation(50, defineAndKill);
    expect((await stateOf(campaign.participant({ sub: 'ann' }))).user.coins).toBe(50);
    expectProblem(await define(1), 409, 'limit_reached');
    await until(async () => (await maximum()) === 100);
    expect(await marks()).toEqual([]);
    expect(summary(await mutate(campaign.participant({ sub: 'ann' }), [set(COINS, 60)]))).toBe('200 applied');
  });

  it('stay if none came, and hold from the first moment', async () => {
    await besideMutation(7, defineAndKill);
    expect(summary(await mutate(campaign.participant({ sub: 'bob' }), [set(COINS, 11)]))).toBe('409 limit_reached');
    await until(async () => (await marks()).length === 0);
    expect(await maximum()).toBe(10);
  });
});

it('the same narrower limits on two nodes at once are refused by both if a value comes between', async () => {
  const answers = await besideMutation(50, async () => {
    const first = define(0);
    await until(async () => (await maximum()) === 10);
    const before = await marks();
    const second = define(1);
    const [{ mark } = { mark: '' }] = before;
    // It is stored again, by the other node, and both wait for the mutation.
    await until(async () => (await marks())[0]?.mark !== mark);
    return [first, second];
  }).then((both) => Promise.all(both));
  expect(answers.map(summary)).toEqual(['409 limit_reached', '409 limit_reached']);
  expect([await maximum(), await marks()]).toEqual([100, []]);
});
