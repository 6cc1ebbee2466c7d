import { PipelinedConnection } from '../../src/platform/postgres/pipelined-connection';
import { RuleCache, type ReadRules } from '../../src/processing/rule-cache';
import { databaseUrl } from '../support/database';

const TENANT = '00000000-0000-4000-8000-000000000001';
const kindOf = (eventType: string) => ({ tenantId: TENANT, eventType });
const TYPES = Array.from({ length: 40 }, (_unused, index) => `type-${index}`);

interface RuleRow {
  readonly position: string;
  readonly type: string;
}

let connection: PipelinedConnection;

beforeEach(async () => {
  const options = { applicationName: 'cds-rules', lockTimeoutMs: 1_000, statementTimeoutMs: 5_000 };
  connection = new PipelinedConnection({ url: await databaseUrl() }, options);
});
afterEach(() => connection.close());

/** The rules of a feature that has so many rules of so many characters about each type of event. */
function cacheOf(
  ruleCharacters: number,
  compile: (type: string) => string,
  rulesPerType = 1,
): RuleCache<RuleRow, string> {
  return new RuleCache<RuleRow, string>({
    readVersions: {
      name: `test_versions_${ruleCharacters}`,
      text: `SELECT tenant_id, '1' AS version FROM unnest($1::uuid[]) AS u (tenant_id)`,
    },
    readRules: {
      name: `test_rules_${ruleCharacters}`,
      text: `SELECT u.position, u.type, repeat('x', ${ruleCharacters}) AS text
        FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, type, position),
          generate_series(1, $3::int)`,
    },
    rulesPerEventTypeMax: rulesPerType,
    compile: ({ type }) => compile(type),
  });
}

function read(cache: RuleCache<RuleRow, string>, types: readonly string[]): Promise<ReadRules<string>> {
  return connection.transaction((open) => cache.read(open, types.map(kindOf)));
}

describe('rules about types of events', () => {
  it.each([
    ['about many types', TYPES, 1],
    ['about one type', TYPES.slice(0, 1), 40],
  ])('%s let others have their turn while they are compiled', async (_which, types, rulesPerType) => {
    let turn = 0;
    const turns = new Set<number>();
    const compileSlowly = (type: string): string => {
      for (const began = performance.now(); performance.now() - began < 10;);
      turns.add(turn);
      return type;
    };
    const counting = setInterval(() => (turn += 1), 1);
    const { rules, count } = await read(cacheOf(1, compileSlowly, rulesPerType), types);
    clearInterval(counting);
    expect(count).toBe(types.length);
    expect([...rules.values()]).toEqual(types.map((type) => Array.from({ length: rulesPerType }, () => type)));
    // Without a pause: as many as there are reads, which are of eight types.
    expect(turns.size).toBeGreaterThan(20);
  });

  it('are loaded up to a number of bytes at once, and the next read goes on there', async () => {
    const compiled: string[] = [];
    const cache = cacheOf(400_000, (type) => {
      compiled.push(type);
      return type;
    });
    const [first = '', second = ''] = TYPES;
    // As of events: a type may come again.
    const types = [first, second, first, ...TYPES.slice(2)];
    const { rules, count } = await read(cache, types);
    expect([rules.size, count, compiled.length]).toEqual([8, 9, 8]);
    // What is cached by then is no load.
    const next = await read(cache, types);
    expect([next.rules.size, next.count, compiled.length]).toEqual([16, 17, 16]);
  });
});
