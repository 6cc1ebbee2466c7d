import { wireValues } from './wire-values';

const wireValue = (value: unknown) => wireValues({ name: 'untyped', text: 'SELECT $1' }, [value])[0];

describe('a parameter on its way to PostgreSQL', () => {
  it.each([
    [null, null],
    [undefined, null],
    ['text, as it is', 'text, as it is'],
    [1.5, '1.5'],
    [2n, '2'],
    [false, 'false'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [{ a: [1] }, '{"a":[1]}'],
    [Buffer.from('ab'), Buffer.from('ab')],
  ])('%p is written as %p', (value, written) => {
    expect(wireValue(value)).toEqual(written);
  });

  it.each([
    [[], '{}'],
    [['0190a000-0000-7000-8000-000000000001', 'b'], '{"0190a000-0000-7000-8000-000000000001","b"}'],
    [[1, -2.5], '{1,-2.5}'],
    [[null, undefined], '{NULL,NULL}'],
    [['NULL', 'null', ''], '{"NULL","null",""}'],
    [['a b', 'a,b', '{', '"', '\\', ' '], '{"a b","a,b","{","\\"","\\\\"," "}'],
    [[new Date(0), '-infinity'], '{"1970-01-01T00:00:00.000Z","-infinity"}'],
    [[Buffer.from('ab')], '{"\\\\x6162"}'],
    [[{ a: '"' }], '{"{\\"a\\":\\"\\\\\\"\\"}"}'],
    [
      [
        [1, 2],
        [3, 4],
      ],
      '{{1,2},{3,4}}',
    ],
  ])('an array %j is written as %s', (value, written) => {
    expect(wireValue(value)).toBe(written);
  });

  it('is refused when PostgreSQL has no form for it', () => {
    expect(() => wireValue(() => 1)).toThrow(TypeError);
  });

  it('is written in binary form where the statement says what an array is of, and is an array of that', () => {
    const statement = { name: 'typed', text: 'SELECT $1::int[], $2::uuid, $3::int[]' };
    const [ints, uuid, odd] = wireValues(statement, [[1, null], ['a'], ['1']]);
    expect(ints).toBeInstanceOf(Buffer);
    expect([uuid, odd]).toEqual(['{"a"}', '{"1"}']);
  });
});
