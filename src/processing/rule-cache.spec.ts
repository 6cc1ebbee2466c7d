import type { Transaction } from '../platform/postgres/pipelined-connection';
import { RuleCache } from './rule-cache';

const TENANT = '00000000-0000-4000-8000-000000000001';
const statement = (name: string) => ({ name, text: '' });
const kindOf = (eventType: string) => ({ tenantId: TENANT, eventType });
const TYPES = Array.from({ length: 40 }, (_unused, index) => `type-${index}`);

/** Stands for a database in which each type has a rule with this text. */
const transactionWith = (text: string): Transaction =>
  ({
    send: ({ name }: { name: string }, [, types]: [unknown, readonly string[]]) =>
      Promise.resolve(
        name === 'versions'
          ? [{ tenant_id: TENANT, version: '1' }]
          : types.map((type, index) => ({ position: String(index + 1), type, text })),
      ),
  }) as unknown as Transaction;

const cacheOf = (compile: (type: string) => string) =>
  new RuleCache<{ position: string; type: string }, string>({
    readVersions: statement('versions'),
    readRules: statement('rules'),
    rulesPerEventTypeMax: 50,
    compile: ({ type }) => compile(type),
  });

it('lets others have their turn between types, however many are read at once', async () => {
  const cache = cacheOf((type) => {
    for (const began = performance.now(); performance.now() - began < 10;);
    return type;
  });
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  const { rules, count } = await cache.read(transactionWith(''), TYPES.map(kindOf));
  clearInterval(counting);
  expect(count).toBe(TYPES.length);
  expect([...rules.values()]).toEqual(TYPES.map((type) => [type]));
  expect(turns).toBeGreaterThanOrEqual(TYPES.length / 2);
});

it('loads a bounded number of bytes at once, and says for how many of the kinds', async () => {
  const compiled: string[] = [];
  const cache = cacheOf((type) => {
    compiled.push(type);
    return type;
  });
  const transaction = transactionWith('x'.repeat(400_000));
  const [first = '', second = ''] = TYPES;
  // As of events: a type may come again.
  const kinds = [first, second, first, ...TYPES.slice(2)].map(kindOf);
  const { rules, count } = await cache.read(transaction, kinds);
  expect([rules.size, count, compiled.length]).toEqual([8, 9, 8]);
  // The next call goes on there; what is cached by then is no load.
  const next = await cache.read(transaction, kinds);
  expect([next.rules.size, next.count, compiled.length]).toEqual([16, 17, 16]);
});
