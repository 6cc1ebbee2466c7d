import fc from 'fast-check';
import type { Declaration, VariableScope, VariableValue } from '../../variables/domain/variable';
import { applyOperations, type AppliedOperations, type ChangedValue } from './apply-operations';
import { NUMBER_MAX } from '../../variables/domain/value-type';
import type { MutationEntry } from './mutation-work';
import type { Operation } from './operation';
import { resolvePaths, type ResolvedOperation } from './check-operations';
import { PeriodValue, stateTree, type StateValues, type StoredValue } from './state-tree';

const DECLARATIONS: readonly Declaration[] = [
  { scope: 'user', name: 'coins', type: 'number' },
  { scope: 'user', name: 'level', type: 'number', default: 1 },
  { scope: 'user', name: 'motto', type: 'string', default: 'go' },
  { scope: 'campaign', name: 'coins', type: 'number', default: 0.25 },
  { scope: 'campaign', name: 'open', type: 'boolean' },
  { scope: 'app', name: 'valueOf2', type: 'string' },
];
const LIMITED: readonly Declaration[] = [
  { scope: 'user', name: 'lives', type: 'number', default: 3, min: 0, max: 3 },
  { scope: 'app', name: 'daily', type: 'number', default: 5, period: { every: 'day', timezone: 'UTC' } },
];
const DECLARED_IN = { of: (scope: VariableScope) => DECLARATIONS.filter((each) => each.scope === scope) };
const EMPTY: StateValues = { user: new Map(), campaign: new Map(), app: new Map() };

function resolved(operations: readonly Operation[]): readonly ResolvedOperation[] {
  const get = (scope: VariableScope, name: string): Declaration | undefined =>
    [...DECLARATIONS, ...LIMITED].find((each) => each.scope === scope && each.name === name);
  const result = resolvePaths(operations, { get });
  if ('refusal' in result) throw new Error(result.refusal.message);
  return result.operations;
}

function apply(operations: readonly Operation[], values = EMPTY): AppliedOperations {
  const result = applyOperations(resolved(operations), values, 0);
  if ('refused' in result) throw new Error(JSON.stringify(result.refused));
  return result;
}

function faultsOf(operations: readonly Operation[], values = EMPTY): string[] {
  const result = applyOperations(resolved(operations), values, 0);
  return 'refused' in result ? result.refused.faults.map(({ path, code }) => `${path} ${code}`) : [];
}

/** What is stored after a mutation. */
function stored(values: StateValues, changed: readonly ChangedValue[]): StateValues {
  const next = { user: new Map(values.user), campaign: new Map(values.campaign), app: new Map(values.app) };
  for (const { scope, name, value } of changed) next[scope].set(name, value);
  return next;
}

const shown = (values: StateValues): unknown => JSON.parse(JSON.stringify(stateTree(DECLARED_IN, values, 0)));
const op = (kind: Operation['op'], path: string, value: VariableValue): Operation =>
  ({ op: kind, path: `state.${path}`, value }) as Operation;

