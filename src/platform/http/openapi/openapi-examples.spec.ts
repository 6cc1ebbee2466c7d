import type { SchemaObject } from './open-api-schema';
import { exampleOf } from './openapi-examples';

const object = (properties: Record<string, SchemaObject>, required = Object.keys(properties)): SchemaObject => ({
  ...{ type: 'object', properties, required },
});

describe('the example of a schema', () => {
  it('is its own, else made of those of its parts', () => {
    const inner = object({ amount: { type: 'number', example: 29.33 } });
    expect(exampleOf({ $ref: '#/components/schemas/Inner' }, { Inner: inner })).toEqual({ amount: 29.33 });
    expect(exampleOf({ ...inner, example: 'another' }, {})).toBe('another');
  });

  it('leaves optional fields out that have none', () => {
    const text: SchemaObject = { type: 'string' };
    expect(exampleOf(object({ source: text, note: text }, ['source']), {})).toEqual({ source: 'shop.orders' });
    expect(exampleOf(object({ note: { ...text, example: 'x' } }, []), {})).toEqual({ note: 'x' });
  });

  it('has one entry of each kind of a list', () => {
    const kinds = ['accepted', 'duplicate'].map((status) => object({ status: { type: 'string', enum: [status] } }));
    expect(exampleOf({ type: 'array', items: { oneOf: kinds } }, {})).toEqual([
      { status: 'accepted' },
      { status: 'duplicate' },
    ]);
  });

  it('has null for what may be absent, also for ids of other records', () => {
    const maybe: SchemaObject = { type: 'string', nullable: true };
    expect(exampleOf(object({ rotatedTo: maybe, sessionId: maybe, nextCursor: maybe }), {})).toEqual({
      ...{ rotatedTo: null, sessionId: null, nextCursor: null },
    });
  });

  it('is missing where a text has none and its name says nothing', () => {
    expect(exampleOf(object({ motto: { type: 'string' } }), {})).toBeUndefined();
  });
});
