import { compileBodyValidator, type BodyValidator } from './body-validator';
import type { SchemaObject } from '../openapi/open-api-schema';
import { cpuMsSince } from '../../../../test/support/cpu-time';

const IDENTITY: SchemaObject = {
  type: 'object',
  required: ['type', 'value'],
  properties: { type: { type: 'string', minLength: 1 }, value: { type: 'string', maxLength: 256 } },
};
const EVENT: SchemaObject = {
  type: 'object',
  required: ['source', 'identity'],
  properties: {
    source: { type: 'string', minLength: 1, maxLength: 8, description: 'Where from', example: 'shop' },
    occurred_at: { type: 'string', format: 'date-time' },
    identity: { $ref: '#/components/schemas/Identity' },
    attributes: { type: 'object', additionalProperties: true },
    tags: { type: 'array', maxItems: 3, minItems: 1, items: { type: 'string', enum: ['a', 'b'] } },
    ops: { type: 'array', maxItems: 2, items: { allOf: [{ $ref: '#/components/schemas/Op' }] } },
  },
};
const OP: SchemaObject = {
  type: 'object',
  required: ['path', 'value'],
  properties: {
    path: { type: 'string', pattern: '^state\\.' },
    value: { oneOf: [{ type: 'number' }, { type: 'string' }, { type: 'boolean' }] },
    weight: { type: 'integer', minimum: 0, maximum: 10, exclusiveMaximum: true },
    note: { type: 'string', nullable: true },
  },
};
const COMPONENTS = { Identity: IDENTITY, Event: EVENT, Op: OP };
const IDENTIFIED = { type: 'EMAIL', value: 'x' };

function validator(schema: SchemaObject = EVENT): BodyValidator<unknown> {
  return compileBodyValidator(schema, COMPONENTS);
}

function faultsOf(body: unknown, schema?: SchemaObject): string[] {
  return (validator(schema)(body).faults ?? []).map(({ path, code }) => `${path}: ${code}`);
}

function messageOf(body: unknown): string | undefined {
  return validator()(body).faults?.[0]?.message;
}

describe('a compiled body validator', () => {
  it('gives back the very body when there is nothing to change', () => {
    const body = { source: 'shop', identity: IDENTIFIED, attributes: { a: null } };
    expect(validator()(body).value).toBe(body);
  });

  it('lists every fault, in the order of the schema, with the path the client wrote', () => {
    const body = {
      ops: [
        { path: 'state.a', value: 1 },
        { path: 'x', value: null, weight: 10, extra: 1 },
      ],
      tags: ['a', 'c', 7],
      attributes: [],
      identity: { value: 5 },
      occurred_at: 'yesterday',
      source: 'far too long',
    };
    expect(faultsOf(body)).toEqual([
      'source: too_long',
      'occurred_at: format',
      'identity.type: required',
      'identity.value: type',
      'attributes: type',
      'tags[1]: enum',
      'tags[2]: type',
      'ops[1].path: format',
      'ops[1].value: required',
      'ops[1].weight: range',
      'ops[1].extra: unknown_field',
    ]);
  });

  it.each([
    [{ source: 'shop', identity: { value: 'x' } }, 'identity.type is required.'],
    [{ source: 'far too long', identity: IDENTIFIED }, 'source is longer than 8 characters.'],
    [{ source: '', identity: IDENTIFIED }, 'source is empty.'],
    [{ source: 7, identity: IDENTIFIED }, 'source must be a string.'],
    [
      { sorce: 'shop', source: 'shop', identity: IDENTIFIED },
      'sorce is not a field of this body. Did you mean source?',
    ],
    [{ source: 'shop', identity: IDENTIFIED, tags: [] }, 'tags must have at least 1 entry.'],
    [{ source: 'shop', identity: IDENTIFIED, tags: ['c'] }, 'tags[0] must be one of a, b.'],
    [
      { source: 'shop', identity: IDENTIFIED, ops: [{ path: 'state.a', value: {} }] },
      'ops[0].value must be a number or a string or true or false.',
    ],
    [
      { source: 'shop', identity: IDENTIFIED, occurred_at: '2025-01-31T12:00:00' },
      'occurred_at has no offset; end it in Z or in an offset such as +02:00.',
    ],
    [[], 'The body must be a JSON object.'],
  ])('says what is wrong and where: %#', (body, message) => {
    expect(messageOf(body)).toBe(message);
  });

  it.each([[[]], ['text'], [7], [null], [true]])('refuses %j for a body with one fault', (body) => {
    expect(faultsOf(body)).toEqual([': type']);
  });

  it('counts characters, not UTF-16 units', () => {
    expect(faultsOf({ source: '😀'.repeat(8), identity: IDENTIFIED })).toEqual([]);
    expect(faultsOf({ source: '😀'.repeat(9), identity: IDENTIFIED })).toEqual(['source: too_long']);
  });

  it('takes no coerced and no infinite number', () => {
    const withWeight = (weight: unknown): unknown => ({
      source: 'shop',
      identity: IDENTIFIED,
      ops: [{ path: 'state.a', value: 1, weight }],
    });
    expect(faultsOf(withWeight('1'))).toEqual(['ops[0].weight: type']);
    expect(faultsOf(withWeight(1.5))).toEqual(['ops[0].weight: type']);
    expect(faultsOf(withWeight(JSON.parse('1e999')))).toEqual(['ops[0].weight: type']);
    expect(faultsOf(withWeight(9))).toEqual([]);
  });
});