describe('applyOperations', () => {
  it('applies in order, each on what the one before left', () => {
    const applied = apply([
      op('set', 'user.coins', 10),
      op('inc', 'user.coins', 0.1),
      op('set', 'user.motto', 'stay'),
      op('dec', 'user.coins', 0.3),
    ]);
    expect(applied.mutations).toEqual([
      { path: 'state.user.coins', previous: null, current: 10 },
      { path: 'state.user.coins', previous: 10, current: 10.1 },
      { path: 'state.user.motto', previous: 'go', current: 'stay' },
      { path: 'state.user.coins', previous: 10.1, current: 9.8 },
    ]);
    expect(applied.changed).toEqual([
      { scope: 'user', name: 'coins', value: 9.8 },
      { scope: 'user', name: 'motto', value: 'stay' },
    ]);
  });

  it('starts inc and dec from the value, else the default, else 0', () => {
    const at = { ...EMPTY, user: new Map([['level', 0]]) };
    expect(apply([op('inc', 'user.level', 1)], at).mutations[0]).toMatchObject({ previous: 0, current: 1 });
    expect(apply([op('inc', 'user.level', 1)]).mutations[0]).toMatchObject({ previous: 1, current: 2 });
    expect(apply([op('dec', 'user.coins', 2)]).mutations[0]).toMatchObject({ previous: null, current: -2 });
  });

  it('takes 0, false and the empty text for values, not for absent ones', () => {
    const values: StateValues = { ...EMPTY, user: new Map<string, VariableValue>([['motto', '']]) };
    expect(apply([op('set', 'user.motto', 'x')], values).mutations[0]).toMatchObject({ previous: '' });
    const twice = apply([op('set', 'campaign.open', false), op('set', 'campaign.open', true)]);
    expect(twice.mutations[1]).toMatchObject({ previous: false, current: true });
    const level = apply([op('set', 'user.level', 0), op('inc', 'user.level', 5)]);
    expect(level.mutations[1]).toMatchObject({ previous: 0, current: 5 });
  });

  it('writes a value that equals the default or the value, so that a later default does not change it', () => {
    expect(apply([op('set', 'user.level', 1)])).toEqual({
      mutations: [{ path: 'state.user.level', previous: 1, current: 1 }],
      periodStarts: [null],
      changed: [{ scope: 'user', name: 'level', value: 1 }],
      isClamped: false,
    });
    expect(apply([op('inc', 'user.coins', 0)]).changed).toEqual([{ scope: 'user', name: 'coins', value: 0 }]);
  });

  it('keeps the same name in two scopes apart', () => {
    const applied = apply([op('set', 'user.coins', 5), op('inc', 'campaign.coins', 1)]);
    expect(applied.mutations[1]).toMatchObject({ previous: 0.25, current: 1.25 });
    expect(applied.changed).toHaveLength(2);
  });

  it('refuses a result beyond ±2^53, naming the operation', () => {
    expect(faultsOf([op('set', 'user.coins', NUMBER_MAX), op('inc', 'user.coins', 1)])).toEqual(['ops[1] range']);
    expect(faultsOf([op('dec', 'user.coins', NUMBER_MAX), op('dec', 'user.coins', 0.5)])).toEqual(['ops[1] range']);
    expect(faultsOf([op('inc', 'user.coins', NUMBER_MAX - 1), op('inc', 'user.coins', 1)])).toEqual([]);
  });

  it('names every operation that leads too far, but not what only follows from one', () => {
    const tooFar = (path: string): Operation[] => [op('set', path, NUMBER_MAX), op('inc', path, 1)];
    const faults = faultsOf([
      ...[...tooFar('user.coins'), op('inc', 'user.coins', 9)],
      ...tooFar('campaign.coins'),
      ...[op('set', 'user.coins', 1), op('inc', 'user.coins', 1), op('inc', 'user.coins', NUMBER_MAX)],
    ]);
    expect(faults).toEqual(['ops[1] range', 'ops[4] range', 'ops[7] range']);
  });

  it('refuses each operation that leaves the limits, also if a later one would bring the value back', () => {
    const faults = (...operations: Operation[]): string[] => faultsOf(operations);
    expect(faults(op('set', 'user.lives', 3), op('dec', 'user.lives', 3))).toEqual([]);
    expect(faults(op('inc', 'user.lives', 1), op('dec', 'user.lives', 1))).toEqual(['ops[0] limit_reached']);
    expect(faults(op('dec', 'user.lives', 4), op('set', 'user.lives', 4))).toEqual([
      ...['ops[0] limit_reached', 'ops[1] limit_reached'],
    ]);
    // Invalid operations are named first.
    expect(faults(op('set', 'user.lives', 4), op('inc', 'user.coins', NUMBER_MAX), op('inc', 'user.coins', 1))).toEqual(
      ['ops[2] range'],
    );
  });

  it('moves a value to the limit that an operation with onLimit would pass, even beyond ±2^53', () => {
    const clamped = (operation: Operation): unknown => {
      const { mutations, isClamped } = apply([{ ...operation, onLimit: 'clamp' }]);
      return [mutations[0]?.current, isClamped];
    };
    expect(clamped(op('inc', 'user.lives', NUMBER_MAX))).toEqual([3, true]);
    expect(clamped(op('inc', 'user.lives', -NUMBER_MAX))).toEqual([0, true]);
    expect(clamped(op('dec', 'user.lives', NUMBER_MAX))).toEqual([0, true]);
    expect(clamped(op('set', 'user.lives', 9))).toEqual([3, true]);
    expect(clamped(op('dec', 'user.lives', 1))).toEqual([2, false]);
    expect(
      faultsOf([op('set', 'user.coins', 1), { ...op('inc', 'user.coins', NUMBER_MAX), onLimit: 'clamp' }]),
    ).toEqual(['ops[1] range']);
  });

  it('stores the value of a variable with a period along with the beginning of its period', () => {
    const DAY_MS = 24 * 60 * 60 * 1000;
    const at = 3 * DAY_MS + 7;
    const on = (stored: PeriodValue | number) => {
      const values: StateValues = { ...EMPTY, app: new Map<string, StoredValue>([['daily', stored]]) };
      const result = applyOperations(resolved([op('inc', 'app.daily', 1)]), values, at);
      return 'refused' in result ? [] : [result.mutations[0]?.previous, result.changed[0]?.value];
    };
    expect(on(new PeriodValue(7, 3 * DAY_MS))).toEqual([7, new PeriodValue(8, 3 * DAY_MS)]);
    expect(on(new PeriodValue(7, 2 * DAY_MS))).toEqual([5, new PeriodValue(6, 3 * DAY_MS)]);
    expect(on(7)).toEqual([5, new PeriodValue(6, 3 * DAY_MS)]);
    expect(on(new PeriodValue(7, 5 * DAY_MS))).toEqual([7, new PeriodValue(8, 5 * DAY_MS)]);
  });

  it('throws for operations that were not checked', () => {
    expect(() => apply([op('inc', 'user.motto', 1)])).toThrow('was not refused');
  });
});

