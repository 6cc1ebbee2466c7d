import { byScopeAndName, Declarations } from './declarations';
import { type Declaration, VARIABLE_SCOPES } from './variable';

const POINTS: Declaration = { scope: 'user', name: 'points', type: 'number', default: 0 };
const VIP: Declaration = { scope: 'user', name: 'Vip', type: 'boolean' };
const TOTAL: Declaration = { scope: 'app', name: 'points', type: 'string' };

describe('Declarations', () => {
  const declarations = Declarations.from([TOTAL, POINTS, VIP]);

  it('gives a variable by its scope and name, and of another scope or name none', () => {
    expect([declarations.get('user', 'points'), declarations.get('app', 'points')]).toEqual([POINTS, TOTAL]);
    expect([declarations.get('campaign', 'points'), declarations.get('user', 'vip')]).toEqual([undefined, undefined]);
  });

  it('gives those of a scope by name, capitals first', () => {
    expect(VARIABLE_SCOPES.map((scope) => declarations.of(scope))).toEqual([[VIP, POINTS], [], [TOTAL]]);
  });

  it.each([
    'hasOwnProperty',
    '__proto__',
    'constructor',
    'toString',
    'valueOf',
    'get',
    'size',
    '',
    '0',
    'points\u0000',
  ])('has no %j unless it is declared', (name) => {
    for (const each of [declarations, Declarations.NONE]) {
      expect(VARIABLE_SCOPES.map((scope) => each.get(scope, name))).toEqual([undefined, undefined, undefined]);
      expect(each.get(name as 'user', 'points')).toBeUndefined();
      expect(each.of(name as 'user')).toEqual([]);
    }
  });

  it('are the same empty ones for every campaign without any', () => {
    expect(Declarations.from([])).toBe(Declarations.NONE);
    expect(VARIABLE_SCOPES.map((scope) => Declarations.NONE.of(scope))).toEqual([[], [], []]);
  });

  it('that are updated have the rules of the current ones, and none that are new there', () => {
    const current = Declarations.from(
      [
        { ...POINTS, max: 3 },
        { ...VIP, name: 'new' },
      ],
      '7',
    );
    const updated = Declarations.from([POINTS, VIP], '6').updatedBy(current);
    expect(updated.version).toBe('7');
    expect(VARIABLE_SCOPES.map((scope) => updated.of(scope))).toEqual([[{ ...POINTS, max: 3 }], [], []]);
  });

  it('do not change with the list that they were made from', () => {
    const list = [POINTS];
    const made = Declarations.from(list);
    list.push(VIP);
    expect([made.of('user'), made.get('user', 'Vip')]).toEqual([[POINTS], undefined]);
  });
});

describe('byScopeAndName', () => {
  it('orders by user, campaign, app, then by name, whatever the order before', () => {
    const campaign: Declaration = { ...POINTS, scope: 'campaign' };
    const wanted = [VIP, POINTS, campaign, TOTAL];
    expect(wanted.toReversed().sort(byScopeAndName)).toEqual(wanted);
    expect(byScopeAndName(POINTS, POINTS)).toBe(0);
  });
});
