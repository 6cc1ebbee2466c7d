import { DataSource } from 'typeorm';
import { Clock } from '../../src/platform/values/clock';
import { readSettings } from '../../src/platform/config/env';
import { databaseOptions } from '../../src/platform/postgres/database-options';
import { partitionName, weekOf, weeksToHave, type Week } from '../../src/runtime/domain/partition-weeks';
import { OutcomeClock } from '../../src/runtime/outcome-clock';
import { WeeklyPartitions } from '../../src/runtime/weekly-partitions';
import { startApp, type TestApp } from '../support/app';
import { Client } from '../support/client';
import { freshDatabaseUrl, withClient } from '../support/database';
import { aCampaign, inc, mutate, stateOf, summary, type Campaign } from '../support/runtime';

const DAY_MS = 24 * 60 * 60 * 1000;
const nameOf = (week: Week): string => partitionName('mutation_outcomes', week);
const POINTS = 'state.user.points';

/** Of a machine on which more time passes than here. */
class TestClock extends Clock {
  passedMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.passedMs;
  }
}

/** What one node has for partitions, with a connection of its own. */
interface PartitionsNode {
  readonly partitions: WeeklyPartitions;
  readonly time: OutcomeClock;
}

const clock = new TestClock();
const opened: DataSource[] = [];
const started: OutcomeClock[] = [];
const services: TestApp[] = [];

async function aService(url: string): Promise<TestApp> {
  const service = await startApp({}, url);
  services.push(service);
  return service;
}

async function aNode(url: string, environment: Readonly<Record<string, string>> = {}): Promise<PartitionsNode> {
  const source = await new DataSource(databaseOptions({ url })).initialize();
  const time = new OutcomeClock(source, clock);
  opened.push(source);
  started.push(time);
  await time.start();
  return { partitions: new WeeklyPartitions(source, time, readSettings({ ...environment, DATABASE_URL: url })), time };
}

const partitions = (url: string, table = 'mutation_outcomes'): Promise<string[]> =>
  withClient(url, async (client) => {
    const sql = `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '${table}'::regclass`;
    return (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name).sort();
  });
const keepUp = async (node: PartitionsNode): Promise<void> => {
  await node.partitions.createAhead();
  await node.partitions.dropOld();
};
const wanted = ({ time }: PartitionsNode): string[] => weeksToHave(time.now(), 30).ahead.map(nameOf);

beforeEach(() => {
  clock.passedMs = 0;
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  for (const time of started) time.beforeApplicationShutdown();
  await Promise.all(opened.map((source) => source.destroy()));
});

describe('the partitions of outcomes', () => {
  it('are all there after five nodes have made them at once on an empty table, and nothing is done twice', async () => {
    const url = await freshDatabaseUrl('partitions');
    const nodes = await Promise.all(Array.from({ length: 5 }, () => aNode(url)));
    expect(await partitions(url)).toEqual([]);
    await Promise.all(nodes.map(keepUp));
    expect(await partitions(url)).toEqual(wanted(nodes[0]!));
    const identities = () =>
      withClient(
        url,
        async (client) => (await client.query("SELECT oid FROM pg_class WHERE relname ~ 'outcomes_2'")).rows,
      );
    const before = await identities();
    await Promise.all(nodes.map(keepUp));
    expect(await identities()).toEqual(before);
  });

  it('go when nothing is known in them any more, and come as time goes on, whoever is first', async () => {
    const url = await freshDatabaseUrl('partitions');
    const nodes = await Promise.all(Array.from({ length: 5 }, () => aNode(url)));
    await keepUp(nodes[0]!);
    for (let week = 1; week <= 12; week += 1) {
      clock.passedMs = week * 7 * DAY_MS;
      await Promise.all(nodes.map(keepUp));
      const names = await partitions(url);
      const now = nodes[0]!.time.now().getTime();
      expect(names).toEqual(expect.arrayContaining(wanted(nodes[0]!)));
      const oldest = nameOf(weekOf(new Date(now - 31 * DAY_MS)));
      expect(names.filter((name) => name < oldest)).toEqual([]);
      // Those of the last 31 days, of which the first began a week before, this week and four ahead.
      expect(names.length).toBeLessThanOrEqual(11);
      expect(names).toContain(nameOf(weekOf(new Date(Math.max(now - 30 * DAY_MS, Date.now())))));
    }
  });

  it('are made while somebody reads all of them for hours, which only puts off that old ones go', async () => {
    const url = await freshDatabaseUrl('partitions');
    const node = await aNode(url);
    await withClient(url, (client) => client.query(oldPartition(8)));
    await withClient(url, async (reader) => {
      await reader.query('BEGIN');
      await reader.query('SELECT 1 FROM mutation_outcomes');
      await node.partitions.createAhead();
      await expect(node.partitions.dropOld()).rejects.toThrow(/lock timeout/);
      await (await startApp({}, url)).stop();
      await reader.query('ROLLBACK');
    });
    expect(await partitions(url)).toHaveLength(7);
    await node.partitions.dropOld();
    expect(await partitions(url)).toEqual(wanted(node));
  });
});

it('the partitions of the history go when their last entries are STATE_HISTORY_DAYS old, and no day earlier', async () => {
  const url = await freshDatabaseUrl('partitions');
  const node = await aNode(url, { STATE_HISTORY_DAYS: '10' });
  await keepUp(node);
  const week = weekOf(node.time.now());
  const name = nameOf(week).replace('mutation_outcomes', 'value_changes');
  const lasts = Math.ceil((week.to.getTime() + 10 * DAY_MS - node.time.now().getTime()) / DAY_MS);
  for (let day = 1; day <= lasts + 7; day += 1) {
    clock.passedMs = day * DAY_MS;
    await keepUp(node);
    if (day < lasts) expect(await partitions(url, 'value_changes')).toContain(name);
  }
  expect(await partitions(url, 'value_changes')).not.toContain(name);
  expect(await partitions(url, 'value_changes')).not.toEqual([]);
});