/* The model: money counted in millionths by whole numbers, in a plain list of what was stored. */

type ModelValue = bigint | string | boolean;
const MILLIONTHS: Readonly<Record<string, bigint>> = {
  'state.user.level': 1_000_000n,
  'state.campaign.coins': 250_000n,
};
const TEXTS: Readonly<Record<string, string>> = { 'state.user.motto': 'go' };

const numberOf = (millionths: bigint): number => Number(`${millionths}e-6`);
const wire = (value: ModelValue | undefined): VariableValue | null =>
  typeof value === 'bigint' ? numberOf(value) : (value ?? null);

interface ModelOperation {
  readonly operation: Operation;
  readonly value: ModelValue;
}

function runModel(state: Map<string, ModelValue>, operations: readonly ModelOperation[]): MutationEntry[] {
  return operations.map(({ operation: { op: kind, path }, value }) => {
    const before = state.get(path) ?? MILLIONTHS[path] ?? TEXTS[path];
    const base = typeof before === 'bigint' ? before : 0n;
    const by = typeof value === 'bigint' ? value : 0n;
    const after = kind === 'set' ? value : kind === 'inc' ? base + by : base - by;
    state.set(path, after);
    return { path, previous: wire(before), current: wire(after)! };
  });
}

const millionths = fc
  .tuple(fc.bigInt({ min: -999_999n, max: 999_999n }), fc.constantFrom(1n, 100n, 10_000n, 1_000_000n))
  .map(([digits, unit]) => digits * unit);
