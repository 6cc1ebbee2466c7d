import { shuffled } from '../support/builders';
import { Client } from '../support/client';
import { databaseOf, freshDatabaseUrl, withClient } from '../support/database';
import { brokenHistories } from '../support/histories';
import { aCampaign, inc, meetAt, mutate, mutateInTheEnd, stateOf, summary, type Campaign } from '../support/runtime';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { until } from '../support/until';

const TOTAL = 'state.campaign.total';

let url: string;
let nodes: ServiceProcess[];
let campaign: Campaign;

beforeAll(async () => {
  url = await freshDatabaseUrl('mutating_nodes', 'template1');
  // Sooner than a statement gives up waiting, so that a deadlock is seen as one.
  await withClient(url, (client) => client.query(`ALTER DATABASE ${databaseOf(url)} SET deadlock_timeout = '50ms'`));
  const environment = { DATABASE_URL: url, SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters' };
  // At once, on an empty database: both make the partitions that outcomes go to.
  nodes = await Promise.all([startServiceProcess(environment), startServiceProcess(environment)]);
  campaign = await aCampaign({ url: nodes[0]!.url, databaseUrl: url });
  await campaign.define(TOTAL, 'number');
});

afterAll(async () => {
  // The other one has been killed by then.
  expect(await nodes[0]!.stop()).toBe(0);
  await nodes[1]!.stop();
  // A session has told what it counted when it has ended.
  const deadlocks = await withClient(url, (client) =>
    client.query('SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()'),
  );
  expect(deadlocks.rows).toEqual([{ deadlocks: 0 }]);
});

/** Whatever came before: parallel writers, deadlocks avoided, repetitions, a kill. */
afterEach(async () => expect(await brokenHistories(url, campaign.workspace.tenantId)).toEqual([]));

/** Defines a number, and waits until both nodes know it, which takes a second at most. */
async function define(paths: readonly string[]): Promise<void> {
  for (const path of paths) await campaign.define(path, 'number');
  const [, scope = '', name = ''] = paths.at(-1)?.split('.') ?? [];
  const other = at(1, campaign.participant());
  await until(async () => name in (await stateOf(other))[scope]);
}

const range = (count: number): number[] => Array.from({ length: count }, (_unused, number) => number);
/** The same participant at one of the nodes. */
const at = (node: number, { key }: Client): Client => new Client(nodes[node % 2]!.url, key);

describe('two service processes on one database', () => {
  it('give 400 participants who add to one counter at once 400 different totals, each one more than another', async () => {
    const answers = await Promise.all(
      range(400).map((number) => mutateInTheEnd(at(number, campaign.participant()), [inc(TOTAL)])),
    );
    const totals = answers.map(({ body }) => body.mutations[0].current as number).sort((a, b) => a - b);
    expect(totals).toEqual(range(400).map((number) => number + 1));
  });

  it('apply one of fifty simultaneous copies of a mutation and answer the others with its entries', async () => {
    const ann = campaign.participant({ sub: 'ann' });
    const before = (await stateOf(ann)).campaign.total as number;
    for (const round of range(5)) {
      const answers = await Promise.all(
        range(50).map((number) => mutateInTheEnd(at(number, ann), [inc(TOTAL)], `m-${round}`)),
      );
      expect(answers.map(summary).sort()).toEqual(['200 applied', ...range(49).map(() => '200 duplicate')]);
      expect(new Set(answers.map(({ body }) => JSON.stringify(body.mutations))).size).toBe(1);
    }
    expect((await stateOf(ann)).campaign.total).toBe(before + 5);
  });

  it('refuse nobody and never deadlock when they change values of every scope in opposite orders', async () => {
    const paths = range(20).flatMap((number) => [
      `state.app.n${number}`,
      `state.campaign.n${number}`,
      `state.user.n${number}`,
    ]);
    await define(paths);
    const ops = paths.map((path) => inc(path));
    const people = range(6).map((number) => campaign.participant({ sub: `p-${number}` }));
    // Both nodes know that the rows are there: one that does not know waits for a row's last writer anyway.
    for (const [number, person] of people.entries())
      expect(summary(await mutate(at(number, person), ops))).toBe('200 applied');
    const { tenantId } = campaign.workspace;
    const met = await meetAt(
      url,
      "shared_values WHERE tenant_id = $1 AND scope = 'campaign' AND name = 'n0'",
      tenantId,
      [() => [mutate(at(0, people[0]!), ops)], () => [mutate(at(1, people[1]!), ops.toReversed())]],
    );
    expect(met.map(summary)).toEqual(['200 applied', '200 applied']);
    const statuses = await Promise.all(
      range(16).map(async (sender) => {
        const answers: string[] = [];
        for (const round of range(25)) {
          const inOrder = sender % 2 === 0 ? ops : ops.toReversed();
          const sent = round % 5 === 0 ? shuffled(ops) : inOrder;
          answers.push(summary(await mutateInTheEnd(at(sender, people[(sender + 5 * round) % 6]!), sent)));
        }
        return answers;
      }),
    );
    expect(new Set(statuses.flat())).toEqual(new Set(['200 applied']));
    const states = await Promise.all(people.map((each) => stateOf(each)));
    expect(states[0].app).toEqual(Object.fromEntries(range(20).map((number) => [`n${number}`, 408])));
    expect(states[0].campaign).toMatchObject(states[0].app);
    expect(states.reduce((sum: number, { user }) => sum + Number(user.n0), 0)).toBe(408);
  });

  it('lose nothing that was answered when one of them is killed, and apply nothing twice that is sent again', async () => {
    await define(['state.app.survived']);
    const people = range(16).map((number) => campaign.participant({ sub: `k-${number}` }));
    const send = async (node: number, person: number, round: number): Promise<string> =>
      mutate(at(node, people[person]!), [inc('state.app.survived')], { mutation_id: `k-${round}` }).then(
        summary,
        () => 'lost',
      );
    const [, killed] = nodes;
    const answers = await Promise.all(
      people.map(async (_each, person) => {
        const heard: string[] = [];
        for (const round of range(12)) {
          // In the middle of what the others have under way.
          if (person === 0 && round === 5) await killed?.kill();
          heard.push(await send(person, person, round));
        }
        return heard;
      }),
    );
    expect(answers.flat().filter((answer) => answer === 'lost').length).toBeGreaterThan(0);
    const again = await Promise.all(
      people.map((_each, person) => Promise.all(range(12).map((round) => send(0, person, round)))),
    );
    for (const [person, heard] of answers.entries()) {
      for (const [round, answer] of heard.entries()) {
        if (answer === '200 applied') expect(again[person]?.[round]).toBe('200 duplicate');
        else expect(again[person]?.[round]).toMatch(/^200/);
      }
    }
    expect((await stateOf(people[0]!)).app.survived).toBe(16 * 12);
  });
});
