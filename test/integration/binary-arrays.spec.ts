import * as fc from 'fast-check';
import { Client } from 'pg';
import { binaryArray, ELEMENT_TYPES } from '../../src/platform/postgres/binary-arrays';
import { wireValues } from '../../src/platform/postgres/wire-values';
import { freshDatabaseUrl } from '../support/database';

/** Leaves the array in the form of text. */
const asText = (values: readonly unknown[]) => wireValues({ name: 'untyped', text: '' }, [values])[0];

const text = fc.string({ unit: 'grapheme', maxLength: 200 }).map((some) => some.replaceAll('\0', ''));
const documents = fc
  .dictionary(text, fc.jsonValue({ maxDepth: 3 }))
  .filter((value) => !JSON.stringify(value).includes('\\u'));
const ELEMENTS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  bytea: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  int: fc.integer({ min: -0x7fff_ffff }),
  json: documents,
  jsonb: documents,
  smallint: fc.integer({ min: -0x7fff, max: 0x7fff }),
  text: fc.oneof(text, fc.constantFrom('', 'null', 'NULL', '{}', '"', '\\', 'ä'.repeat(70_000))),
  // Only years that text can say, too.
  timestamptz: fc.integer({ min: Date.UTC(1900), max: Date.UTC(9999, 11, 31) }),
  uuid: fc.oneof(
    fc.uuid(),
    fc.uuid().map((id) => id.toUpperCase()),
  ),
};

describe('an array in binary form', () => {
  let client: Client;

  beforeAll(async () => {
    client = new Client({ connectionString: await freshDatabaseUrl('binary_arrays') });
    await client.connect();
  });
  afterAll(() => client.end());

  it('is known for every type that is tried here, and for no other', () => {
    expect(Object.keys(ELEMENT_TYPES)).toEqual(Object.keys(ELEMENTS));
  });

  it.each(Object.entries(ELEMENTS))(
    'of %s is to PostgreSQL what its text is, with nulls and without',
    async (name, element) => {
      const type = ELEMENT_TYPES[name]!;
      const arrays = fc.array(fc.option(element, { freq: 10 }), { maxLength: 30 });
      const compare = `SELECT $1::${name}[] ::text IS NOT DISTINCT FROM $2::${name}[]::text AS same`;
      const property = fc.asyncProperty(arrays, async (values) => {
        const written =
          name === 'timestamptz' ? values.map((ms) => (ms === null ? ms : new Date(ms as number))) : values;
        const binary = binaryArray(type, values);
        expect(binary).toBeInstanceOf(Buffer);
        expect((await client.query(compare, [binary, asText(written)])).rows).toEqual([{ same: true }]);
      });
      await fc.assert(property, { numRuns: 150 });
    },
  );

  it('has nothing of one before it that could not be written', () => {
    const numbers = binaryArray(ELEMENT_TYPES['int']!, [1, 2]);
    const circle: { self?: object } = {};
    circle.self = circle;
    expect(() => binaryArray(ELEMENT_TYPES['jsonb']!, [{}, circle])).toThrow(TypeError);
    expect(binaryArray(ELEMENT_TYPES['int']!, [1, 2])).toEqual(numbers);
    expect(binaryArray(ELEMENT_TYPES['int']!, [1, 'two'])).toBeUndefined();
    expect(binaryArray(ELEMENT_TYPES['int']!, [1, 2])).toEqual(numbers);
  });

  it.each([
    ['uuid', ['0190a000-0000-7000-8000-00000000000g', '0190a000+0000-7000-8000-000000000000', 'a', '', 7]],
    ['int', [1.5, 0x8000_0000, '1', NaN]],
    ['smallint', [0x8000, -0x8000]],
    ['text', [1, {}, ['a']]],
    ['bytea', ['a', [1]]],
    ['timestamptz', ['2026-01-01T00:00:00Z', new Date(0), 0.5, Infinity]],
    ['json', [1, true]],
    ['jsonb', [1, true]],
  ])('of %s is not made of what is none', (name, elements) => {
    for (const element of elements) expect(binaryArray(ELEMENT_TYPES[name]!, [element])).toBeUndefined();
  });
});
