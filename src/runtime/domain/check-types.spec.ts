import { VARIABLE_TYPES, type VariableType, type VariableValue } from '../../variables/domain/variable';
import { checkTypes } from './check-types';
import type { ResolvedOperation } from './resolve-paths';

const on = (type: VariableType, op: 'set' | 'inc', value: VariableValue): ResolvedOperation =>
  ({ path: 'state.app.x', op, value, declaration: { scope: 'app', name: 'x', type } }) as ResolvedOperation;
const check = (...operations: ResolvedOperation[]): string[] =>
  checkTypes(operations).map(({ path, code }) => `${path} ${code}`);

const SAMPLES: Readonly<Record<VariableType, VariableValue>> = { number: 0, string: '', boolean: false };

describe('checkTypes', () => {
  it.each(VARIABLE_TYPES)('lets %s variables be set to their own type only', (type) => {
    for (const other of VARIABLE_TYPES)
      expect(check(on(type, 'set', SAMPLES[other]))).toEqual(other === type ? [] : ['ops[0].value type']);
  });

  it('does not take a text for the number or boolean that it says', () => {
    expect(check(on('number', 'set', '1'), on('boolean', 'set', 'true'), on('boolean', 'set', 1))).toHaveLength(3);
  });

  it('lets number variables be changed by inc and dec, and no others', () => {
    expect(check(on('number', 'inc', 1))).toEqual([]);
    expect(check(on('string', 'inc', 1), on('boolean', 'inc', 1))).toEqual(['ops[0].op type', 'ops[1].op type']);
  });

  it('names every fault at once, without the values', () => {
    const faults = checkTypes([on('number', 'set', 'secret'), on('number', 'inc', 1), on('string', 'set', true)]);
    expect(faults.map(({ path }) => path)).toEqual(['ops[0].value', 'ops[2].value']);
    expect(JSON.stringify(faults)).not.toContain('secret');
  });
});