describe('the time by which outcomes age', () => {
  /** What a start finds when the database's clock was set forth (or, below 0, back) while no node was running. */
  const setForth = (url: string, days: number) =>
    withClient(url, (client) =>
      client.query("UPDATE outcome_clock SET seen_at = seen_at - $1 * interval '1 day'", [days]),
    );
  const daysBetween = (from: Date, to: Date): number => (to.getTime() - from.getTime()) / DAY_MS;

  it('passes as that of the node which has watched for longest, and goes on from there', async () => {
    const url = await freshDatabaseUrl('partitions');
    const first = await aNode(url);
    const began = first.time.now();
    clock.passedMs = 20 * DAY_MS;
    await first.time.advance();
    const second = await aNode(url);
    clock.passedMs = 40 * DAY_MS;
    await Promise.all([first, second].map(({ time }) => time.advance()));
    for (const { time } of [first, second, await aNode(url)]) {
      expect(daysBetween(began, time.now())).toBeCloseTo(40, 2);
    }
  });

  it('counts what no node has watched as a day at most, and never falls', async () => {
    const url = await freshDatabaseUrl('partitions');
    const began = (await aNode(url)).time.now();
    for (const [days, passed] of [
      [0.5, 0.5],
      [60, 1.5],
      [-60, 1.5],
      [60, 2.5],
    ] as const) {
      await setForth(url, days);
      expect(daysBetween(began, (await aNode(url)).time.now())).toBeCloseTo(passed, 2);
    }
  });

  it('keeps every outcome, and takes new ones, where the clock jumps 60 days ahead and back again and again', async () => {
    const url = await freshDatabaseUrl('partitions');
    const first = await aService(url);
    const campaign = await aCampaign(first);
    await campaign.define(POINTS, 'number');
    const ann = campaign.participant({ sub: 'ann' });
    const send = async (client: Client, id: string) =>
      summary(await mutate(client, [inc(POINTS)], { mutation_id: id }));
    expect(await send(ann, 'first')).toBe('200 applied');
    // The first one has not heard of the others when they come.
    for (const days of [60, -60, 60, -60]) {
      await setForth(url, days);
      await aNode(url);
    }
    await setForth(url, 60);
    const second = await aService(url);
    const there = new Client(second.url, ann.key);
    expect([await send(there, 'first'), await send(there, 'second')]).toEqual(['200 duplicate', '200 applied']);
    expect([await send(ann, 'second'), await send(ann, 'third')]).toEqual(['200 duplicate', '200 applied']);
    expect(await send(there, 'third')).toBe('200 duplicate');
    expect((await stateOf(there)).user.points).toBe(3);
  });
});

describe('a service', () => {
  let url: string;
  let service: TestApp;
  let campaign: Campaign;

  beforeAll(async () => {
    url = await freshDatabaseUrl('partitions');
    service = await startApp({}, url);
  });
  beforeEach(async () => {
    campaign = await aCampaign(service);
    await campaign.define(POINTS, 'number');
  });
  afterAll(() => service.stop());

  it('goes on with mutations while partitions are made and dropped', async () => {
    const node = await aNode(url);
    const ann = campaign.participant();
    const going = new AbortController();
    const weeks = (async () => {
      for (let week = 5; week <= 15; week += 1) {
        await withClient(url, (client) => client.query(oldPartition(week)));
        await keepUp(node);
      }
      going.abort();
    })();
    let applied = 0;
    for (; !going.signal.aborted; applied += 1) expect(summary(await mutate(ann, [inc(POINTS)]))).toBe('200 applied');
    await weeks;
    expect(applied).toBeGreaterThan(8);
    expect((await stateOf(ann)).user.points).toBe(applied);
    expect(await partitions(url)).toEqual(wanted(node));
  });

  it('knows a mutation_id for MUTATION_RETENTION_DAYS and no longer', async () => {
    const ann = campaign.participant();
    const send = () => mutate(ann, [inc(POINTS)], { mutation_id: 'm' });
    expect(summary(await send())).toBe('200 applied');
    await withClient(url, (client) => client.query(oldPartition(6, 6)));
    const age = (days: number) =>
      withClient(url, (client) =>
        client.query(
          'UPDATE mutation_outcomes SET created_at = now() - make_interval(days => $2) WHERE tenant_id = $1',
          [campaign.workspace.tenantId, days],
        ),
      );
    await age(29);
    expect(summary(await send())).toBe('200 duplicate');
    await age(30);
    expect([summary(await send()), summary(await send())]).toEqual(['200 applied', '200 duplicate']);
    expect((await stateOf(ann)).user.points).toBe(2);
    // The old outcome is still there; it goes with its partition.
    const kept = await withClient(url, (client) =>
      client.query('SELECT created_at FROM mutation_outcomes WHERE tenant_id = $1', [campaign.workspace.tenantId]),
    );
    expect(kept.rows).toHaveLength(2);
  });
});

/** Makes the partition that begins so many weeks before the first one of now, and ends after `weeks`. */
function oldPartition(ago: number, weeks = 1): string {
  const { from } = weekOf(new Date(new Date().getTime() - (ago + 1) * 7 * DAY_MS));
  const to = new Date(from.getTime() + weeks * 7 * DAY_MS);
  return `CREATE TABLE ${nameOf({ from, to })} PARTITION OF mutation_outcomes
    FOR VALUES FROM ('${from.toISOString()}') TO ('${to.toISOString()}')`;
}
