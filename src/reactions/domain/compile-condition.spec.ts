import { CONDITION_STEPS_MAX, compileCondition } from './compile-condition';
import { conditionFaults } from './condition';

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
    [{ '>': [prop('word'), 10] }, 'failed'],
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
  ])('finds nothing that nobody has sent at event.%s', (path) => {
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

  it('gives up where it would take too many steps, and starts anew with the next event', () => {
    const when = { all: [prop('list'), { and: Array.from({ length: 90 }, () => ({ '!': [{ var: 'x' }] })) }] };
    const listOf = (length: number) => ({ properties: { list: Array.from({ length }, () => 0) } });
    expect(ask(when, listOf(CONDITION_STEPS_MAX / 180))).toBe('too_costly');
    const compiled = compileCondition(when);
    expect([listOf(200), listOf(1_000), listOf(200)].map((event) => compiled(event))).toEqual([
      'met',
      'too_costly',
      'met',
    ]);
  });
});
