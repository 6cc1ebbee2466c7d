import fc from 'fast-check';
import { ownValue } from './own-value';

describe('what stands at a path', () => {
  it.each<[unknown, string[], unknown]>([
    [{ a: { b: 1 } }, ['a', 'b'], 1],
    [{ a: [{ b: 1 }, { b: 2 }] }, ['a', '1', 'b'], 2],
    [{ '0': 'x' }, ['0'], 'x'],
    [{ a: null }, ['a'], null],
    [{ a: null }, ['a', 'b'], undefined],
    [[1], ['length'], undefined],
    [[1], ['01'], undefined],
    [[1], ['-1'], undefined],
    [[1], ['1'], undefined],
    ['text', ['length'], undefined],
    ['text', ['0'], undefined],
    [{}, ['constructor'], undefined],
    [{}, ['__proto__'], undefined],
    [{ a: [] }, ['a', 'map'], undefined],
    [JSON.parse('{"__proto__": 1}'), ['__proto__'], 1],
  ])('of %j at %j is %j', (root, steps, value) => {
    expect(ownValue(root, steps)).toEqual(value);
  });

  it('is never anything that JSON did not hold', () => {
    const step = fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', 'length', '0', 'a'), fc.string());
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(step, { maxLength: 4 }), (root, steps) => {
        const value = ownValue(JSON.parse(JSON.stringify(root)), steps);
        expect(typeof value).not.toBe('function');
        if (value !== undefined) expect(JSON.stringify(root)).toContain(JSON.stringify(value));
      }),
      { numRuns: 500 },
    );
  });
});
