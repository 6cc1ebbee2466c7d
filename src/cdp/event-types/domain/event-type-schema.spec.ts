import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { checkFreeForm, FREE_FORM_DEPTH_MAX, FREE_FORM_KEYS_MAX } from '../../../ingest/parse/free-form';
import { compileContract } from './event-contract';
import {
  PROPERTY_FORMATS,
  PROPERTY_TYPES,
  type EventTypeDefinition,
  type PropertyDefinition,
} from './event-type-definition';
import { parseDefinition } from './event-type-parser';
import { toJsonSchema } from './event-type-schema';

function define(properties: Record<string, unknown>, rest: Record<string, unknown> = {}): EventTypeDefinition {
  const checked = parseDefinition({ eventType: 'order.placed', properties, ...rest });
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults));
  return checked.definition;
}

/** Ajv with default options, strict; `ownProperties`, or every object has a property `constructor`. */
const ajv = addFormats(new Ajv2020({ ownProperties: true }));
const stock = (definition: EventTypeDefinition): ValidateFunction => ajv.compile(toJsonSchema(definition));

const LIMITS = { bytesMax: 65_536, depthMax: FREE_FORM_DEPTH_MAX, keysMax: FREE_FORM_KEYS_MAX };

/** Every fault that the service finds in the properties of an event. */
function service(definition: EventTypeDefinition): (properties: object) => boolean {
  const contract = compileContract(definition);
  return (properties) =>
    contract(properties).length === 0 && checkFreeForm(properties, 'properties', LIMITS).length === 0;
}

const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor');
const entries = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.array(fc.tuple(name, values), { maxLength: 5 }).map((pairs) => Object.fromEntries(pairs));

const property = fc
  .record({
    type: fc.constantFrom(...PROPERTY_TYPES),
    required: fc.boolean(),
    isEnum: fc.boolean(),
    format: fc.option(fc.constantFrom(...PROPERTY_FORMATS), { nil: undefined }),
  })
  .map(({ type, required, isEnum, format }): PropertyDefinition => {
    const values = type === 'string' ? ['x', '::1'] : type === 'integer' || type === 'number' ? [0, 1] : undefined;
    return {
      type,
      required,
      ...(isEnum && values !== undefined ? { enum: values } : {}),
      ...(type === 'string' && format !== undefined ? { format } : {}),
    };
  });

const digits = (length: number): fc.Arbitrary<string> =>
  fc.nat({ max: 10 ** length - 1 }).map((n) => String(n).padStart(length, '0'));
const maybe = (text: fc.Arbitrary<string>): fc.Arbitrary<string> => fc.oneof(fc.constant(''), text);
const joined = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((all) => all.join(''));
const upTo = (max: number): fc.Arbitrary<string> => fc.nat({ max }).map((n) => String(n).padStart(2, '0'));
const fraction = maybe(joined(fc.constantFrom('.', ','), fc.oneof(digits(1), digits(3), digits(9), digits(10))));
const day = joined(
  fc.oneof(digits(4), fc.constantFrom('2024', '2100', '2000', '0004', '1900')),
  fc.constant('-'),
  upTo(13),
  fc.constant('-'),
  fc.oneof(upTo(32), fc.constantFrom('28', '29', '30', '31')),
);
const time = joined(
  fc.constantFrom('T', 'T', 'T', 't', ' '),
  fc.oneof(upTo(25), fc.constant('24')),
  fc.constant(':'),
  fc.oneof(upTo(61), fc.constant('00')),
  maybe(joined(fc.constant(':'), upTo(61), fraction)),
);
const offset = joined(fc.constantFrom('+', '-'), upTo(25), maybe(joined(fc.constantFrom('', ':'), upTo(61))));
const zone = fc.oneof(fc.constantFrom('Z', 'z', '', ' '), offset);
const anInstant = joined(day, time, zone);

/** The two documented differences between `TIMESTAMP_PATTERN` and the service. */
function isKnownDifference(text: unknown): boolean {
  return typeof text === 'string' && (/:60[^Zz]*[+-]/.test(text) || /^(?:0001-01-01|9999-12-31)/.test(text));
}