const modelOperation: fc.Arbitrary<ModelOperation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        kind: fc.constantFrom('set' as const, 'inc' as const, 'inc' as const, 'dec' as const),
        path: fc.constantFrom('user.coins', 'user.level', 'campaign.coins'),
        value: millionths,
      })
      .map(({ kind, path, value }) => ({ operation: op(kind, path, numberOf(value)), value })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('user.motto', 'app.valueOf2'), fc.string())
      .map(([path, value]) => ({ operation: op('set', path, value), value })),
  },
  {
    weight: 1,
    arbitrary: fc.boolean().map((value) => ({ operation: op('set', 'campaign.open', value), value })),
  },
);
const mutation = fc.array(modelOperation, { minLength: 1, maxLength: 30 });
const onlyOperations = (operations: readonly ModelOperation[]): Operation[] => operations.map((each) => each.operation);

describe('any sequence of mutations', () => {
  it('tells the same previous and current as counting in millionths, and a read then shows each last current', () => {
    fc.assert(
      fc.property(fc.array(mutation, { maxLength: 8 }), (mutations) => {
        const model = new Map<string, ModelValue>();
        const last = new Map<string, VariableValue>();
        let values = EMPTY;
        for (const operations of mutations) {
          const applied = apply(onlyOperations(operations), values);
          expect(applied.mutations).toEqual(runModel(model, operations));
          for (const { path, current } of applied.mutations) last.set(path, current);
          values = stored(values, applied.changed);
        }
        const tree = stateTree(DECLARED_IN, values, 0);
        for (const { scope, name, default: fallback = null } of DECLARATIONS) {
          expect(tree[scope][name]).toBe(last.get(`state.${scope}.${name}`) ?? fallback);
          expect(values[scope].has(name)).toBe(last.has(`state.${scope}.${name}`));
        }
      }),
    );
  });

  it('has no effect at all, wherever one of its operations leads too far', () => {
    fc.assert(
      fc.property(mutation, mutation, fc.nat(), (before, operations, seed) => {
        const values = stored(EMPTY, apply(onlyOperations(before)).changed);
        const was = structuredClone(values);
        const at = seed % (operations.length + 1);
        const tooFar = op('inc', 'user.coins', NUMBER_MAX);
        const [start, end] = [operations.slice(0, at), operations.slice(at)].map(onlyOperations);
        const spoiled = [...start!, op('set', 'user.coins', 1), tooFar, ...end!];
        expect(faultsOf(spoiled, values)).toEqual([`ops[${at + 1}] range`]);
        expect(values).toEqual(was);
        apply(onlyOperations(operations), values);
        expect(values).toEqual(was);
        expect(shown(values)).toEqual(shown(was));
      }),
    );
  });

  it('makes one chain of previous and current of a counter that many participants change in any order', () => {
    const steps = fc.array(fc.tuple(fc.nat(9), fc.constantFrom('inc' as const, 'dec' as const), millionths), {
      minLength: 1,
      maxLength: 60,
    });
    fc.assert(
      fc.property(steps, (turns) => {
        const own = new Map<number, StateValues['user']>();
        let campaign: StateValues['campaign'] = new Map();
        let tail: VariableValue | null = 0.25;
        let sum = 250_000n;
        for (const [participant, kind, by] of turns) {
          const values = { user: own.get(participant) ?? new Map<string, VariableValue>(), campaign, app: EMPTY.app };
          const turn = [op(kind, 'campaign.coins', numberOf(by)), op('inc', 'user.coins', 1)];
          const { mutations, changed } = apply(turn, values);
          expect(mutations[0]?.previous).toBe(tail);
          tail = mutations[0]!.current;
          sum += kind === 'inc' ? by : -by;
          const next = stored(values, changed);
          own.set(participant, next.user);
          campaign = next.campaign;
        }
        expect(campaign.get('coins')).toBe(numberOf(sum));
        for (const [participant, user] of own)
          expect(user.get('coins')).toBe(turns.filter(([of]) => of === participant).length);
      }),
    );
  });
});
