import fc from 'fast-check';
import { defaultMethods, LogicEngine } from 'json-logic-engine';
import { compileCondition } from './compile-condition';
import { conditionFaults } from './condition';

const prop = (name: string): object => ({ var: `event.properties.${name}` });

function ask(when: object, event: object): string {
  expect(conditionFaults(when)).toEqual([]);
  return compileCondition(when as Record<string, unknown>)(event as Record<string, unknown>);
}

/** The data, those around it, and the library. */
type Scope = [context: unknown, above: any, engine: any];
interface LibraryMethod {
  readonly lazy?: boolean;
  readonly method: (args: any[], ...scope: Scope) => unknown;
}

describe('what a condition says', () => {
  // Without the marks by which the library works some operators out ahead of time.
  const library: Record<string, LibraryMethod> = Object.fromEntries(
    Object.entries(defaultMethods as Record<string, any>).map(([name, each]) => [
      name,
      { method: each.method ?? each, lazy: each.lazy, optimizeUnary: each.optimizeUnary },
    ]),
  );

  /** The library, with the operators of json-logic-js where conditions follow that package. */
  const corrected: Record<string, LibraryMethod> = {
    ...library,
    '!': { lazy: true, method: ([of], ...scope) => !isTruthyIn(of, scope) },
    '!!': { lazy: true, method: ([of], ...scope) => isTruthyIn(of, scope) },
    '==': nullApart('==', (a, b) => a === b),
    '!=': nullApart('!=', (a, b) => a !== b),
    all: {
      lazy: true,
      method: (args, ...scope) => {
        const list = valueIn(args[0], scope);
        return (Array.isArray(list) || typeof list === 'string') && library['all']!.method(args, ...scope);
      },
    },
  };

  function nullApart(name: string, holds: (a: unknown, b: unknown) => boolean): LibraryMethod {
    const method: LibraryMethod['method'] = (args, ...scope) => {
      const [a, b] = args.map((each) => valueIn(each, scope));
      return a === null || b === null ? holds(a, b) : library[name]!.method(args, ...scope);
    };
    return { lazy: true, method };
  }

  function valueIn(rule: unknown, [context, above, engine]: Scope): unknown {
    return engine.run(rule, context, { above });
  }

  function isTruthyIn(rule: unknown, scope: Scope): boolean {
    return Boolean(scope[2].truthy(valueIn(rule, scope)));
  }

  /**
   * The library finds what objects inherit, and leaves nothing that a reduction can go on with deeper than its default.
   */
  function byLibrary(when: object, event: object, methods = corrected): string {
    // It goes another way once it has seen many rules.
    const engine = new LogicEngine(methods, { disableInline: true });
    try {
      return engine.truthy(engine.run(asWritten(when), { event })) ? 'met' : 'unmet';
    } catch {
      return 'failed';
    }
  }

  /** The library turns a reduction that adds or multiplies into a sum or a product, which what is no list has too. */
  function asWritten(when: object): unknown {
    return JSON.parse(JSON.stringify(when), (key, value) => {
      if (key !== 'reduce' || !Array.isArray(value) || value.length < 2) return value as unknown;
      const [list, next, ...start] = value as unknown[];
      return [list, { or: [next] }, ...start];
    });
  }

  it('is what the corrected json-logic-engine says of it, save that reductions may keep whole objects', () => {
    const scalar = fc.oneof(
      fc.constantFrom<unknown>(0, 1, -1, 2.5, '', 'a', 'ab', '2', '10', ' 3 ', 'x1', true, false, null),
      fc.integer({ min: -3, max: 12 }),
    );
    const variable = fc
      .constantFrom('amount', 'word', 'tags', 'items', 'none', 'empty', 'nested', 'items.1.sku', 'text', 'object')
      .map((name) => ({ var: `event.properties.${name}` }));
    const entry = fc.constantFrom(
      { var: '' },
      { var: 'n' },
      { var: 'current' },
      { var: 'accumulator' },
      { var: 'current.n' },
    );
    const { rule } = fc.letrec<{ rule: unknown; value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        ...[scalar, variable, entry, fc.array(scalar, { maxLength: 3 })],
        tie('rule'),
      ),
      rule: fc
        .tuple(fc.constantFrom(...NAMES), fc.array(tie('value'), { minLength: 1, maxLength: 4 }))
        // Of three texts the library compares two as texts and then all of them as numbers.
        .map(([name, args]) => ({ [name]: /^[<>]/.test(name) ? args.slice(0, 2) : args })),
    }));
    const event = {
      properties: {
        amount: 29.33,
        word: 'x',
        tags: ['a', 'b'],
        none: null,
        empty: [],
        text: '12',
        nested: [[1, 'a'], ['b']],
        items: [{ sku: 'A', n: 2 }, { sku: 'B', n: 3 }, { sku: 'C' }],
        object: { a: 1 },
      },
    };
    let compared = 0;
    fc.assert(
      fc.property(rule, (when) => {
        if (conditionFaults(when).length > 0) return;
        const expected = byLibrary(when as object, event);
        if (expected === 'failed' && JSON.stringify(when).includes('"reduce"')) return;
        compared += 1;
        expect([when, compileCondition(when as Record<string, unknown>)(event)]).toEqual([when, expected]);
      }),
      { numRuns: 5_000 },
    );
    expect(compared).toBeGreaterThan(1_000);
  });

  it.each<[string, object, string, string]>([
    ['! of a list', { '!': prop('zeroFirst') }, 'unmet', 'met'],
    ['! of a list in a list', { '!': [prop('zeroFirst')] }, 'unmet', 'met'],
    ['!! of a list', { '!!': [prop('zeroFirst')] }, 'met', 'unmet'],
    ['!! of a computed list', { '!!': { merge: [0, 5] } }, 'met', 'unmet'],
    ['! of an empty list', { '!': [prop('empty')] }, 'met', 'met'],
    ['! of a literal list', { '!': [[0]] }, 'unmet', 'unmet'],
    ['absent == 0', { '==': [prop('absent'), 0] }, 'unmet', 'met'],
    ['false == null', { '==': [false, prop('none')] }, 'unmet', 'met'],
    ['absent == ""', { '==': [prop('absent'), ''] }, 'unmet', 'unmet'],
    ['absent == null', { '==': [prop('absent'), null] }, 'met', 'met'],
    ['absent != 0', { '!=': [prop('absent'), 0] }, 'met', 'unmet'],
    ['absent != false', { '!=': [prop('absent'), false] }, 'met', 'unmet'],
    ['a list == null', { '==': [prop('zeroFirst'), null] }, 'unmet', 'failed'],
    ['absent != a text', { '!=': [prop('absent'), 'x'] }, 'met', 'met'],
    ['absent <= 0, as in JavaScript', { '<=': [prop('absent'), 0] }, 'met', 'met'],
    ['all of a number', { all: [prop('n'), true] }, 'unmet', 'met'],
    ['all of an object', { all: [prop('object'), true] }, 'unmet', 'met'],
    ['all of nothing', { all: [prop('absent'), true] }, 'unmet', 'unmet'],
  ])('is what json-logic-js says of %s', (_what, when, expected, ofTheLibrary) => {
    const event = { properties: { zeroFirst: [0, 5], empty: [], none: null, n: 5, object: { a: 1 } } };
    expect([ask(when, event), byLibrary(when, event, library)]).toEqual([expected, ofTheLibrary]);
  });

  it('iterates over the characters of a text, which json-logic-js does not', () => {
    const when = { all: [prop('word'), { '===': [{ var: '' }, 'x'] }] };
    const event = { properties: { word: 'xx' } };
    expect([ask(when, event), byLibrary(when, event, library)]).toEqual(['met', 'met']);
  });
});

const NAMES = [
  ...['if', '?:', 'and', 'or', '!', '!!', '==', '===', '!=', '!==', '<', '<=', '>', '>=', '+', '*', '-', '/', '%'],
  ...['min', 'max', 'in', 'substr', 'cat', 'merge', 'map', 'filter', 'all', 'some', 'none', 'reduce'],
];
