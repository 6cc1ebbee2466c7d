import fc from 'fast-check';
import { compileCondition } from './compile-condition';
import { CONDITION_BYTES_MAX, conditionFaults } from './condition';
import { CONDITION_OPERATORS } from './condition-operators';

const AMOUNT = { var: 'event.properties.amount' };

function nested(levels: number): object {
  let rule: object = AMOUNT;
  for (let level = 1; level < levels; level += 1) rule = { '!': [rule] };
  return rule;
}

const faultsOf = (when: unknown): string[] => conditionFaults(when).map(({ path, code }) => `${path} ${code}`);

describe('a condition', () => {
  it.each([
    [{ '>=': [AMOUNT, 20] }],
    [{ and: [{ '==': [{ var: ['event.source', 'shop'] }, 'shop'] }, { in: ['a', { var: 'event.properties.tags' }] }] }],
    [{ some: [{ var: 'event.properties.items' }, { in: [{ var: 'sku' }, ['A', 'B']] }] }],
    [
      {
        '>': [
          { reduce: [{ var: 'event.properties.items' }, { '+': [{ var: 'current.n' }, { var: 'accumulator' }] }, 0] },
          3,
        ],
      },
    ],
    [{ '!': { var: 'event.properties.test' } }],
    [{ '!': [{ missing: ['event.properties.amount'] }] }],
    [{ '<': [1, AMOUNT, 5] }],
    [{ var: '' }],
  ])('may be %j', (when) => {
    expect(faultsOf(when)).toEqual([]);
  });

  it.each<[unknown, string[]]>([
    [true, ['when type']],
    [[{ '!': [1] }], ['when type']],
    [{}, ['when format']],
    [{ '!': [1], '!!': [1] }, ['when format']],
    [{ log: [1] }, ['when.log unknown_operator']],
    [{ and: [AMOUNT, { foo: [1] }] }, ['when.and[1].foo unknown_operator']],
    ...['method', 'throw', 'try', 'val', 'get', 'exists', 'eachKey', 'pipe', 'preserve', 'length', 'keys', '??'].map(
      (name): [unknown, string[]] => [
        { [name]: [1] },
        [`${/^\w+$/.test(name) ? `when.${name}` : `when["${name}"]`} unknown_operator`],
      ],
    ),
    [{ constructor: [1] }, ['when.constructor unknown_operator']],
    [JSON.parse('{"__proto__": [1]}'), ['when.__proto__ unknown_operator']],
    [{ toString: [1] }, ['when.toString unknown_operator']],
    [{ and: { var: 'x' } }, ['when.and type']],
    [{ '==': [1] }, ['when["=="] too_few_items']],
    [{ '!': [1, 2] }, ['when["!"] too_many_items']],
    [{ var: { cat: ['a', 'b'] } }, ['when.var type']],
    [{ var: ['a', { cat: ['a'] }] }, ['when.var[1] type']],
    [{ some: [{ filter: [AMOUNT, AMOUNT] }, AMOUNT] }, ['when.some[0].filter too_costly']],
    [{ map: [AMOUNT, { map: [AMOUNT, AMOUNT] }] }, ['when.map[1].map too_costly']],
    [
      { reduce: [AMOUNT, { cat: [{ var: 'accumulator' }, { var: 'accumulator' }] }, 'x'] },
      ['when.reduce[1].cat too_costly'],
    ],
    [
      { reduce: [AMOUNT, { if: [1, [{ var: 'accumulator' }, { var: 'accumulator' }]] }, 1] },
      ['when.reduce[1].if[1] too_costly'],
    ],
    [{ reduce: [AMOUNT, null] }, ['when.reduce[1] type']],
    [{ '==': [AMOUNT, 'a\u0000'] }, ['when["=="][1] invalid_characters']],
    [{ '==': [AMOUNT, Infinity] }, ['when["=="][1] range']],
    [{ cat: ['x'.repeat(CONDITION_BYTES_MAX)] }, ['when too_large']],
    [{ or: Array.from({ length: 201 }, () => ({ var: 'a' })) }, ['when too_costly']],
  ])('%j is refused', (when, faults) => {
    expect(faultsOf(when)).toEqual(faults);
  });

  it('has 16 operators inside of one another and not one more', () => {
    expect(faultsOf(nested(16))).toEqual([]);
    expect(faultsOf(nested(10_000))).toEqual(['when too_deep']);
    expect(faultsOf(nested(17)).map((fault) => fault.split(' ')[1])).toEqual(['too_deep']);
  });

  it('has every fault reported, without any value', () => {
    const faults = conditionFaults({ and: [{ foo: ['secret-value'] }, { bar: ['secret-value'] }] });
    expect(faults.map(({ path }) => path)).toEqual(['when.and[0].foo', 'when.and[1].bar']);
    expect(JSON.stringify(faults)).not.toContain('secret-value');
  });

  it('never throws, whatever it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (when) => void conditionFaults(when)),
      { numRuns: 500 },
    );
  });

  it('that was taken can be asked about any event, and always says one of four words', () => {
    const { rule } = fc.letrec<{ rule: unknown; value: unknown }>((tie) => ({
      value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.jsonValue({ maxDepth: 1 }), tie('rule')),
      rule: fc
        .tuple(fc.constantFrom(...CONDITION_OPERATORS.keys()), fc.array(tie('value'), { maxLength: 3 }))
        .map(([name, args]) => ({ [name]: name === 'var' ? `event.properties.${String(args.length)}` : args })),
    }));
    let taken = 0;
    fc.assert(
      fc.property(rule, fc.jsonValue(), (when, properties) => {
        if (conditionFaults(when).length > 0) return;
        taken += 1;
        const verdict = compileCondition(when as Record<string, unknown>)({ properties });
        expect(['met', 'unmet', 'failed', 'too_costly']).toContain(verdict);
      }),
      { numRuns: 2_000 },
    );
    expect(taken).toBeGreaterThan(100);
  });
});
