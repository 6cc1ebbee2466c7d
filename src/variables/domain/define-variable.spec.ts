import { formatFault, requiredFault, typeFault } from '../../platform/errors/fault-words';
import {
  definitionFaults,
  effectOf,
  mayLeaveValuesOutside,
  type StoredDefinition,
  type VariableDefinition,
} from './define-variable';
import type { ValueRules } from './variable';

const POINTS: VariableDefinition = { scope: 'user', name: 'points', type: 'number' };

describe('definitionFaults', () => {
  const faultsOf = (input: object, ofShape = [] as Parameters<typeof definitionFaults>[1]): string[] =>
    definitionFaults({ ...POINTS, ...input }, ofShape).map(({ path, code }) => `${path} ${code}`);

  it('finds none with a definition that means what its type says', () => {
    for (const input of [{}, { default: 0 }, { default: null }, { type: 'string', default: '' }]) {
      expect(faultsOf(input)).toEqual([]);
    }
  });

  it.each(['sessionId', 'version', 'constructor', '__proto__', 'hasOwnProperty'])('refuses the name %s', (name) => {
    expect(faultsOf({ name })).toEqual(['name reserved_name']);
  });

  it.each(['SessionId', 'sessionid', 'versions', 'Constructor', 'isPrototypeOf'])('takes the name %s', (name) => {
    expect(faultsOf({ name })).toEqual([]);
  });

  it('holds a default to the type that is declared, or to its own where that is none', () => {
    expect(faultsOf({ default: '1' })).toEqual(['default type']);
    expect(faultsOf({ type: 'none', default: '1' })).toEqual([]);
    expect(faultsOf({ type: 'none', default: Infinity })).toEqual(['default range']);
    expect(faultsOf({ type: 'none', default: [] })).toEqual([]);
  });

  it.each<[object, string[]]>([
    [{ min: 1, max: 1, default: 1 }, []],
    [{ min: -0.5, max: null }, []],
    [{ min: 2, max: 1 }, ['min range']],
    [{ min: 0, default: -1 }, ['default range']],
    [{ max: 0, default: 1 }, ['default range']],
    [{ min: Infinity }, ['min range']],
    [{ max: '1' }, ['max type']],
    [{ type: 'boolean', min: 0, max: 1 }, ['min type', 'max type']],
    [{ period: { every: 'day', timezone: 'Europe/Berlin' } }, []],
    [{ period: { every: 'day', timezone: 'Berlin' } }, ['period.timezone format']],
    [{ period: null }, []],
  ])('holds limits and periods to what is possible: %j', (input, faults) => {
    expect(faultsOf(input)).toEqual(faults);
  });

  it('adds to the faults of the shape, and says better what both find', () => {
    const ofShape = [requiredFault('scope'), formatFault('name', 'x'), typeFault('default', 'anything')];
    expect(faultsOf({ name: '__proto__', default: Infinity }, ofShape)).toEqual([
      'scope required',
      'name reserved_name',
      'default range',
    ]);
  });
});

describe('mayLeaveValuesOutside', () => {
  const DAY = { every: 'day', timezone: 'UTC' } as const;

  it.each<[string, Parameters<typeof mayLeaveValuesOutside>[0], ValueRules, boolean]>([
    ['no limits', { min: 0, max: 1, period: null }, {}, false],
    ['the same limits', { min: 0, max: 1, period: DAY }, { min: 0, max: 1, period: DAY }, false],
    ['wider limits', { min: 0, max: 1, period: null }, { min: -1 }, false],
    ['a first limit', { min: null, max: null, period: null }, { max: 1 }, true],
    ['a higher min', { min: 0, max: null, period: null }, { min: 1 }, true],
    ['a lower max', { min: null, max: 2, period: null }, { max: 1 }, true],
    ['the same limits without the period', { min: null, max: 2, period: DAY }, { max: 2 }, true],
    ['limits of values of other campaigns', null, { max: 2 }, true],
  ])('%s', (_what, stored, rules, may) => {
    expect(mayLeaveValuesOutside(stored, rules)).toBe(may);
  });
});

describe('effectOf', () => {
  const NO_RULES = { min: null, max: null, period: null };
  const stored: StoredDefinition = {
    type: 'number',
    defaultValue: 1,
    description: 'one',
    ...NO_RULES,
    archivedAt: null,
  };
  const same: VariableDefinition = { ...POINTS, default: 1, description: 'one' };
  const archivedAt = new Date(0);

  it.each<[string, StoredDefinition | null, VariableDefinition, string]>([
    ['the first definition', null, POINTS, 'add'],
    ['what is so already', stored, same, 'none'],
    ['nothing set, as before', { ...stored, defaultValue: null, description: null }, POINTS, 'none'],
    ['another default', stored, { ...same, default: 2 }, 'change'],
    ['another description', stored, { ...same, description: '' }, 'change'],
    ['no default any more', stored, { ...POINTS, description: 'one' }, 'change'],
    [
      'a default that is false, where there was none',
      { ...stored, defaultValue: null },
      { ...same, default: 0 },
      'change',
    ],
    ['another type', stored, { ...same, type: 'string', default: '1' }, 'conflict'],
    ['what is archived, as it was', { ...stored, archivedAt }, same, 'add'],
    ['what is archived, with another type', { ...stored, archivedAt }, { ...POINTS, type: 'boolean' }, 'conflict'],
  ])('tells what a definition does: %s', (_words, before, wanted, effect) => {
    expect(effectOf(before, wanted)).toBe(effect);
  });
});