describe('null', () => {
  it('means absent in an optional field, also in a nested and in a nullable one', () => {
    const op = { path: 'state.a', value: 1 };
    const body = { source: 'shop', occurred_at: null, identity: IDENTIFIED, tags: null, ops: [{ ...op, note: null }] };
    expect(validator()(body).value).toEqual({ source: 'shop', identity: IDENTIFIED, ops: [op] });
    expect(body.occurred_at).toBeNull();
  });

  it('is a missing value in a required field', () => {
    expect(faultsOf({ source: null, identity: { type: null, value: 'x' } })).toEqual([
      'source: required',
      'identity.type: required',
    ]);
  });

  it('stays in a free-form value, at any depth', () => {
    const attributes = { a: null, b: { c: [null] } };
    expect(validator()({ source: 'shop', identity: IDENTIFIED, attributes, occurred_at: null }).value).toEqual({
      source: 'shop',
      identity: IDENTIFIED,
      attributes,
    });
  });

  it('is a value where a required field is declared nullable', () => {
    const schema: SchemaObject = {
      type: 'object',
      required: ['limit'],
      properties: { limit: { type: 'integer', enum: [1, 2], nullable: true } },
    };
    expect(validator(schema)({ limit: null }).value).toEqual({ limit: null });
    expect(faultsOf({ limit: 3 }, schema)).toEqual(['limit: enum']);
    expect(faultsOf({}, schema)).toEqual(['limit: required']);
  });
});

describe('a field that a schema does not know', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'is reported when named %s',
    (name) => {
      const body: unknown = JSON.parse(
        `{"source":"shop","identity":{"type":"EMAIL","value":"x","${name}":null},"${name}":{}}`,
      );
      expect(faultsOf(body)).toEqual([`identity.${name}: unknown_field`, `${name}: unknown_field`]);
    },
  );

  it('is no field of a required name that objects inherit', () => {
    const schema: SchemaObject = {
      type: 'object',
      required: ['constructor'],
      properties: { constructor: { type: 'string' } as SchemaObject },
    };
    expect(faultsOf({}, schema)).toEqual(['constructor: required']);
  });

  it('survives beside dropped nulls without becoming a prototype', () => {
    const schema: SchemaObject = {
      type: 'object',
      additionalProperties: true,
      properties: { a: { type: 'string' } },
    };
    const body: unknown = JSON.parse('{"a":null,"__proto__":{"admin":true}}');
    const { value } = validator(schema)(body);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(['__proto__']);
  });

  it('is free to appear in free-form values', () => {
    const attributes: unknown = JSON.parse('{"__proto__":1,"odd key":2}');
    expect(faultsOf({ source: 'shop', identity: IDENTIFIED, attributes })).toEqual([]);
  });
});

