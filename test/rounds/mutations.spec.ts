import type { Client as Database } from 'pg';
import { startApp, type TestApp } from '../support/app';
import { Client } from '../support/client';
import { databaseOf, freshDatabaseUrl, untilBlocked, withClient } from '../support/database';
import {
  aCampaign,
  inc,
  meetAt,
  mutate,
  mutateInTheEnd,
  set,
  stateOf,
  summary,
  type Campaign,
} from '../support/runtime';
import { until } from '../support/until';

const TOTAL = 'state.campaign.total';

let url: string;
let nodes: TestApp[];
let campaign: Campaign;

beforeAll(async () => {
  url = await freshDatabaseUrl('mutations');
  // Sooner than a statement gives up waiting, so that a deadlock is seen as one.
  await withClient(url, (client) => client.query(`ALTER DATABASE ${databaseOf(url)} SET deadlock_timeout = '50ms'`));
  nodes = await Promise.all([startApp({}, url), startApp({}, url)]);
});
beforeEach(async () => {
  campaign = await aCampaign(nodes[0]!);
  await campaign.define(TOTAL, 'number');
});
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()));
  // A session has told what it counted when it has ended.
  expect(await deadlocks()).toBe(0);
});

/** Those that there have been in the database. */
const deadlocks = (): Promise<number> =>
  withClient(url, async (client) => {
    const sql = 'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()';
    return (await client.query<{ deadlocks: number }>(sql)).rows[0]!.deadlocks;
  });

/** The same participant at one of the nodes. */
const at = (node: number, { key }: Client): Client => new Client(nodes[node % 2]!.url, key);

const range = (count: number): number[] => Array.from({ length: count }, (_unused, number) => number);

it('gives 400 participants who add to one counter at once 400 different totals, each one more than another', async () => {
  const answers = await Promise.all(
    range(400).map((node) => mutateInTheEnd(at(node, campaign.participant()), [inc(TOTAL)])),
  );
  const entries = answers.map(({ body }) => body.mutations[0] as { previous: number | null; current: number });
  const totals = entries.map(({ current }) => current).sort((a, b) => a - b);
  expect(totals).toEqual(range(400).map((number) => number + 1));
  for (const { previous, current } of entries) expect(previous ?? 0).toBe(current - 1);
  expect((await stateOf(campaign.participant())).campaign.total).toBe(400);
});

it('never deadlocks and refuses nobody when two nodes change the same values in opposite orders', async () => {
  const paths = ['app', 'campaign'].flatMap((scope) => ['a', 'b', 'c'].map((name) => `state.${scope}.${name}`));
  for (const path of [...paths, 'state.user.a']) await campaign.define(path, 'number');
  const people = ['ann', 'bob', 'cid'].map((sub) => campaign.participant({ sub }));
  const ops = paths.map((path) => inc(path));
  const [ann, , cid] = people;
  const { tenantId } = campaign.workspace;
  // Both nodes know that the rows are there: one that does not know waits for a row's last writer anyway.
  for (const node of [0, 1]) await Promise.all(people.map((each) => mutate(at(node, each), ops)));
  const values = await meetAt(
    url,
    "shared_values WHERE tenant_id = $1 AND scope = 'campaign' AND name = 'a'",
    tenantId,
    [() => [mutate(at(0, ann!), ops)], () => [mutate(at(1, cid!), ops.toReversed())]],
  );
  const own = [inc('state.user.a')];
  const participants = await meetAt(url, "participant_states WHERE tenant_id = $1 AND subject = 'bob'", tenantId, [
    () => people.map((each) => mutate(at(0, each), own)),
    () => people.toReversed().map((each) => mutate(at(1, each), own)),
  ]);
  expect(new Set([...values, ...participants].map(summary))).toEqual(new Set(['200 applied']));
  expect(await stateOf(ann!)).toMatchObject({ user: { a: 2 }, campaign: { a: 8, b: 8, c: 8 }, app: { a: 8 } });
});

it('applies one of fifty simultaneous copies on two nodes, and answers the others with its entries', async () => {
  await campaign.define('state.user.points', 'number');
  const ann = campaign.participant({ sub: 'ann' });
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all(
      range(50).map((number) => mutateInTheEnd(at(number, ann), [inc('state.user.points')], `m-${round}`)),
    );
    expect(answers.map(summary).sort()).toEqual(['200 applied', ...range(49).map(() => '200 duplicate')]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body.mutations))).size).toBe(1);
  }
  expect((await stateOf(ann)).user.points).toBe(5);
});

