import fc from 'fast-check';
import { isOfType, VALUE_BYTES_MAX, valueFaults } from './value-type';
import { VARIABLE_TYPES } from './variable';

const codes = (value: unknown, type: (typeof VARIABLE_TYPES)[number]): string[] =>
  valueFaults(value, type, 'ops[0].value').map(({ code }) => code);

describe('isOfType', () => {
  it.each<[unknown, string | undefined]>([
    [0, 'number'],
    [-1.5, 'number'],
    [2 ** 60, 'number'],
    [Number.POSITIVE_INFINITY, undefined],
    [Number.NaN, undefined],
    ['', 'string'],
    ['1', 'string'],
    [false, 'boolean'],
    [null, undefined],
    [undefined, undefined],
    [[], undefined],
    [[1], undefined],
    [{}, undefined],
    [{ valueOf: () => 1 }, undefined],
    [Object('text'), undefined],
  ])('says of %p that it is of the type %s and of no other', (value, type) => {
    expect(VARIABLE_TYPES.filter((each) => isOfType(value, each))).toEqual(type === undefined ? [] : [type]);
  });
});

describe('valueFaults', () => {
  it('finds no fault with what JSON can say and the database gives back as it was', () => {
    const numbers = fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }));
    fc.assert(
      fc.property(numbers, (value) => {
        expect(codes(value, 'number')).toEqual([]);
      }),
    );
    expect([codes(2 ** 53, 'number'), codes(-(2 ** 53), 'number')]).toEqual([[], []]);
    expect([codes('x'.repeat(VALUE_BYTES_MAX), 'string'), codes('', 'string'), codes(true, 'boolean')]).toEqual([
      ...[[], [], []],
    ]);
  });

  it.each([Infinity, -Infinity, NaN, 2 ** 53 + 2, -(2 ** 53) - 2, 1e300])(
    'says of the number %p that it is out of range',
    (value) => {
      expect(codes(value, 'number')).toEqual(['range']);
      expect(codes(value, 'string')).toEqual(['type']);
    },
  );

  it('counts the bytes of a text in UTF-8, not its characters', () => {
    expect(codes('é'.repeat(VALUE_BYTES_MAX / 2), 'string')).toEqual([]);
    expect(codes('é'.repeat(VALUE_BYTES_MAX / 2 + 1), 'string')).toEqual(['too_large']);
  });

  it('names every fault of a text', () => {
    expect(codes('\u0000'.repeat(VALUE_BYTES_MAX + 1), 'string')).toEqual(['invalid_characters', 'too_large']);
    expect(codes('\udc00', 'string')).toEqual(['invalid_characters']);
  });

  it('names the path it was given and never the value', () => {
    const secret = 'jane@example.com '.repeat(300);
    const [fault] = valueFaults(secret, 'string', 'ops[3].value');
    expect(fault).toEqual({ path: 'ops[3].value', code: 'too_large', message: expect.stringContaining('4096 bytes') });
    expect(JSON.stringify(valueFaults(secret, 'number', 'default'))).not.toContain('jane');
  });
});