describe('maps and lists', () => {
  const DEFINITIONS: SchemaObject = {
    type: 'object',
    required: ['properties'],
    properties: {
      properties: { type: 'object', maxProperties: 3, additionalProperties: { $ref: '#/components/schemas/Identity' } },
    },
  };

  it('checks the values under keys of the client’s choice', () => {
    const properties = { 'odd key': { type: 'a' }, ok: { type: 'b', value: 'c', tipe: 1 } };
    expect(faultsOf({ properties }, DEFINITIONS)).toEqual([
      'properties["odd key"].value: required',
      'properties.ok.tipe: unknown_field',
    ]);
  });

  it('refuses too many of them with one fault', () => {
    expect(faultsOf({ properties: { a: 1, b: 1, c: 1, d: 1 } }, DEFINITIONS)).toEqual(['properties: too_many_keys']);
    expect(faultsOf({ source: 's', identity: IDENTIFIED, tags: ['a', 'b', 'a', 'b'] })).toEqual([
      'tags: too_many_items',
    ]);
  });
});

describe('a schema that could not be enforced', () => {
  it.each<[string, SchemaObject]>([
    ['a list without maxItems', { type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } }],
    ['a map without maxProperties', { type: 'object', additionalProperties: { type: 'string' } }],
    ['a format nobody checks', { type: 'object', properties: { a: { type: 'string', format: 'email' } } }],
    ['a keyword nobody checks', { type: 'object', not: {} }],
    ['a reference to nothing', { type: 'object', properties: { a: { $ref: '#/components/schemas/None' } } }],
    ['a rule for another type', { type: 'object', properties: { a: { type: 'integer', maxLength: 3 } } }],
  ])('does not compile: %s', (_, schema) => {
    expect(() => validator(schema)).toThrow();
  });

  it('does not compile when it contains itself, so depth is never up to the client', () => {
    const tree: SchemaObject = { type: 'object', properties: { next: { $ref: '#/components/schemas/Tree' } } };
    expect(() => compileBodyValidator(tree, { Tree: tree })).toThrow(/contains itself/);
  });
});

describe('a hostile body', () => {
  const MANY = 600_000;

  it('with 600,000 unknown fields is refused with 1,000 faults and one that says so, in bounded time', () => {
    const validate = validator();
    const body: unknown = JSON.parse(`{${Array.from({ length: MANY }, (_, i) => `"k${i}":1`).join(',')}}`);
    const started = process.cpuUsage();
    const { faults = [] } = validate(body);
    expect(cpuMsSince(started)).toBeLessThan(5_000);
    expect(faults).toHaveLength(1_001);
    expect(faults.at(-1)).toMatchObject({ path: '', code: 'too_many_faults' });
  });

  it('with a list of 600,000 wrong entries is refused without looking at them all', () => {
    const tags = Array.from({ length: MANY }, () => 7);
    const { faults = [] } = validator()({ source: 'shop', identity: IDENTIFIED, tags });
    expect(faults.length).toBeLessThan(10);
    expect(faults[0]).toMatchObject({ path: 'tags', code: 'too_many_items' });
  });

  it('nested 20,000 deep in a free-form value is taken', () => {
    const attributes: unknown = JSON.parse(`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
    expect(validator()({ source: 'shop', identity: IDENTIFIED, attributes }).faults).toBeUndefined();
  });

  it('is listed with as many faults as its share of an answer', () => {
    const { faults = [] } = validator()({ a: 1, b: 1, c: 1, d: 1 }, 2);
    expect(faults.map(({ code }) => code)).toEqual(['required', 'required', 'too_many_faults']);
  });
});

it('never repeats a value', () => {
  const secret = 'jane@example.com';
  const body = {
    source: secret,
    identity: { type: 7, value: secret.repeat(100) },
    occurred_at: secret,
    tags: [secret],
    attributes: secret,
    ops: [{ path: secret, value: [secret] }],
  };
  expect(JSON.stringify(validator()(body).faults)).not.toContain('jane');
});
