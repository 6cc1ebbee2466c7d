import fc from 'fast-check';
import { VALUE_BYTES_MAX } from '../../variables/domain/value-type';
import { parseOperations, OPERATION_SCHEMA } from './operation';

const PATH = 'state.user.coins';

function parse(ops: unknown): unknown {
  const parsed = parseOperations(ops);
  return 'faults' in parsed ? parsed.faults.map(({ path, code }) => `${path} ${code}`) : parsed.operations;
}
const own = (json: string): unknown => JSON.parse(json);
const op = (fields: object): object => ({ path: PATH, op: 'set', value: 1, ...fields });

describe('the ops of a mutation', () => {
  it('become operations, in their order', () => {
    const ops = [
      { path: PATH, op: 'inc', value: 0.5 },
      { value: false, op: 'set', path: 'no path at all' },
      { path: '', op: 'set', value: '' },
      { path: PATH, op: 'dec', value: -(2 ** 53) },
    ];
    expect(parse(ops)).toEqual(ops);
  });

  it('are a list of 1 to 100', () => {
    expect(parse(undefined)).toEqual(['ops required']);
    expect(parse(null)).toEqual(['ops required']);
    for (const ops of [{}, 'set', 1, true]) expect(parse(ops)).toEqual(['ops type']);
    expect(parse([])).toEqual(['ops too_few_items']);
    expect(parse(Array(100).fill(op({})))).toHaveLength(100);
    expect(parse(Array(101).fill(op({})))).toEqual(['ops too_many_items']);
    expect(parse(Array(101).fill(null))).toHaveLength(101);
  });

  it.each<[string, unknown, string[]]>([
    ['no object', null, ['ops[0] type']],
    ['a list', [], ['ops[0] type']],
    ['an empty object', {}, ['ops[0].path required', 'ops[0].op required', 'ops[0].value required']],
    ['nulls', op({ path: null, op: null, value: null }), ['path', 'op', 'value'].map((f) => `ops[0].${f} required`)],
    ['a path that is no text', op({ path: ['state', 'user', 'coins'] }), ['ops[0].path type']],
    [
      'a path of 257 characters',
      op({ path: 'x'.repeat(OPERATION_SCHEMA.path.maxLength + 1) }),
      ['ops[0].path too_long'],
    ],
    ['a path with U+0000', op({ path: 'state.user.\u0000' }), ['ops[0].path invalid_characters']],
    ['another op', op({ op: 'del' }), ['ops[0].op enum']],
    ['an op in upper case', op({ op: 'SET' }), ['ops[0].op enum']],
    ['an op that every object has', op({ op: 'constructor' }), ['ops[0].op enum']],
    ['an op that is no text', op({ op: ['set'] }), ['ops[0].op type']],
    ['a list for a value', op({ value: [1] }), ['ops[0].value type']],
    ['an object for a value', op({ value: { a: 1 } }), ['ops[0].value type']],
    ['1e999', own(`{"path":"${PATH}","op":"set","value":1e999}`), ['ops[0].value range']],
    ['-1e999', own(`{"path":"${PATH}","op":"dec","value":-1e999}`), ['ops[0].value range']],
    ['400 digits', own(`{"path":"${PATH}","op":"inc","value":${'9'.repeat(400)}}`), ['ops[0].value range']],
    ['NaN', op({ value: NaN }), ['ops[0].value range']],
    ['2^53 + 2', op({ value: 2 ** 53 + 2 }), ['ops[0].value range']],
    ['-2^53 - 2', op({ op: 'inc', value: -(2 ** 53) - 2 }), ['ops[0].value range']],
    ['text to inc by', op({ op: 'inc', value: '5' }), ['ops[0].value type']],
    ['true to dec by', op({ op: 'dec', value: true }), ['ops[0].value type']],
    ['a list to inc by', op({ op: 'inc', value: [] }), ['ops[0].value type']],
    ['U+0000', op({ value: 'a\u0000' }), ['ops[0].value invalid_characters']],
    ['a lone surrogate', op({ value: '\ud800' }), ['ops[0].value invalid_characters']],
    ['4,097 bytes of text', op({ value: 'x'.repeat(VALUE_BYTES_MAX + 1) }), ['ops[0].value too_large']],
    ['4,098 bytes in fewer characters', op({ value: 'ä'.repeat(VALUE_BYTES_MAX / 2 + 1) }), ['ops[0].value too_large']],
    ['another field', op({ from: 1, 'b c': 2 }), ['ops[0].from unknown_field', 'ops[0]["b c"] unknown_field']],
    [
      'a field called __proto__',
      own(`{"__proto__":{"path":"${PATH}"},"op":"set","value":1}`),
      ['ops[0].path required', 'ops[0].__proto__ unknown_field'],
    ],
  ])('refuse %s', (_name, entry, faults) => {
    expect(parse([entry])).toEqual(faults);
  });

  it.each<[string, unknown, unknown]>([
    ['2^53', 2 ** 53, 2 ** 53],
    ['a very small number', 5e-324, 5e-324],
    ['4,096 bytes of text', 'ä'.repeat(VALUE_BYTES_MAX / 2), 'ä'.repeat(VALUE_BYTES_MAX / 2)],
    ['a pair of surrogates', '😀', '😀'],
    ['text that looks like a number', '1e999', '1e999'],
  ])('take %s', (_name, value, kept) => {
    expect(parse([op({ value })])).toEqual([op({ value: kept })]);
  });

  it('lose the sign of zero', () => {
    const parsed = parseOperations(own(`[{"path":"${PATH}","op":"set","value":-0}]`));
    expect('operations' in parsed && Object.is(parsed.operations[0]?.value, 0)).toBe(true);
  });

  it('name every fault of every entry at once', () => {
    expect(parse([op({}), { op: 'mul', value: null, x: 1 }, 7])).toEqual([
      ...['ops[1].path required', 'ops[1].op enum', 'ops[1].value required', 'ops[1].x unknown_field'],
      'ops[2] type',
    ]);
  });

  it('name at most 1,000 faults and never repeat a value', () => {
    const secrets = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`f${i}`, 'secret-4711']));
    const parsed = parseOperations([op({ op: 'secret-4711', value: ['secret-4711'], ...secrets })]);
    const faults = 'faults' in parsed ? parsed.faults : [];
    expect(faults).toHaveLength(1_001);
    expect(faults.at(-1)?.code).toBe('too_many_faults');
    expect(JSON.stringify(faults)).not.toContain('4711');
  });

  it('are operations or faults, and never throw, for any JSON', () => {
    const loose = fc.record(
      {
        path: fc.oneof(fc.constant(PATH), fc.string({ unit: 'binary' }), fc.jsonValue()),
        op: fc.oneof(fc.constantFrom('set', 'inc', 'dec'), fc.jsonValue()),
        value: fc.oneof(fc.double(), fc.string({ unit: 'binary' }), fc.boolean(), fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.array(loose), fc.jsonValue()), (ops) => {
        const parsed = parseOperations(ops);
        if ('faults' in parsed) expect(parsed.faults.length).toBeGreaterThan(0);
        else expect(parsed.operations).toHaveLength((ops as unknown[]).length);
      }),
      { numRuns: 1_000 },
    );
  });
});
