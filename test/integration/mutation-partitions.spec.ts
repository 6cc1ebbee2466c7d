import { DataSource } from 'typeorm';
import { Clock } from '../../src/platform/clock/clock';
import { readSettings } from '../../src/platform/config/env';
import { databaseOptions } from '../../src/platform/database/database-options';
import { partitionName, weekOf, weeksToHave } from '../../src/runtime/domain/outcome-weeks';
import { OutcomePartitions } from '../../src/runtime/outcome-partitions';
import { startApp, type TestApp } from '../support/app';
import { freshDatabaseUrl, withClient } from '../support/database';
import { aCampaign, inc, mutate, stateOf, summary, type Campaign } from '../support/runtime';

const DAY_MS = 24 * 60 * 60 * 1000;
const POINTS = 'state.user.points';

/** Runs beside the real time. */
class TestClock extends Clock {
  aheadMs = 0;

  override now(): Date {
    return new Date(super.now().getTime() + this.aheadMs);
  }
}

const clock = new TestClock();
const opened: DataSource[] = [];

/** What one node has for partitions, with a connection of its own. */
async function aNode(url: string): Promise<OutcomePartitions> {
  const source = await new DataSource(databaseOptions({ url })).initialize();
  opened.push(source);
  return new OutcomePartitions(source, clock, readSettings({ DATABASE_URL: url }));
}

const partitions = (url: string): Promise<string[]> =>
  withClient(url, async (client) => {
    const sql = `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'mutation_outcomes'::regclass`;
    return (await client.query<{ name: string }>(sql)).rows.map(({ name }) => name).sort();
  });
const keepUp = async (node: OutcomePartitions): Promise<void> => {
  await node.makeAhead();
  await node.dropOld();
};
const wanted = (): string[] => weeksToHave(clock.now(), 30).ahead.map(partitionName);

beforeEach(() => {
  clock.aheadMs = 0;
});
afterAll(() => Promise.all(opened.map((source) => source.destroy())));

describe('the partitions of outcomes', () => {
  it('are all there after five nodes have made them at once on an empty table, and nothing is done twice', async () => {
    const url = await freshDatabaseUrl('partitions');
    const nodes = await Promise.all(Array.from({ length: 5 }, () => aNode(url)));
    expect(await partitions(url)).toEqual([]);
    await Promise.all(nodes.map(keepUp));
    expect(await partitions(url)).toEqual(wanted());
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
      clock.aheadMs = week * 7 * DAY_MS;
      await Promise.all(nodes.map(keepUp));
      const names = await partitions(url);
      expect(names).toEqual(expect.arrayContaining(wanted()));
      const oldest = partitionName(weekOf(new Date(clock.now().getTime() - 31 * DAY_MS)));
      expect(names.filter((name) => name < oldest)).toEqual([]);
      // Those of the last 31 days, of which the first began a week before, this week and four ahead.
      expect(names.length).toBeLessThanOrEqual(11);
      expect(names).toContain(
        partitionName(weekOf(new Date(Math.max(clock.now().getTime() - 30 * DAY_MS, new Date().getTime())))),
      );
    }
  });

  it('are made while somebody reads all of them for hours, which only puts off that old ones go', async () => {
    const url = await freshDatabaseUrl('partitions');
    const node = await aNode(url);
    await withClient(url, (client) => client.query(oldPartition(8)));
    await withClient(url, async (reader) => {
      await reader.query('BEGIN');
      await reader.query('SELECT 1 FROM mutation_outcomes');
      await node.makeAhead();
      await expect(node.dropOld()).rejects.toThrow(/lock timeout/);
      await (await startApp({}, url)).stop();
      await reader.query('ROLLBACK');
    });
    expect(await partitions(url)).toHaveLength(7);
    await node.dropOld();
    expect(await partitions(url)).toEqual(wanted());
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
    expect(await partitions(url)).toEqual(wanted());
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
  return `CREATE TABLE ${partitionName({ from, to })} PARTITION OF mutation_outcomes
    FOR VALUES FROM ('${from.toISOString()}') TO ('${to.toISOString()}')`;
}
