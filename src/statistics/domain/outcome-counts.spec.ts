import { OTHER_NAME } from './group-names';
import { OutcomeCounts } from './outcome-counts';

const LIMITS = { perWorkspaceMax: 3, totalMax: 5 };

let counts: OutcomeCounts;

beforeEach(() => {
  counts = new OutcomeCounts(LIMITS);
});

const refuse = (tenantId: string, source: string): void =>
  counts.add(tenantId, 'external', { source, eventType: 'purchase' }, 'refused');
const shown = (now: number): string[] =>
  counts.take(now).map(({ tenantId, source, duplicate, refused }) => `${tenantId} ${source} ${duplicate} ${refused}`);

it('adds up what is alike until it is taken', () => {
  refuse('one', 'shop');
  for (let sent = 0; sent < 7; sent += 1)
    counts.add('one', 'external', { source: 'shop', eventType: 'purchase' }, 'duplicate');
  refuse('one', 'shop');
  refuse('two', 'shop');
  expect(shown(0)).toEqual(['one shop 7 2', 'two shop 0 1']);
  expect(shown(0)).toEqual([]);
});

it('keeps families, sources and types apart', () => {
  for (const family of ['external', 'cdp'] as const)
    counts.add('one', family, { source: 's', eventType: 't' }, 'refused');
  counts.add('one', 'cdp', { source: 's', eventType: '' }, 'refused');
  expect(counts.take(0)).toHaveLength(3);
});

it('counts the groups beyond the limit of a workspace as others, in the same minute, and loses none', () => {
  for (let source = 0; source < 10; source += 1) refuse('one', String(source));
  refuse('one', '1');
  expect(shown(0)).toEqual(['one 0 0 1', 'one 1 0 2', 'one 2 0 1', `one ${OTHER_NAME} 0 7`]);
  refuse('one', '9');
  refuse('one', '2');
  expect(shown(59_999)).toEqual([`one ${OTHER_NAME} 0 1`, 'one 2 0 1']);
  expect(shown(60_000)).toEqual([]);
  refuse('one', '9');
  expect(shown(60_000)).toEqual(['one 9 0 1']);
});

it('is bounded over all workspaces, also where nobody takes the counts', () => {
  for (let source = 0; source < 10_000; source += 1)
    for (const tenant of ['one', 'two']) refuse(tenant, String(source));
  const taken = counts.take(0);
  expect(taken).toHaveLength(LIMITS.totalMax + 2);
  expect(taken.reduce((sum, { refused }) => sum + refused, 0)).toBe(20_000);
});
