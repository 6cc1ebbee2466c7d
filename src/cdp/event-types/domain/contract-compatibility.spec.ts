import fc from 'fast-check';
import { compareDefinitions } from './contract-compatibility';
import { compileContract } from './event-contract';
import { PROPERTY_TYPES, type EventTypeDefinition } from './event-type-definition';
import { parseDefinition } from './event-type-parser';

function define(properties: Record<string, unknown>, rest: Record<string, unknown> = {}): EventTypeDefinition {
  const checked = parseDefinition({ eventType: 'order.placed', properties, ...rest });
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults));
  return checked.definition;
}

/** From one property to another, both called `a`. */
const change = (before: unknown, after: unknown): string[] => {
  const { outcome, breaks } = compareDefinitions(define({ a: before }), define({ a: after }));
  return [outcome, ...breaks.map(({ path, code }) => `${path} ${code}`)];
};
const string = { type: 'string' };

describe('compareDefinitions', () => {
  it('finds a definition identical to itself in any order and with explicit defaults', () => {
    const before = define(
      { a: { type: 'string', enum: ['x', 'y'] }, b: { type: 'integer', required: true } },
      { description: 'd' },
    );
    const after = define(
      {
        b: { required: true, type: 'integer', pii: false },
        a: { enum: ['y', 'x'], type: 'string', required: false, segmentable: false },
      },
      { description: 'd', additionalProperties: 'reject' },
    );
    expect(compareDefinitions(before, after)).toEqual({ outcome: 'identical', breaks: [] });
    expect(compareDefinitions(after, before)).toEqual({ outcome: 'identical', breaks: [] });
  });

  it.each([
    ['a wider enum', { ...string, enum: ['x'] }, { ...string, enum: ['y', 'x'] }],
    ['a dropped enum', { ...string, enum: ['x'] }, string],
    ['a relaxed required', { ...string, required: true }, string],
    ['a new description', string, { ...string, description: 'd' }],
    ['another segmentable', string, { ...string, segmentable: true }],
    ['a property becoming pii', string, { ...string, pii: true }],
    ['a property no longer pii', { ...string, pii: true }, string],
    ['a dropped format', { ...string, format: 'email' }, string],
    ['every integer being a number', { type: 'integer' }, { type: 'number' }],
    ['every listed integer being a number', { type: 'integer', enum: [1] }, { type: 'number', enum: [1, 1.5] }],
  ])('finds %s compatible', (_what, before, after) => {
    expect(change(before, after)).toEqual(['compatible']);
  });

  it.each([
    ['another type', string, { type: 'boolean' }, 'property_type_changed'],
    ['fewer numbers', { type: 'number' }, { type: 'integer' }, 'property_type_changed'],
    ['a timestamp for text', string, { type: 'timestamp' }, 'property_type_changed'],
    ['text for a timestamp', { type: 'timestamp' }, string, 'property_type_changed'],
    [
      'another type with an enum and a format',
      { type: 'integer' },
      { ...string, enum: ['x'], format: 'email' },
      'property_type_changed',
    ],
    ['a narrower enum', { ...string, enum: ['x', 'y'] }, { ...string, enum: ['x', 'z'] }, 'enum_narrowed'],
    ['a new enum', string, { ...string, enum: ['x'] }, 'enum_narrowed'],
    ['a required property', string, { ...string, required: true }, 'property_made_required'],
    ['a new format', string, { ...string, format: 'email' }, 'format_changed'],
    ['another format', { ...string, format: 'uuid' }, { ...string, format: 'email' }, 'format_changed'],
  ])('finds %s breaking', (_what, before, after, code) => {
    expect(change(before, after)).toEqual(['breaking', `properties.a ${code}`]);
  });

  it('lists every break', () => {
    const before = define(
      { a: string, b: string, c: { ...string, format: 'uuid' } },
      { additionalProperties: 'allow' },
    );
    const after = define({
      b: { type: 'integer', required: true },
      c: { ...string, enum: ['x'], format: 'email' },
      d: { ...string, required: true },
    });
    expect(compareDefinitions(before, after).breaks.map(({ path, code }) => `${path} ${code}`)).toEqual([
      'additionalProperties additional_properties_rejected',
      'properties.a property_removed',
      'properties.b property_type_changed',
      'properties.b property_made_required',
      'properties.c enum_narrowed',
      'properties.c format_changed',
      'properties.d property_added_required',
    ]);
  });

  it('finds a removed property breaking even if undeclared properties are allowed', () => {
    const rest = { additionalProperties: 'allow' };
    expect(compareDefinitions(define({ a: string }, rest), define({}, rest)).outcome).toBe('breaking');
  });

  it('finds a new optional property compatible, although undeclared ones may have had other types', () => {
    for (const additionalProperties of ['allow', 'reject']) {
      const [before, after] = [define({}, { additionalProperties }), define({ a: string }, { additionalProperties })];
      expect(compareDefinitions(before, after)).toEqual({ outcome: 'compatible', breaks: [] });
    }
    expect(compareDefinitions(define({}), define({}, { additionalProperties: 'allow' })).outcome).toBe('compatible');
    expect(compareDefinitions(define({}), define({}, { description: 'd' })).outcome).toBe('compatible');
  });

  it('treats __proto__ and constructor like any other name, also after a round trip through JSON', () => {
    const stored = (json: string): EventTypeDefinition => JSON.parse(json) as EventTypeDefinition;
    const empty = stored('{"eventType":"e","properties":{},"additionalProperties":"reject"}');
    for (const name of ['__proto__', 'constructor']) {
      const one = stored(
        `{"eventType":"e","properties":{"${name}":{"type":"string","required":true}},"additionalProperties":"reject"}`,
      );
      expect(compareDefinitions(empty, one).breaks).toMatchObject([{ code: 'property_added_required' }]);
      expect(compareDefinitions(one, empty).breaks).toMatchObject([{ code: 'property_removed' }]);
      expect(compareDefinitions(one, structuredClone(one)).outcome).toBe('identical');
    }
  });

  const property = fc.constantFrom<unknown>(
    ...PROPERTY_TYPES.flatMap((type) => [{ type }, { type, required: true }]),
    { ...string, enum: ['x'] },
    { ...string, enum: ['x', 'y'] },
    { ...string, format: 'email' },
    { type: 'integer', enum: [1] },
    { type: 'number', enum: [1, 2] },
  );
  const definition = fc
    .tuple(fc.dictionary(fc.constantFrom('a', 'b'), property), fc.constantFrom('reject', 'allow'))
    .map(([properties, additionalProperties]) => define(properties, { additionalProperties }));

  it('finds no change compatible that would refuse an event with valid declared properties', () => {
    const value = fc.constantFrom<unknown>('x', 'y', 'a@b.de', 1, 2, 1.5, true, null, {}, [], '2026-01-02T03:04:05Z');
    // Independent definitions are hardly ever compatible, so the next version is an edit of the last one.
    const versions = definition.chain((before) =>
      fc.record({
        before: fc.constant(before),
        after: fc
          .tuple(
            fc.dictionary(fc.constantFrom('a', 'b'), property, { maxKeys: 1 }),
            fc.constantFrom('allow', before.additionalProperties),
          )
          .map(([edit, additionalProperties]) => define({ ...before.properties, ...edit }, { additionalProperties })),
        // Properties that were undeclared before are the documented exception. No definition declares c.
        data: fc.dictionary(fc.constantFrom(...Object.keys(before.properties), 'c'), value),
      }),
    );
    let compared = 0;
    fc.assert(
      fc.property(versions, ({ before, after, data }) => {
        fc.pre(compareDefinitions(before, after).outcome === 'compatible');
        if (compileContract(before)(data).length > 0) return;
        compared += 1;
        expect(compileContract(after)(data)).toEqual([]);
      }),
      { numRuns: 800 },
    );
    expect(compared).toBeGreaterThan(50);
  });

  it('finds a change identical in both directions or in neither', () => {
    fc.assert(
      fc.property(definition, definition, (one, other) => {
        const isIdentical = compareDefinitions(one, other).outcome === 'identical';
        expect(compareDefinitions(other, one).outcome === 'identical').toBe(isIdentical);
        expect(compareDefinitions(one, one).outcome).toBe('identical');
      }),
    );
  });
});
