import fc from 'fast-check';
import type { Declaration, VariableScope } from '../../variables/domain/variable';
import { parseExactly } from '../../platform/values/json/parse-exactly';
import { applyOperations } from './apply-operations';
import { checkTypes, type DeclaredPaths, resolvePaths } from './check-operations';
import { parseOperations } from './operation';
import { stateTree, type StateValues } from './state-tree';

/* The rules one after the other, in the contract's order (section 8): shape, paths, types, apply. */

const DECLARED: readonly Declaration[] = [
  { scope: 'user', name: 'coins', type: 'number', default: 5 },
  { scope: 'user', name: 'motto', type: 'string' },
  { scope: 'app', name: 'open', type: 'boolean' },
];
const declarations: DeclaredPaths = {
  get: (scope: VariableScope, name: string) => DECLARED.find((each) => each.scope === scope && each.name === name),
};
const DECLARED_IN = { of: (scope: VariableScope) => DECLARED.filter((each) => each.scope === scope) };
const values = (): StateValues => ({ user: new Map([['coins', 2 ** 53]]), campaign: new Map(), app: new Map() });

/** `status faults`, as a client would meet them. */
function mutate(ops: unknown, on: StateValues): string {
  const parsed = parseOperations(ops);
  const list = (faults: readonly { path: string; code: string }[]): string =>
    faults.map(({ path, code }) => ` ${path}:${code}`).join('');
  if ('faults' in parsed) return `422${list(parsed.faults)}`;
  const resolved = resolvePaths(parsed.operations, declarations);
  if ('refusal' in resolved) return `400 ${resolved.refusal.code}${list(resolved.refusal.details)}`;
  const mistyped = checkTypes(resolved.operations);
  if (mistyped.length > 0) return `422${list(mistyped)}`;
  const applied = applyOperations(resolved.operations, on, 0);
  return 'refused' in applied ? `422${list(applied.refused.faults)}` : `200 ${JSON.stringify(applied.mutations)}`;
}
const one = (path: string, op: string, value: string): string =>
  mutate(parseExactly(`[{"path":${JSON.stringify(path)},"op":"${op}","value":${value}}]`), values());

const PATHS: readonly [string, string][] = [
  ...['state.sessionId', 'state.user.sessionId', 'state.__proto__', 'state.user.__proto__', 'state.constructor'].map(
    (path): [string, string] => [path, '400 system_field ops[0].path:system_field'],
  ),
  ...['state.user.constructor', 'state.user.valueOf', 'state.user.hasOwnProperty', 'state.user.prototype'].map(
    (path): [string, string] => [path, '400 system_field ops[0].path:system_field'],
  ),
  ...[
    '',
    'state',
    'state.',
    'state..x',
    'state.user',
    'state.user.x.y',
    'state.user.coins.',
    '__proto__',
    'constructor',
  ].map((path): [string, string] => [path, '400 undeclared_variable ops[0].path:undeclared_variable']),
  ['x'.repeat(257), '422 ops[0].path:too_long'],
  ['state.user.\u0000', '422 ops[0].path:invalid_characters'],
];
const VALUES: readonly [string, string][] = [
  ...['1e999', '-1e999', '9'.repeat(400), '9007199254740994', '-9007199254740994'].map((value): [string, string] => [
    value,
    '422 ops[0].value:range',
  ]),
  ...['[]', '{}', '[1]', '{"__proto__":1}'].map((value): [string, string] => [value, '422 ops[0].value:type']),
  ['null', '422 ops[0].value:required'],
  [JSON.stringify('x'.repeat(4097)), '422 ops[0].value:too_large'],
  ['"\\u0000"', '422 ops[0].value:invalid_characters'],
  ['"\\ud800"', '422 ops[0].value:invalid_characters'],
  ['"1"', '422 ops[0].value:type'],
  ['""', '422 ops[0].value:type'],
  ['true', '422 ops[0].value:type'],
  ['9007199254740993', '422 ops[0].value:range'],
  [`0.${'0'.repeat(400)}1`, '422 ops[0].value:range'],
  ['0.1234567890123456789', '422 ops[0].value:range'],
  ['-9007199254740992', '200 [{"path":"state.user.coins","previous":9007199254740992,"current":-9007199254740992}]'],
];

describe('a mutation', () => {
  it.each(PATHS)('to the path %j is refused with its own code', (path, answer) => {
    expect(one(path, 'set', '1')).toBe(answer);
  });

  it.each(VALUES)('that sets a number to %.30s is answered with its own code', (value, answer) => {
    expect(one('state.user.coins', 'set', value)).toBe(answer);
  });

  it('is refused for its shape before its paths, for its paths before its types, and for those before its result', () => {
    const shape = { path: 'state.user.coins', op: 'mul', value: 1 };
    const path = { path: 'state.user.gems', op: 'set', value: 1 };
    const type = { path: 'state.user.motto', op: 'set', value: 1 };
    const result = { path: 'state.user.coins', op: 'inc', value: 2 };
    expect(mutate([result, type, path, shape], values())).toBe('422 ops[3].op:enum');
    expect(mutate([result, type, path], values())).toBe('400 undeclared_variable ops[2].path:undeclared_variable');
    expect(mutate([result, type], values())).toBe('422 ops[1].value:type');
    expect(mutate([result], values())).toBe('422 ops[0]:range');
  });

  it('never throws, pollutes no prototype and leaves what is stored as it was, whatever is sent', () => {
    const scopes = ['user', 'app', 'campaign', '__proto__', 'sessionId', ''];
    const names = ['coins', 'motto', 'open', '__proto__', 'constructor', 'toString', '', 'x.y'];
    const path = fc
      .tuple(fc.constantFrom(...scopes), fc.constantFrom(...names))
      .map(([scope, name]) => `state.${scope}.${name}`);
    const numbers = fc.constantFrom(NaN, Infinity, -Infinity, 2 ** 53, 2 ** 53 + 2, -0, 5e-324, 1e308);
    const entry = fc.record({
      path: fc.oneof({ weight: 5, arbitrary: path }, fc.string({ unit: 'binary' })),
      op: fc.constantFrom('set', 'inc', 'dec', '__proto__'),
      value: fc.oneof(numbers, fc.double(), fc.boolean(), fc.string({ unit: 'binary' }), fc.constantFrom(null, [], {})),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 4 }), (ops) => {
        const stored = values();
        const was = structuredClone(stored);
        const before = Object.getOwnPropertyNames(Object.prototype).length;
        expect(mutate(ops, stored)).toMatch(/^(?:200 \[\{|422 ops|400 (?:system_field|undeclared_variable) ops)/);
        expect(stored).toEqual(was);
        expect(stateTree(DECLARED_IN, stored, 0)).toEqual(stateTree(DECLARED_IN, was, 0));
        expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before);
      }),
      { numRuns: 3_000 },
    );
  });
});
