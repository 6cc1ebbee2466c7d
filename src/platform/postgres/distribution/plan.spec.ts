import { distributionPlan, type FoundTable } from './plan';
import { COORDINATOR_TABLES, DISTRIBUTED_TABLES } from './tables';

const onCoordinator = (name: string): FoundTable => ({
  name,
  place: 'local',
  column: null,
  colocation: null,
  leftoverBytes: 8_192,
});
const onNodes = (name: string): FoundTable => ({
  name,
  place: 'distributed',
  column: 'tenant_id',
  colocation: 7,
  leftoverBytes: 0,
});
const WHOLE = [...DISTRIBUTED_TABLES.map(onNodes), ...COORDINATOR_TABLES.map(onCoordinator)];

/** The plan of a distributed database in which one table is not as it should be. */
function faultsWith(name: string, change: Partial<FoundTable>): (string | undefined)[] {
  const found = WHOLE.map((table) => (table.name === name ? { ...table, ...change } : table));
  return distributionPlan(found)
    .tables.filter(({ fault }) => fault !== undefined)
    .map(({ table, fault }) => `${table.name} ${fault}`);
}

describe('the plan of a distribution', () => {
  it('misses nothing when every table is in its place', () => {
    const plan = distributionPlan(WHOLE);
    expect(plan.tables.filter(({ fault }) => fault !== undefined)).toEqual([]);
    expect([plan.absent, plan.unknown, plan.tables.length]).toEqual([[], [], WHOLE.length]);
  });

  it.each<[string, Partial<FoundTable>, string]>([
    ['profiles', { place: 'local', column: null, colocation: null }, 'profiles is not distributed'],
    ['profiles', { place: 'reference', column: null, colocation: null }, 'profiles is not distributed'],
    ['profiles', { column: 'profile_id' }, 'profiles is distributed by profile_id, not by tenant_id'],
    ['profiles', { colocation: 8 }, 'profiles is not co-located with the other tables'],
    ['profiles', { leftoverBytes: 8_192 }, 'profiles has a local copy of its rows on the coordinator'],
    ['api_keys', { place: 'reference', leftoverBytes: 0 }, 'api_keys belongs on the coordinator'],
  ])('says what is wrong with %s: %j', (name, change, fault) => {
    expect(faultsWith(name, change)).toEqual([fault]);
  });

  it('names tables that no list has, and those that are missing', () => {
    const { absent, unknown, tables } = distributionPlan([...WHOLE.slice(1), onCoordinator('somebody_elses')]);
    expect([absent, unknown]).toEqual([[WHOLE[0]?.name], ['somebody_elses']]);
    expect(tables.map(({ table }) => table.name)).not.toContain('somebody_elses');
  });

  it('has each table in one list', () => {
    const all = [...DISTRIBUTED_TABLES, ...COORDINATOR_TABLES];
    expect(new Set(all).size).toBe(all.length);
  });
});