it('lets requests that fail fail alone, however many there are beside the others', async () => {
  const bad = [
    [inc(TOTAL), inc('state.campaign.nothing')],
    [inc(TOTAL), set('state.sessionId', 'x')],
    [inc(TOTAL), set(TOTAL, 'x')],
    [inc(TOTAL), inc(TOTAL, 2 ** 53)],
  ];
  const answers = await Promise.all(
    range(200).map((number) =>
      mutate(campaign.participant(), number % 2 === 0 ? [inc(TOTAL)] : bad[(number % 8) >> 1]),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.map((status, number) => (number % 2 === 0) === (status === 200))).toEqual(range(200).map(() => true));
  const totals = answers.flatMap(({ status, body }) => (status === 200 ? [body.mutations[0].current as number] : []));
  expect(totals.sort((a, b) => a - b)).toEqual(range(100).map((number) => number + 1));
});

it('costs only one participant the answer when somebody else holds that participant in an open transaction', async () => {
  const people = range(20).map((number) => campaign.participant({ sub: `p-${number}` }));
  await Promise.all(people.map((each) => mutate(each, [inc(TOTAL)])));
  await withClient(url, async (holder: Database) => {
    await holder.query('BEGIN');
    await holder.query("SELECT 1 FROM participant_states WHERE tenant_id = $1 AND subject = 'p-7' FOR UPDATE", [
      campaign.workspace.tenantId,
    ]);
    const answers = await Promise.all(people.map((each) => mutate(each, [inc(TOTAL)])));
    const refused = answers.map(summary).map((answer, number) => (answer === '200 applied' ? [] : [number, answer]));
    expect(refused.flat()).toEqual([7, '503 unavailable']);
    expect(answers[7]?.headers.get('retry-after')).toBe('1');
    await holder.query('ROLLBACK');
  });
  expect(summary(await mutate(people[7]!, [inc(TOTAL)]))).toBe('200 applied');
  expect((await stateOf(people[0]!)).campaign.total).toBe(40);
});

it('applies one of four copies that wait for somebody else’s lock until their batch is cut up', async () => {
  const [ann, bob] = ['ann', 'bob'].map((sub) => campaign.participant({ sub }));
  await mutate(ann!, [inc(TOTAL)]);
  const copies = await withClient(url, async (holder) => {
    await holder.query('BEGIN');
    await holder.query('SELECT 1 FROM shared_values WHERE tenant_id = $1 FOR UPDATE', [campaign.workspace.tenantId]);
    const first = mutate(bob!, [inc(TOTAL)]);
    await untilBlocked(url, 'cds-mutations', 1);
    // They are the next batch, which waits for a while as the first one does; then its first half does.
    const sent = range(4).map(() => mutate(ann!, [inc(TOTAL)], { mutation_id: 'm' }));
    expect(summary(await first)).toBe('503 unavailable');
    await untilBlockedInTurn(2);
    await holder.query('COMMIT');
    return Promise.all(sent);
  });
  expect(copies.map(summary).sort()).toEqual(['200 applied', ...range(3).map(() => '200 duplicate')]);
  expect((await stateOf(ann!)).campaign.total).toBe(2);
});

it('keeps a counter that everybody adds to small', async () => {
  const sizes = () =>
    withClient(url, async (client) => {
      const size =
        "pg_total_relation_size('shared_values')::int AS shared, pg_total_relation_size('participant_states')::int";
      return (await client.query(`SELECT ${size} AS participants`)).rows[0] as Record<string, number>;
    });
  const before = await sizes();
  const people = range(50).map(() => campaign.participant());
  await Promise.all(
    people.map(async (each) => {
      for (const _time of range(40)) await mutateInTheEnd(each, [inc(TOTAL)]);
    }),
  );
  expect((await stateOf(people[0]!)).campaign.total).toBe(2_000);
  const after = await sizes();
  expect(after['shared']! - before['shared']!).toBeLessThan(100_000);
  expect(after['participants']! - before['participants']!).toBeLessThan(100_000);
});

/** Once so many transactions of mutations have waited for a lock, one after the other. */
async function untilBlockedInTurn(transactions: number): Promise<void> {
  const seen = new Set<string>();
  await withClient(url, (client) =>
    until(async () => {
      const blocked = await client.query<{ began: string }>(
        `SELECT xact_start::text AS began FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'cds-mutations' AND wait_event_type = 'Lock'`,
      );
      for (const { began } of blocked.rows) seen.add(began);
      return seen.size >= transactions;
    }),
  );
}
