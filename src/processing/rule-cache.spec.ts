import type { Transaction } from '../platform/postgres/pipelined-connection';
import { RuleCache } from './rule-cache';

const TYPES = 20;
const COMPILE_MS = 10;
const TENANT = '00000000-0000-4000-8000-000000000001';

const statement = (name: string) => ({ name, text: '' });
const rows = Array.from({ length: TYPES }, (_unused, index) => ({ position: String(index + 1) }));
const transaction = {
  send: ({ name }: { name: string }) =>
    Promise.resolve(name === 'versions' ? [{ tenant_id: TENANT, version: '1' }] : rows),
} as unknown as Transaction;

it('lets others have their turn between types, however many are read at once', async () => {
  const cache = new RuleCache<{ position: string }, string>({
    readVersions: statement('versions'),
    readRules: statement('rules'),
    rulesPerEventTypeMax: 50,
    compile: ({ position }) => {
      for (const began = performance.now(); performance.now() - began < COMPILE_MS;);
      return position;
    },
  });
  const kinds = rows.map(({ position }) => ({ tenantId: TENANT, eventType: position }));
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  const found = await cache.read(transaction, kinds);
  clearInterval(counting);
  expect([...found.values()]).toEqual(rows.map(({ position }) => [position]));
  expect(turns).toBeGreaterThanOrEqual(TYPES / 2);
});
