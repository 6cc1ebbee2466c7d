import fc from 'fast-check';
import { PROPERTY_FORMATS, PROPERTY_TYPES } from './event-type-definition';
import { parseDefinition } from './event-type-parser';

const faults = (input: unknown): string[] => {
  const checked = parseDefinition(input);
  return 'faults' in checked ? checked.faults.map(({ path, code }) => `${path} ${code}`) : [];
};
const withProperty = (property: unknown): unknown => ({ eventType: 'order.placed', properties: { a: property } });
const ofProperty = (property: unknown): string[] => faults(withProperty(property));

describe('parseDefinition', () => {
  it('returns the definition, with additionalProperties defaulting to reject', () => {
    const properties = {
      amount: { type: 'number', required: true, enum: [1, 2.5], description: 'gross', segmentable: true, pii: false },
      mail: { type: 'string', format: 'email', pii: true, required: false },
      at: { type: 'timestamp' },
    };
    const input = { eventType: 'order.placed', description: 'An order', properties };
    expect(parseDefinition(input)).toEqual({ definition: { ...input, additionalProperties: 'reject' } });
    expect(parseDefinition({ ...input, additionalProperties: 'allow' })).toEqual({
      definition: { ...input, additionalProperties: 'allow' },
    });
  });

  it('treats null in an optional field as absent', () => {
    const absent = { required: null, enum: null, format: null, description: null, segmentable: null, pii: null };
    const input = {
      eventType: 'e',
      description: null,
      additionalProperties: null,
      properties: { a: { type: 'object', ...absent } },
    };
    expect(parseDefinition(input)).toEqual({
      definition: { eventType: 'e', properties: { a: { type: 'object' } }, additionalProperties: 'reject' },
    });
  });

  it('keeps properties called __proto__ and constructor without changing any prototype', () => {
    const input: unknown = JSON.parse(
      '{"eventType":"e","properties":{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}}',
    );
    const checked = parseDefinition(input);
    if ('faults' in checked) throw new Error('refused');
    expect(Object.entries(checked.definition.properties)).toEqual([
      ['__proto__', { type: 'string' }],
      ['constructor', { type: 'integer' }],
    ]);
    expect(JSON.stringify(checked.definition.properties)).toBe(
      '{"__proto__":{"type":"string"},"constructor":{"type":"integer"}}',
    );
    expect(({} as Record<string, unknown>)['type']).toBeUndefined();
  });

  it('lists every fault, not only the first', () => {
    const input = {
      eventType: '.bad',
      additionalProperties: 'maybe',
      descripton: 'typo',
      properties: {
        a: { typ: 'string' },
        b: { type: 'text', required: 'yes' },
        c: 'string',
        d: { type: 'boolean', enum: [], format: 'color' },
      },
    };
    expect(faults(input)).toEqual([
      'descripton unknown_field',
      'eventType format',
      'properties.a.typ unknown_field',
      'properties.a.type required',
      'properties.b.type enum',
      'properties.b.required type',
      'properties.c type',
      'properties.d.enum too_few_items',
      'properties.d.enum conflicting_fields',
      'properties.d.format conflicting_fields',
      'properties.d.format enum',
      'additionalProperties enum',
    ]);
  });

  it('reports fields that are missing or have the wrong type', () => {
    for (const input of [null, [], 'x', 7, undefined]) expect(faults(input)).toEqual([' type']);
    expect(faults({})).toEqual(['eventType required', 'properties required']);
    expect(faults({ eventType: 7, properties: [], description: 7, additionalProperties: true })).toEqual([
      'eventType type',
      'description type',
      'properties type',
      'additionalProperties type',
    ]);
  });

  it('accepts event types by the rule for names in paths', () => {
    for (const eventType of ['a', 'Order.Placed-v2_x', '9', 'x'.repeat(128)])
      expect(faults({ eventType, properties: {} })).toEqual([]);
    for (const eventType of ['', '-a', '.a', '_a', 'a b', 'a/b', 'ä', 'a\n', 'x'.repeat(129)]) {
      expect(faults({ eventType, properties: {} })).toEqual(['eventType format']);
    }
  });

  it('accepts printable property names of 1 to 128 characters', () => {
    const named = (name: string): string[] =>
      faults({ eventType: 'e', properties: Object.fromEntries([[name, { type: 'string' }]]) });
    for (const name of ['a', 'first name', '名前', '😀', 'a.b', '$x', '__proto__', '😀'.repeat(128)])
      expect(named(name)).toEqual([]);
    expect(named('')).toEqual([expect.stringMatching(/ empty$/)]);
    expect(named(' ')).toEqual([expect.stringMatching(/ empty$/)]);
    for (const name of ['a\nb', 'a\u0000', 'a\u202eb', 'a\ud800', 'a\u2028b'])
      expect(named(name)).toEqual([expect.stringMatching(/ format$/)]);
    expect(named('x'.repeat(129))).toEqual([expect.stringMatching(/ too_long$/)]);
  });

  it('accepts 300 properties and no more', () => {
    const properties = (count: number): unknown =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, { type: 'string' }]));
    expect(faults({ eventType: 'e', properties: properties(300) })).toEqual([]);
    expect(faults({ eventType: 'e', properties: properties(301) })).toEqual(['properties too_many_keys']);
  });

  it('accepts descriptions of up to 1,000 characters that PostgreSQL can store', () => {
    for (const description of ['', 'x'.repeat(1_000), '😀'.repeat(1_000)]) {
      expect(faults({ eventType: 'e', properties: {}, description })).toEqual([]);
      expect(ofProperty({ type: 'string', description })).toEqual([]);
    }
    expect(ofProperty({ type: 'string', description: 'x'.repeat(1_001) })).toEqual([
      'properties.a.description too_long',
    ]);
    expect(ofProperty({ type: 'string', description: 'a\u0000' })).toEqual([
      'properties.a.description invalid_characters',
    ]);
    expect(faults({ eventType: 'e', properties: {}, description: '\ud800' })).toEqual([
      'description invalid_characters',
    ]);
  });

  it('accepts an enum of 1 to 100 different values of the type', () => {
    const values = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
    expect(ofProperty({ type: 'integer', enum: values(100) })).toEqual([]);
    expect(ofProperty({ type: 'integer', enum: values(101) })).toEqual(['properties.a.enum too_many_items']);
    expect(ofProperty({ type: 'string', enum: ['a', 1, null, 'a'] })).toEqual([
      'properties.a.enum[1] type',
      'properties.a.enum[2] type',
      'properties.a.enum[3] duplicate',
    ]);
    expect(ofProperty({ type: 'integer', enum: [1, 1.5] })).toEqual(['properties.a.enum[1] type']);
    expect(ofProperty({ type: 'integer', enum: [2 ** 53, 2 ** 53 + 2, Infinity] })).toEqual([
      'properties.a.enum[1] range',
      'properties.a.enum[2] range',
    ]);
    expect(ofProperty({ type: 'number', enum: [1, 1.5, Infinity, '1'] })).toEqual([
      'properties.a.enum[2] range',
      'properties.a.enum[3] type',
    ]);
    expect(ofProperty({ type: 'string', enum: ['a\u0000', 'x'.repeat(257)] })).toEqual([
      'properties.a.enum[0] invalid_characters',
      'properties.a.enum[1] too_long',
    ]);
    expect(ofProperty({ type: 'string', enum: 'a' })).toEqual(['properties.a.enum type']);
    for (const type of ['boolean', 'timestamp', 'object', 'array']) {
      expect(ofProperty({ type, enum: ['a'] })).toEqual(['properties.a.enum conflicting_fields']);
    }
  });

  it('accepts a format of the closed list, for strings only', () => {
    for (const format of PROPERTY_FORMATS) expect(ofProperty({ type: 'string', format })).toEqual([]);
    for (const format of ['regex', 'uri-template', 'constructor', ''])
      expect(ofProperty({ type: 'string', format })).toEqual(['properties.a.format enum']);
    for (const type of PROPERTY_TYPES.filter((each) => each !== 'string')) {
      expect(ofProperty({ type, format: 'email' })).toEqual(['properties.a.format conflicting_fields']);
    }
  });

  it('lists 100 faults and says that there are more', () => {
    const input = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`x${n}`, n]));
    const checked = parseDefinition(input);
    expect('faults' in checked && checked.faults.length).toBe(101);
    expect('faults' in checked && checked.faults.at(-1)?.code).toBe('too_many_faults');
  });

  it('returns for any JSON a definition, or faults whose messages begin with their path', () => {
    const property = fc.record(
      { type: fc.constantFrom<unknown>(...PROPERTY_TYPES, 'x', 1), enum: fc.jsonValue(), format: fc.jsonValue() },
      { requiredKeys: [] },
    );
    const input = fc.oneof(
      fc.jsonValue(),
      fc.record({
        eventType: fc.jsonValue(),
        properties: fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(property, fc.jsonValue())),
      }),
    );
    fc.assert(
      fc.property(input, (value) => {
        const checked = parseDefinition(value);
        if (!('faults' in checked)) return;
        expect(checked.faults.length).toBeGreaterThan(0);
        for (const { path, message } of checked.faults.slice(0, 100))
          expect(message.startsWith(path === '' ? 'The' : path)).toBe(true);
      }),
    );
  });
});
