import { compileCondition } from './compile-condition';
import { conditionFaults } from './condition';
import { CONDITION_COST_MAX, COSTS, Meter } from './condition-meter';

const EVENT = {
  source: 'shop',
  occurredAt: '2026-01-02T03:04:05.000Z',
  identity: { email: 'jane@example.com' },
  properties: {
    amount: 29.33,
    tags: ['a', 'b'],
    items: [
      { sku: 'A', n: 2 },
      { sku: 'B', n: 3 },
    ],
    none: null,
    word: 'x',
  },
};
const prop = (name: string): object => ({ var: `event.properties.${name}` });

function ask(when: object, event: object = EVENT): string {
  expect(conditionFaults(when)).toEqual([]);
  return compileCondition(when as Record<string, unknown>)(event as Record<string, unknown>);
}

describe('a condition that was made ready', () => {
  it.each<[object, string]>([
    [{ '>=': [prop('amount'), 29.33] }, 'met'],
    [{ '<': [prop('amount'), 10] }, 'unmet'],
    [{ '>=': [{ var: 'properties.amount' }, 29.33] }, 'met'],
    [{ '==': [{ var: 'source' }, 'shop'] }, 'met'],
    [{ '!': { var: 'amount' } }, 'met'],
    [{ missing: ['properties.amount'] }, 'unmet'],
    [{ some: [prop('items'), { '!!': { var: 'properties.amount' } }] }, 'unmet'],
    [{ '==': [{ reduce: [prop('tags'), { var: 'current' }, { var: 'properties.word' }] }, 'b'] }, 'met'],
    [{ '>': [prop('absent'), 10] }, 'unmet'],
    [{ '==': [{ var: 'event.source' }, 'shop'] }, 'met'],
    [{ '===': [prop('word'), 1] }, 'unmet'],
    [{ in: ['b', prop('tags')] }, 'met'],
    [{ in: ['b', prop('absent')] }, 'unmet'],
    [{ in: ['shop', 'the shop'] }, 'met'],
    [{ some: [prop('items'), { in: [{ var: 'sku' }, ['B', 'C']] }] }, 'met'],
    [{ all: [prop('items'), { '>': [{ var: 'n' }, 2] }] }, 'unmet'],
    [{ none: [prop('items'), { '>': [{ var: 'n' }, 5] }] }, 'met'],
    [{ '==': [{ reduce: [prop('items'), { '+': [{ var: 'accumulator' }, { var: 'current.n' }] }, 0] }, 5] }, 'met'],
    [{ reduce: [prop('absent'), { '+': [{ var: 'accumulator' }, { var: 'current' }] }, 0] }, 'unmet'],
    [{ filter: [prop('items'), { '==': [{ var: 'sku' }, 'Z'] }] }, 'unmet'],
    [{ '!': prop('absent') }, 'met'],
    [{ '!!': [prop('items')] }, 'met'],
    [{ missing: ['event.source', 'event.properties.nothing'] }, 'met'],
    [{ missing: ['event.source'] }, 'unmet'],
    [{ missing_some: [1, ['event.source', 'event.nothing']] }, 'unmet'],
    [{ '==': [{ var: ['event.properties.none', 7] }, 7] }, 'met'],
    [{ '==': [{ var: 'event.properties.items.1.sku' }, 'B'] }, 'met'],
    [{ if: [{ '>': [prop('amount'), 20] }, true, false] }, 'met'],
    [{ '==': [{ substr: [{ cat: ['ab', prop('word')] }, 2] }, 'x'] }, 'met'],
    [{ '==': [{ substr: ['abc', 0, -1] }, 'ab'] }, 'met'],
    [{ '==': [{ substr: ['abc', 0, '-1'] }, ''] }, 'met'],
    [{ substr: ['abc', 0, [-1]] }, 'unmet'],
    [{ '>': [prop('word'), 10] }, 'failed'],
    [{ '<=': [1, prop('amount'), 30] }, 'met'],
    [{ '<=': ['a', prop('word'), 'z'] }, 'met'],
    [{ '<': ['a', prop('word'), 'b'] }, 'unmet'],
    [{ '/': [1, 0] }, 'failed'],
    [{ some: [prop('amount'), { var: '' }] }, 'unmet'],
    [{ map: [prop('amount'), { var: '' }] }, 'failed'],
  ])('%j is %s', (when, verdict) => {
    expect(ask(when)).toBe(verdict);
  });

  it.each([
    ...[
      'constructor',
      '__proto__',
      '__proto__.constructor',
      'toString',
      'properties.constructor.name',
      'source.length',
    ],
    ...['properties.tags.map', 'properties.tags.length', 'hasOwnProperty', 'properties.items.0.__proto__'],
  ])('finds nothing at event.%s that no client sent', (path) => {
    const read = { var: `event.${path}` };
    for (const when of [read, { '!==': [read, null] }, { '!': [{ missing: [`event.${path}`] }] }]) {
      expect([path, ask(when)]).toEqual([path, 'unmet']);
    }
  });

  it('finds a field that is called like something that objects inherit, where one was sent', () => {
    const properties = JSON.parse('{"__proto__": {"constructor": 1}, "constructor": 2}') as object;
    expect(ask({ '==': [{ var: 'event.properties.__proto__.constructor' }, 1] }, { properties })).toBe('met');
    expect(ask({ '==': [{ var: 'event.properties.constructor' }, 2] }, { properties })).toBe('met');
  });

  it('takes text for text, whatever it would be as JavaScript', () => {
    const text = '"}; globalThis.hacked = true; //`${globalThis.hacked = true}';
    expect(ask({ or: [{ '==': [{ var: text }, text] }, { cat: [text] }] })).toBe('met');
    expect('hacked' in globalThis).toBe(false);
  });

  it('changes neither the event nor what objects inherit', () => {
    const before = JSON.stringify(EVENT);
    ask({ map: [prop('items'), { var: '__proto__.polluted' }] });
    ask({ merge: [prop('tags'), prop('items')] });
    expect([JSON.stringify(EVENT), 'polluted' in {}]).toEqual([before, false]);
  });

  const LONG = Array.from({ length: 30_000 }, (_, index) => (index === 0 ? 'x' : 1));
  it.each<[string, object]>([
    [
      'goes through everything with as many operators as there may be',
      { some: [prop('long'), { or: Array.from({ length: 190 }, () => ({ '!': [1] })) }] },
    ],
    ['puts everything together again and again', { merge: Array.from({ length: 190 }, () => prop('long')) }],
    [
      'keeps going through what it has kept',
      { reduce: [prop('long'), { if: [{ in: ['z', { var: 'accumulator' }] }, 0, { var: 'accumulator' }] }, []] },
    ],
    [
      'keeps what is large',
      {
        reduce: [
          prop('twice'),
          {
            or: [
              { and: [{ '!': [{ in: ['z', { var: 'accumulator' }] }] }, { var: 'accumulator' }] },
              { var: 'current' },
            ],
          },
        ],
      },
    ],
    ['looks at long text for each entry', { all: [prop('long'), { '!': [{ in: [{ var: '' }, 'y'.repeat(7_000)] }] }] }],
    ['makes long text out of long text', { cat: Array.from({ length: 190 }, () => prop('text')) }],
  ])('never runs away where it %s', (_what, when) => {
    const event = { properties: { long: LONG, twice: [LONG, ...LONG], text: 'x'.repeat(60_000) } };
    expect(conditionFaults(when)).toEqual([]);
    const compiled = compileCondition(when as Record<string, unknown>);
    compiled(event);
    const startedAt = performance.now();
    expect(['met', 'unmet', 'failed', 'too_costly']).toContain(compiled(event));
    expect(performance.now() - startedAt).toBeLessThan(400);
  });

  it('gives up where it would cost too much, and starts anew with the next event', () => {
    const when = { all: [prop('list'), { and: Array.from({ length: 90 }, () => ({ '!': [{ var: 'x' }] })) }] };
    const listOf = (length: number) => ({ properties: { list: Array.from({ length }, () => 0) } });
    const compiled = compileCondition(when);
    expect([listOf(200), listOf(1_000), listOf(200)].map((event) => compiled(event))).toEqual([
      'met',
      'too_costly',
      'met',
    ]);
  });
});

