import fc from 'fast-check';
import { Declarations } from '../../variables/domain/declarations';
import { declarationFaults, operationsFor, parseReactionOperations } from './reaction-operations';

const DECLARED = Declarations.from([
  { scope: 'user', name: 'points', type: 'number' },
  { scope: 'campaign', name: 'note', type: 'string' },
  { scope: 'app', name: 'open', type: 'boolean' },
]);
const op = (fields: object): object => ({ path: 'state.user.points', op: 'inc', ...fields });
const faultsOf = (ops: unknown): string[] => {
  const parsed = parseReactionOperations(ops);
  return 'faults' in parsed ? parsed.faults.map(({ path, code }) => `${path} ${code}`) : [];
};

describe('the operations of a reaction', () => {
  it('are those that were sent, each with a value or where to find it', () => {
    const ops = [
      op({ value: 1 }),
      op({ valueFrom: 'properties.n' }),
      op({ op: 'set', valueFrom: 'source', value: null }),
    ];
    expect(parseReactionOperations(ops)).toEqual({
      ops: [op({ value: 1 }), op({ valueFrom: 'properties.n' }), op({ op: 'set', valueFrom: 'source' })],
    });
    const clamped = [op({ value: 1, onLimit: 'clamp' }), op({ valueFrom: 'source', onLimit: null })];
    expect(parseReactionOperations(clamped)).toEqual({
      ops: [op({ value: 1, onLimit: 'clamp' }), op({ valueFrom: 'source' })],
    });
  });

  it.each<[unknown, string[]]>([
    [undefined, ['ops required']],
    [[op({})], ['ops[0].value required']],
    [[op({ valueFrom: null })], ['ops[0].value required']],
    [[op({ value: 1, valueFrom: 'source' })], ['ops[0].valueFrom conflicting_fields']],
    [[op({ value: 1 }), op({ valueFrom: 7 })], ['ops[1].valueFrom type']],
    [[op({ op: 'push', valueFrom: 'x' })], ['ops[0].op enum', 'ops[0].valueFrom format']],
    [[op({ value: 'x' })], ['ops[0].value type']],
    [[op({ op: 'set', value: {} })], ['ops[0].value type']],
    [[op({ value: 1, from: 'x' })], ['ops[0].from unknown_field']],
    [[op({ value: 1, onLimit: 'skip' })], ['ops[0].onLimit enum']],
    [[op({ value: 1, onLimit: 1 })], ['ops[0].onLimit type']],
  ])('%j are refused', (ops, faults) => {
    expect(faultsOf(ops)).toEqual(faults);
  });

  it('of any JSON value are operations or faults', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (ops) => {
        const parsed = parseReactionOperations(ops);
        if ('faults' in parsed) expect(parsed.faults).not.toEqual([]);
      }),
    );
  });

  it('must fit what the campaign declares: every path, then every type that is known', () => {
    const codes = (ops: unknown): string[] => {
      const parsed = parseReactionOperations(ops);
      if ('faults' in parsed) throw new Error('not read');
      return declarationFaults(parsed.ops, DECLARED).map(({ path, code }) => `${path} ${code}`);
    };
    const note = 'state.campaign.note';
    expect(
      codes([op({ valueFrom: 'properties.n' }), op({ path: 'state.app.open', op: 'set', valueFrom: 'source' })]),
    ).toEqual([]);
    expect(
      codes([op({ path: 'state.user.none', value: 1 }), op({ path: 'state.userId', valueFrom: 'source' })]),
    ).toEqual([...['ops[0].path undeclared_variable', 'ops[1].path system_field']]);
    expect(codes([op({ path: note, valueFrom: 'properties.n' }), op({ path: note, op: 'set', value: 1 })])).toEqual([
      ...['ops[0].op type', 'ops[1].value type'],
    ]);
  });
});

describe('the operations for one event', () => {
  const found = (value: unknown, kind = 'set'): unknown => {
    const record = () => ({ properties: { value } });
    const result = operationsFor([{ path: 'p', op: kind as 'set', valueFrom: 'properties.value' }], record);
    return 'faults' in result ? result.faults.map(({ path, code }) => `${path} ${code}`) : result.operations[0]!.value;
  };

  it.each([1, 0.1, 'text', '', true, false])('have its value: %j', (value) => {
    expect(found(value)).toBe(value);
  });

  it.each<[unknown, string, string]>([
    [undefined, 'set', 'required'],
    [null, 'set', 'required'],
    [{}, 'set', 'type'],
    [[1], 'set', 'type'],
    ['7', 'inc', 'type'],
    [true, 'dec', 'type'],
    [2 ** 53 + 2, 'inc', 'range'],
    [2 ** 60, 'set', 'range'],
    ['x'.repeat(4_097), 'set', 'too_large'],
  ])('have none that no variable can hold: %j', (value, kind, code) => {
    expect(found(value, kind)).toEqual([`ops[0].valueFrom ${code}`]);
  });

  it('do not look at the event where every value is written down', () => {
    const look = jest.fn();
    expect(operationsFor([{ path: 'p', op: 'inc', value: 1 }], look)).toEqual({
      operations: [{ path: 'p', op: 'inc', value: 1 }],
    });
    expect(look).not.toHaveBeenCalled();
  });
});
