import fc from 'fast-check';
import {
  type Declaration,
  RESERVED_NAMES,
  VARIABLE_TYPES,
  type VariableType,
  type VariableValue,
} from '../../variables/domain/variable';
import type { Operation } from './operation';
import { checkTypes, type DeclaredPaths, type ResolvedOperation, resolvePaths } from './check-operations';

const COINS: Declaration = { scope: 'user', name: 'coins', type: 'number' };
const MOTTO: Declaration = { scope: 'campaign', name: 'motto', type: 'string' };

/** A provider that is as careless as it can be: a plain object, with everything that objects have. */
const CARELESS: Readonly<Record<string, Record<string, Declaration>>> = {
  user: { coins: COINS },
  campaign: { motto: MOTTO },
  app: {},
};
const declarations: DeclaredPaths = { get: (scope, name) => CARELESS[scope]?.[name] };

const set = (path: string): Operation => ({ path, op: 'set', value: 1 });
const refusalOf = (...paths: string[]): any => {
  const resolved = resolvePaths(paths.map(set), declarations);
  return 'refusal' in resolved ? resolved.refusal : undefined;
};

describe('the paths of operations', () => {
  it('lead to the declarations', () => {
    expect(resolvePaths([set('state.user.coins'), set('state.campaign.motto')], declarations)).toEqual({
      operations: [
        { ...set('state.user.coins'), declaration: COINS },
        { ...set('state.campaign.motto'), declaration: MOTTO },
      ],
    });
  });

  it.each([
    ...['state.sessionId', 'state.sid', 'state.version', 'state.__proto__', 'state.constructor', 'state.User'],
    ...['state.user.sessionId', 'state.campaign.session_id', 'state.app.version', 'state.user.__proto__'],
    ...['state.user.constructor', 'state.user.toString', 'state.user.hasOwnProperty', 'state.user.prototype'],
    ...['state.sessionId.x', 'state.user.sessionId.x', 'state.__proto__.polluted', 'state.user.__proto__.polluted'],
  ])('are refused as a system field: %s', (path) => {
    expect(refusalOf(path)).toMatchObject({ code: 'system_field', path, details: [{ path: 'ops[0].path' }] });
  });

  it.each([
    ...['', '.', '..', 'state', 'state.', 'state..', 'state..x', 'state.user', 'state.user.', 'state.user..coins'],
    ...['state.user.gems', 'state.user.Coins', 'state.campaign.coins', 'state.user.coins.x', 'state.user.coins.'],
    ...['user.coins', 'coins', 'State.user.coins', 'state.User.coins', 'state.profile.coins', '.state.user.coins'],
    ...[
      '__proto__',
      '__proto__.user.coins',
      'constructor.prototype.x',
      'state.user.1coins',
      `state.user.${'x'.repeat(101)}`,
    ],
    ...['state.user.coins\n', ' state.user.coins', 'state.user.coins ', 'state/user/coins', 'state.user.*'],
  ])('are refused as an undeclared variable: %j', (path) => {
    expect(refusalOf(path)).toMatchObject({ code: 'undeclared_variable', details: [{ path: 'ops[0].path' }] });
  });

  it('are refused together, under the code and the path of the first', () => {
    const offending = refusalOf('state.user.coins', 'state.user.gems', 'state.sessionId', 'state.campaign.motto', 'x');
    expect(offending).toMatchObject({ code: 'undeclared_variable', path: 'state.user.gems' });
    expect(offending.details.map(({ path, code }: any) => `${path} ${code}`)).toEqual([
      'ops[1].path undeclared_variable',
      'ops[2].path system_field',
      'ops[4].path undeclared_variable',
    ]);
    expect(offending.message).toBe(`${offending.details[0].message} (and 2 more faults)`);
    expect(refusalOf('state.sessionId', 'x')).toMatchObject({ code: 'system_field', path: 'state.sessionId' });
  });

  it('are shown as they were sent where they could be paths, and masked and shortened otherwise', () => {
    const long = `state.user.${'x'.repeat(200)}`;
    expect(refusalOf(long).path).toBe(long);
    expect(refusalOf('').path).toBe('');
    expect(refusalOf('state.user.jane.doe@example.com').path).not.toContain('jane.doe');
    expect(refusalOf('state.user.015112345678').path).not.toContain('0151123');
    expect(refusalOf('state.user.a\u001b[31m\u202e').path).toBe('state.user.a\uFFFD[31m\uFFFD');
    expect(refusalOf(`state.user.-${'x'.repeat(200)}`).path.length).toBeLessThan(80);
    expect(JSON.stringify(refusalOf('state.user.jane.doe@example.com', long).details)).not.toMatch(/jane|xxx/);
  });

  it('have the reserved names of the contract for the system', () => {
    expect([...RESERVED_NAMES].sort()).toEqual(
      [
        ...['sessionId', 'session_id', 'userId', 'user_id', 'campaignId', 'campaign_id', 'appId', 'app_id', 'version'],
        ...['createdAt', 'updatedAt', 'constructor', 'prototype', '__proto__', 'toString', 'valueOf', 'hasOwnProperty'],
      ].sort(),
    );
  });

  it('never make it throw, and resolve only to what is declared under exactly that path', () => {
    const step = fc.constantFrom(
      'state',
      'user',
      'campaign',
      'coins',
      'motto',
      '__proto__',
      'sessionId',
      '',
      'valueOf',
    );
    const path = fc.oneof(
      fc.array(step).map((steps) => steps.join('.')),
      fc.string({ unit: 'binary', maxLength: 256 }),
    );
    fc.assert(
      fc.property(path, (text) => {
        const isDeclared = text === 'state.user.coins' || text === 'state.campaign.motto';
        expect('operations' in resolvePaths([set(text)], declarations)).toBe(isDeclared);
      }),
      { numRuns: 2_000 },
    );
  });
});

const on = (type: VariableType, op: 'set' | 'inc', value: VariableValue): ResolvedOperation =>
  ({ path: 'state.app.x', op, value, declaration: { scope: 'app', name: 'x', type } }) as ResolvedOperation;
const check = (...operations: ResolvedOperation[]): string[] =>
  checkTypes(operations).map(({ path, code }) => `${path} ${code}`);

const SAMPLES: Readonly<Record<VariableType, VariableValue>> = { number: 0, string: '', boolean: false };

describe('checkTypes', () => {
  it.each(VARIABLE_TYPES)('sets %s variables to values of their own type only', (type) => {
    for (const other of VARIABLE_TYPES)
      expect(check(on(type, 'set', SAMPLES[other]))).toEqual(other === type ? [] : ['ops[0].value type']);
  });

  it('does not take a text for the number or boolean that it says', () => {
    expect(check(on('number', 'set', '1'), on('boolean', 'set', 'true'), on('boolean', 'set', 1))).toHaveLength(3);
  });

  it('allows inc and dec on number variables only', () => {
    expect(check(on('number', 'inc', 1))).toEqual([]);
    expect(check(on('string', 'inc', 1), on('boolean', 'inc', 1))).toEqual(['ops[0].op type', 'ops[1].op type']);
  });

  it('names every fault at once, without the values', () => {
    const faults = checkTypes([on('number', 'set', 'secret'), on('number', 'inc', 1), on('string', 'set', true)]);
    expect(faults.map(({ path }) => path)).toEqual(['ops[0].value', 'ops[2].value']);
    expect(JSON.stringify(faults)).not.toContain('secret');
  });
});