const value = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom<unknown>('x', 'z', 0, -0, 1, 1.5, true, null, {}, [], { a: { b: 1 } }) },
  fc.constantFrom<unknown>(2 ** 53, 2 ** 53 + 2, -(2 ** 53), -(2 ** 53) - 2, 1e300, 1e15),
  fc.constantFrom('2026-01-02T03:04:05Z', '2026-01-02', 'a@b.de', '::1', '10.0.0.1', 'https://a.b/c', 'a.example'),
  anInstant,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

describe('the JSON Schema of an event type', () => {
  it('is a document that other tools can read', () => {
    const properties = {
      amount: { type: 'number', required: true, description: 'gross', segmentable: true },
      plan: { type: 'string', enum: ['a', 'b'], pii: true },
      mail: { type: 'string', format: 'email' },
      at: { type: 'timestamp' },
    };
    expect(toJsonSchema(define(properties, { description: 'An order' }))).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'order.placed',
      description: 'An order',
      type: 'object',
      properties: {
        amount: { type: 'number', description: 'gross', minimum: -(2 ** 53), maximum: 2 ** 53 },
        plan: { type: ['string', 'null'], enum: ['a', 'b', null] },
        mail: { type: ['string', 'null'], format: 'email' },
        at: { type: ['string', 'null'], pattern: expect.stringContaining('[Zz]') },
      },
      required: ['amount'],
      additionalProperties: false,
      maxProperties: 300,
    });
  });

  it('accepts in a stock validator exactly what the service accepts', () => {
    let accepted = 0;
    fc.assert(
      fc.property(
        entries(property),
        entries(value),
        fc.constantFrom('reject', 'allow'),
        (properties, data, additionalProperties) => {
          fc.pre(!Object.values(data).some(isKnownDifference));
          // A double that is no number of our own types is refused wherever it stands, declared or not.
          const undeclared = Object.keys(data).filter((key) => !Object.hasOwn(properties, key));
          fc.pre(!undeclared.some((key) => isInexact(data[key])));
          const definition = define(properties, { additionalProperties });
          const isTaken = service(definition)(data);
          accepted += Number(isTaken);
          expect({ data, fits: stock(definition)(data) }).toEqual({ data, fits: isTaken });
        },
      ),
      { numRuns: 400 },
    );
    expect(accepted).toBeGreaterThan(20);
  });

  it('accepts exactly the times that the service accepts, by type or by format', () => {
    let accepted = 0;
    for (const definition of [
      define({ a: { type: 'timestamp' } }),
      define({ a: { type: 'string', format: 'date-time' } }),
    ]) {
      const [fits, isTaken] = [stock(definition), service(definition)];
      fc.assert(
        fc.property(fc.oneof(anInstant, fc.string()), (a) => {
          fc.pre(!isKnownDifference(a));
          accepted += Number(isTaken({ a }));
          expect({ a, fits: fits({ a }) }).toEqual({ a, fits: isTaken({ a }) });
        }),
        { numRuns: 3_000 },
      );
      for (const a of [
        '2024-02-29T23:59:60Z',
        '0001-01-01T00:00:00Z',
        '9999-12-31T23:59:59.999Z',
        '2026-01-02T24:00Z',
      ]) {
        expect([a, fits({ a }), isTaken({ a })]).toEqual([a, true, true]);
      }
    }
    expect(accepted).toBeGreaterThan(500);
  });

  it('accepts exactly the numbers that a double holds, as the service does', () => {
    const limit = 2 ** 53;
    for (const type of ['number', 'integer']) {
      const definition = define({ a: { type } });
      for (const a of [limit, -limit, limit + 2, -limit - 2, 1e300]) {
        const fits = stock(definition)({ a });
        expect([type, a, fits, service(definition)({ a })]).toEqual([
          type,
          a,
          ...Array<boolean>(2).fill(Math.abs(a) <= limit),
        ]);
      }
    }
  });

  it('accepts 300 properties and no more if undeclared ones are allowed, as the service does', () => {
    const definition = define({}, { additionalProperties: 'allow' });
    for (const count of [300, 301]) {
      const data = Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, n]));
      expect([stock(definition)(data), service(definition)(data)]).toEqual(Array(2).fill(count === 300));
    }
  });
});

function isInexact(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) > 2 ** 53;
}
