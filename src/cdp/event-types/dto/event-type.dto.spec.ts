import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import {
  ADDITIONAL_PROPERTIES,
  DEFINITION_FIELDS,
  DEFINITION_LIMITS,
  PROPERTY_FIELDS,
  PROPERTY_FORMATS,
  PROPERTY_TYPES,
} from '../domain/event-type-definition';
import { parseDefinition } from '../domain/event-type-parser';

/** The document that the service serves; another test compares the two. */
const DOCUMENT = join(__dirname, '..', '..', '..', '..', 'docs', 'openapi.json');
const { components } = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
const { RegisterEventTypeDto, PropertyDefinitionDto } = components.schemas;

const ajv = new Ajv({ strict: false, formats: {} });
ajv.addSchema({ $id: 'openapi', components });
const fitsDocument = ajv.compile({ $ref: 'openapi#/components/schemas/RegisterEventTypeDto' });
const isParsed = (body: unknown): boolean => 'definition' in parseDefinition(body);

const aDefinition = (fields: object = {}): object => ({ eventType: 'order.placed', properties: {}, ...fields });
const withProperty = (fields: object): object => aDefinition({ properties: { a: { type: 'string', ...fields } } });
const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `v${index}`);
const properties = (count: number): object =>
  Object.fromEntries(texts(count).map((name) => [name, { type: 'string' }]));

const { propertiesMax, descriptionCharactersMax, enumValuesMax, enumValueCharactersMax } = DEFINITION_LIMITS;

describe('RegisterEventTypeDto', () => {
  it('documents the fields that the parser knows', () => {
    expect(Object.keys(RegisterEventTypeDto.properties).sort()).toEqual([...DEFINITION_FIELDS, 'force'].sort());
    expect(Object.keys(PropertyDefinitionDto.properties).sort()).toEqual([...PROPERTY_FIELDS].sort());
  });

  it.each([
    ['the longest name', aDefinition({ eventType: 'x'.repeat(128) }), aDefinition({ eventType: 'x'.repeat(129) })],
    ['the characters of a name', aDefinition({ eventType: 'a.b-c_d' }), aDefinition({ eventType: '-a' })],
    ['what is required', aDefinition(), aDefinition({ properties: undefined })],
    [
      'how many properties',
      aDefinition({ properties: properties(propertiesMax) }),
      aDefinition({ properties: properties(propertiesMax + 1) }),
    ],
    [
      'the longest description',
      aDefinition({ description: 'x'.repeat(descriptionCharactersMax) }),
      aDefinition({ description: 'x'.repeat(descriptionCharactersMax + 1) }),
    ],
    [
      'additionalProperties',
      aDefinition({ additionalProperties: ADDITIONAL_PROPERTIES[1] }),
      aDefinition({ additionalProperties: 'ignore' }),
    ],
    ['the type of a property', withProperty({ type: PROPERTY_TYPES[4] }), withProperty({ type: 'text' })],
    ['the format of a property', withProperty({ format: PROPERTY_FORMATS[2] }), withProperty({ format: 'color' })],
    [
      'the longest description of a property',
      withProperty({ description: 'x'.repeat(descriptionCharactersMax) }),
      withProperty({ description: 'x'.repeat(descriptionCharactersMax + 1) }),
    ],
    ['the fewest values', withProperty({ enum: texts(1) }), withProperty({ enum: [] })],
    ['the most values', withProperty({ enum: texts(enumValuesMax) }), withProperty({ enum: texts(enumValuesMax + 1) })],
    [
      'the longest value',
      withProperty({ enum: ['x'.repeat(enumValueCharactersMax)] }),
      withProperty({ enum: ['x'.repeat(enumValueCharactersMax + 1)] }),
    ],
    ['that values differ', withProperty({ enum: ['a', 'b'] }), withProperty({ enum: ['a', 'a'] })],
    ['a flag', withProperty({ required: true, pii: false, segmentable: true }), withProperty({ pii: 'yes' })],
  ])('documents %s as the parser checks it', (_, valid, invalid) => {
    // As JSON: a body has no undefined fields.
    const answers = [valid, invalid].map((body) => JSON.parse(JSON.stringify(body)));
    expect(answers.map((body) => fitsDocument(body))).toEqual([true, false]);
    expect(answers.map(isParsed)).toEqual([true, false]);
  });

  it('documents no rule that the parser does not have', () => {
    const property = fc.record(
      {
        type: fc.constantFrom(...PROPERTY_TYPES),
        required: fc.boolean(),
        enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.double())),
        format: fc.constantFrom(...PROPERTY_FORMATS, 'color'),
        description: fc.string(),
        pii: fc.boolean(),
      },
      { requiredKeys: ['type'] },
    );
    const body = fc.record(
      {
        eventType: fc.oneof(fc.constant('order.placed'), fc.string()),
        description: fc.string(),
        properties: fc.dictionary(fc.string(), property, { maxKeys: 3 }),
        additionalProperties: fc.constantFrom(...ADDITIONAL_PROPERTIES, 'ignore'),
      },
      { requiredKeys: ['eventType', 'properties'] },
    );
    fc.assert(
      fc.property(body, (value) => {
        fc.pre(isParsed(value));
        expect(fitsDocument(JSON.parse(JSON.stringify(value)))).toBe(true);
      }),
    );
  });
});
