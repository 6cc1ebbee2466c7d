import type { SchemaObject } from './open-api-schema';
import { exampleOf, type ExampleSources } from './openapi-examples';

const object = (properties: Record<string, SchemaObject>, required = Object.keys(properties)): SchemaObject => ({
  type: 'object',
  properties,
  required,
});

const sources = (schemas: ExampleSources['schemas'] = {}): ExampleSources => ({
  schemas,
  byName: { source: 'shop.orders' },
});

describe('the example of a schema', () => {
  it('is the own example of the schema, else made from the examples of its parts', () => {
    const inner = object({ amount: { type: 'number', example: 29.33 } });
    expect(exampleOf({ $ref: '#/components/schemas/Inner' }, sources({ Inner: inner }))).toEqual({ amount: 29.33 });
    expect(exampleOf({ ...inner, example: 'another' }, sources())).toBe('another');
  });

  it('leaves out optional fields without an example', () => {
    const text: SchemaObject = { type: 'string' };
    expect(exampleOf(object({ source: text, note: text }, ['source']), sources())).toEqual({ source: 'shop.orders' });
    expect(exampleOf(object({ note: { ...text, example: 'x' } }, []), sources())).toEqual({ note: 'x' });
  });

  it('has one entry for each alternative of a list', () => {
    const kinds = ['accepted', 'duplicate'].map((status) => object({ status: { type: 'string', enum: [status] } }));
    expect(exampleOf({ type: 'array', items: { oneOf: kinds } }, sources())).toEqual([
      { status: 'accepted' },
      { status: 'duplicate' },
    ]);
  });

  it('has null for nullable fields, also for ids of other records', () => {
    const maybe: SchemaObject = { type: 'string', nullable: true };
    expect(exampleOf(object({ rotatedTo: maybe, sessionId: maybe, nextCursor: maybe }), sources())).toEqual({
      rotatedTo: null,
      sessionId: null,
      nextCursor: null,
    });
  });

  it('is undefined for a text without an example and with an unknown name', () => {
    expect(exampleOf(object({ motto: { type: 'string' } }), sources())).toBeUndefined();
  });
});