describe('what a condition costs', () => {
  const KEYS = Array.from({ length: 290 }, (_, index) => `key${index}`);
  const LARGE = {
    properties: {
      list: Array.from({ length: 14_000 }, () => 'y'),
      numbers: Array.from({ length: 10_000 }, (_, index) => index * 1.234567e-7),
      nested: [[[[Array.from({ length: 10_000 }, () => 'y')]]]],
      text: 'a'.repeat(60_000),
      digits: `${'0'.repeat(60_000)}1`,
      paths: Array.from({ length: 2_000 }, () => '.'.repeat(20)),
      object: Object.fromEntries(KEYS.map((key) => [key, 1])),
      endless: { length: 1e12 },
    },
  };
  const often = (rule: object): object => ({ or: Array.from({ length: 60 }, () => rule) });
  const none = (rule: object): object => often({ '!': [{ '!': [{ and: [rule, 0] }] }] });
  const seven = 'y'.repeat(7_000);

  it.each<[string, object]>([
    ['in: a long text for each entry', { filter: [prop('list'), { in: ['zz', seven] }] }],
    ['in: a long part for each entry', { filter: [prop('list'), { in: [seven, prop('text')] }] }],
    ['in: a part that nearly fits everywhere', none({ in: [`${'a'.repeat(100)}b`, prop('text')] })],
    ['in: a text in a list of texts', none({ in: ['z'.repeat(40), prop('list')] })],
    ['in: a list that becomes text', none({ in: [prop('nested'), 'x'] })],
    ['=== of long texts', { filter: [prop('list'), { '===': [`${seven}a`, `${seven}b`] }] }],
    ['< of long texts', { filter: [prop('list'), { '<': [`${seven}b`, `${seven}a`] }] }],
    ['== of a long text and a number', none({ '==': [prop('digits'), 1] })],
    ['> of three', none({ '<': [0, prop('digits'), 0] })],
    ['+ of a long text', none({ '+': [prop('digits'), 1] })],
    ['+ of a long list', none({ '+': prop('numbers') })],
    ['* of a long list', none({ '*': prop('numbers') })],
    ['- of a long text', none({ '-': [1, prop('digits')] })],
    ['- of a long list', none({ '-': [prop('numbers')] })],
    ['/ of a long text', none({ '/': [prop('digits'), 7] })],
    ['% of a long text', none({ '%': [prop('digits'), 7] })],
    ['min of a long list', none({ min: prop('numbers') })],
    ['max of a long list', none({ max: prop('numbers') })],
    ['cat of a long text', none({ cat: [prop('text'), prop('text')] })],
    ['cat of a long list', none({ cat: prop('numbers') })],
    ['cat of lists in lists', none({ cat: [prop('nested'), prop('nested')] })],
    ['substr of a long text', none({ substr: [prop('text'), 1] })],
    ['substr from a list', none({ substr: ['x', prop('nested')] })],
    ['merge of long lists', none({ merge: [prop('list'), prop('list')] })],
    ['missing of long paths', none({ missing: [prop('paths')] })],
    ['missing_some of long paths', none({ missing_some: [1, prop('paths')] })],
    ['var in depth', { filter: [prop('list'), { and: [{ var: 'a.b.c.d.e.f.g.h' }, { var: '.'.repeat(3_000) }] }] }],
    [
      '! of an object',
      {
        reduce: [prop('list'), { if: [{ '!': [{ var: 'accumulator' }] }, 0, { var: 'accumulator' }] }, prop('object')],
      },
    ],
    [
      'and of an object',
      { reduce: [prop('list'), { and: [{ var: 'accumulator' }, { var: 'accumulator' }] }, prop('object')] },
    ],
    ['map of a long list', none({ map: [prop('list'), 1] })],
    ['filter of a long list', none({ filter: [prop('list'), 1] })],
    ['all of a long list', none({ all: [prop('list'), 1] })],
    ['some of a long text', none({ some: [prop('text'), 0] })],
    ['none of a long list', none({ none: [prop('list'), 0] })],
    ['reduce of a long list', none({ reduce: [prop('list'), { var: 'current' }, 0] })],
    ['a list of rules', { filter: [prop('list'), { in: [1, Array.from({ length: 10 }, () => ({ '+': [1] }))] }] }],
  ])('is bounded for %s, before anything of it is done', (_what, when) => {
    const spent = jest.spyOn(Meter.prototype, 'spend');
    const verdict = compileCondition(when as Record<string, unknown>)(LARGE);
    const costs = spent.mock.calls.map(([cost]) => cost);
    spent.mockRestore();
    expect(verdict).toBe('too_costly');
    // The one that went over it was not done, and no one before can have been long.
    const total = costs.reduce((sum, cost) => sum + cost, 0);
    expect(total - (costs.at(-1) ?? 0)).toBeLessThanOrEqual(CONDITION_COST_MAX);
  });

  it.each<[string, object, string]>([
    ['a list that only says how long it is', { some: [prop('endless'), 0] }, 'unmet'],
    ['the same of all', { all: [prop('endless'), 1] }, 'unmet'],
    ['a short word in 60 KB of text', { in: ['needle', prop('text')] }, 'unmet'],
    [
      'ten words in 60 KB of text',
      {
        or: 'one two three four five six seven eight nine ten'.split(' ').map((word) => ({ in: [word, prop('text')] })),
      },
      'unmet',
    ],
    [
      'a look at 1,000 entries with several operators',
      {
        some: [
          prop('items'),
          {
            and: [
              { '>': [{ var: 'n' }, 998] },
              { in: [{ var: 'sku' }, ['SKU-999', 'SKU-20']] },
              { or: [{ '!': [{ var: 'gone' }] }, { '<=': [1, { var: 'n' }, 5] }] },
            ],
          },
        ],
      },
      'met',
    ],
    [
      'the sum of 1,000 entries',
      { '>': [{ reduce: [prop('items'), { '+': [{ var: 'accumulator' }, { var: 'current.n' }] }, 0] }, 1] },
      'met',
    ],
  ])('leaves room for %s', (_what, when, verdict) => {
    const items = Array.from({ length: 1_000 }, (_, n) => ({ sku: `SKU-${n}`, n }));
    expect(ask(when, { properties: { ...LARGE.properties, items } })).toBe(verdict);
  });

  it('is the same each time', () => {
    const when = { all: [prop('list'), { '===': [{ var: '' }, 'y'] }] };
    const compiled = compileCondition(when);
    const of = (length: number) => ({ properties: { list: Array.from({ length }, () => 'y') } });
    const each = COSTS.entry + 2 * COSTS.operator + COSTS.character;
    const most = Math.floor((CONDITION_COST_MAX - 2 * COSTS.operator - 3 * COSTS.pathStep) / each);
    for (const _time of [1, 2, 3]) expect([compiled(of(most)), compiled(of(most + 1))]).toEqual(['met', 'too_costly']);
  });

  it('ends when time is up, whatever is left of it; it is asked now and then only', () => {
    const compiled = compileCondition({ all: [prop('list'), { '!!': [{ var: '' }] }] });
    let asked = 0;
    expect(compiled(LARGE, () => (asked += 1) > 3)).toBe('overdue');
    expect(asked).toBe(4);
    expect(compiled(LARGE)).toBe('met');
    const small = compileCondition({ '!': [prop('none')] });
    expect(small(EVENT, () => true)).toBe('met');
  });
});
