import type { Declaration } from '../../variables/domain/variable';
import {
  stateTree as readDeclared,
  shownValue,
  valuesOf,
  documentOf,
  PeriodValue,
  type StateTree,
  type StateValues,
} from './state-tree';

const EMPTY: StateValues = { user: new Map(), campaign: new Map(), app: new Map() };
const PERIOD_START = Date.UTC(2026, 10, 23);
const LEVEL: Declaration = { scope: 'user', name: 'level', type: 'number', default: 1 };
const MOTTO: Declaration = { scope: 'campaign', name: 'motto', type: 'string' };

const readState = (declarations: readonly Declaration[], values: StateValues): StateTree =>
  readDeclared({ of: (scope) => declarations.filter((each) => each.scope === scope) }, values, 0);

describe('readState', () => {
  it('has the three branches, whatever is declared', () => {
    expect(JSON.stringify(readState([], EMPTY))).toBe('{"user":{},"campaign":{},"app":{}}');
  });

  it('shows a value, else the default, else null', () => {
    expect(readState([LEVEL, MOTTO], EMPTY)).toEqual({ user: { level: 1 }, campaign: { motto: null }, app: {} });
    const values = { ...EMPTY, user: new Map([['level', 7]]), campaign: new Map([['motto', 'go']]) };
    expect(readState([LEVEL, MOTTO], values)).toEqual({ user: { level: 7 }, campaign: { motto: 'go' }, app: {} });
  });

  it('takes 0, false and the empty text for values', () => {
    const declarations: Declaration[] = [
      LEVEL,
      { scope: 'app', name: 'open', type: 'boolean', default: true },
      { scope: 'campaign', name: 'motto', type: 'string', default: 'go' },
    ];
    const values: StateValues = {
      user: new Map([['level', 0]]),
      campaign: new Map([['motto', '']]),
      app: new Map([['open', false]]),
    };
    expect(readState(declarations, values)).toEqual({
      user: { level: 0 },
      campaign: { motto: '' },
      app: { open: false },
    });
  });

  it('keeps the branches apart: the same name in each is another variable', () => {
    const declarations = (['user', 'campaign', 'app'] as const).map((scope): Declaration => ({
      scope,
      name: 'x',
      type: 'string',
    }));
    const values = { user: new Map([['x', 'u']]), campaign: new Map([['x', 'c']]), app: new Map([['x', 'a']]) };
    expect(readState(declarations, values)).toEqual({ user: { x: 'u' }, campaign: { x: 'c' }, app: { x: 'a' } });
  });

  it('shows neither what is not declared nor what is the system’s', () => {
    const document = { values: { level: 2, archived: 'x' }, periods: null, system: { sessionId: 's-1' } };
    const state = readState([LEVEL], { ...EMPTY, user: valuesOf(document) });
    expect(JSON.stringify(state)).toBe('{"user":{"level":2},"campaign":{},"app":{}}');
  });

  it.each(['__proto__', 'constructor', 'valueOf', 'toString', 'hasOwnProperty', 'toJSON'])(
    'shows a variable called %s like any other, also where it has no value',
    (name) => {
      const declaration: Declaration = { scope: 'user', name, type: 'number' };
      const stored = JSON.parse(`{"${name}":5}`) as Record<string, number>;
      const values = { ...EMPTY, user: valuesOf({ values: stored, periods: null }) };
      expect(JSON.stringify(readState([declaration], values).user)).toBe(`{"${name}":5}`);
      const none = { ...EMPTY, user: valuesOf({ values: {}, periods: null }) };
      expect(JSON.stringify(readState([declaration], none).user)).toBe(`{"${name}":null}`);
    },
  );

  it.each([
    [PERIOD_START, 7],
    [PERIOD_START - 1, 1],
    // Of a node whose clock was ahead.
    [PERIOD_START + 1, 7],
    [undefined, 1],
  ])('shows the value of a period that did not begin before the current one: %j', (periodStart, shown) => {
    const declaration: Declaration = { ...LEVEL, period: { every: 'day', timezone: 'UTC' } };
    const stored = periodStart === undefined ? 7 : new PeriodValue(7, periodStart);
    expect(shownValue(declaration, stored, PERIOD_START + 5)).toBe(shown);
    // Without a period every value counts.
    expect(shownValue(LEVEL, stored, PERIOD_START + 5)).toBe(7);
  });

  it('reads documents as they are written', () => {
    const documents = [
      { values: { a: 1, b: 'x' }, periods: null },
      { values: { a: 1, b: 'x' }, periods: { a: PERIOD_START } },
    ];
    for (const document of documents) expect(documentOf(valuesOf(document))).toEqual(document);
  });

  it('stops at a stored value of another type, without repeating it', () => {
    expect(() => shownValue(LEVEL, 'secret', 0)).toThrow('state.user.level is a string, but it is declared as number');
    expect(() => readState([LEVEL], { ...EMPTY, user: new Map([['level', true]]) })).toThrow();
  });
});
