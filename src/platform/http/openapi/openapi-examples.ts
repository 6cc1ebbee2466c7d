import { type Components, isReference, type Reference, resolveSchema, type SchemaObject } from './open-api-schema';

const AN_ID = '0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04';
const A_TIME = '2026-01-02T03:04:05.000Z';
/** Fields and parameters that mean the same wherever they stand; what a DTO says itself goes first. */
const OF_NAME: Readonly<Record<string, unknown>> = {
  by: AN_ID,
  campaign_id: 'spring-sale',
  createdBy: AN_ID,
  eventType: 'purchase',
  event_id: AN_ID,
  externalEventId: 'order-4711',
  id: AN_ID,
  mergedFrom: [],
  message: 'identity.type is required.',
  name: 'points',
  nextCursor: null,
  original_event_id: AN_ID,
  reason: 'required',
  source: 'shop.orders',
  sub: 'customer-0001',
};
const ID_NAME = /[a-z]Id$/;

/**
 * A value that the schema allows, made of the examples of its parts, as far as they have some; undefined where they have
 * too few. Optional fields are there when they have an example of their own.
 */
export function exampleOf(schema: SchemaObject | Reference, schemas: Components, name = ''): unknown {
  const { $ref: _, ...resolved } = (resolveSchema(schema, schemas) ?? {}) as SchemaObject & Partial<Reference>;
  if (resolved.example !== undefined) return resolved.example as unknown;
  if (resolved.enum !== undefined) return resolved.enum[0] as unknown;
  const alternatives = resolved.oneOf ?? resolved.anyOf ?? resolved.allOf;
  if (alternatives?.[0] !== undefined) return exampleOf(alternatives[0], schemas, name);
  const known = exampleOfName(name);
  if (known !== undefined && fits(known, resolved) && !isOtherRecord(known, resolved)) return known;
  if (resolved.nullable === true) return null;
  return exampleOfType(resolved, schemas);
}

/** What usually stands in a field or parameter of this name. */
export function exampleOfName(name: string): unknown {
  return Object.hasOwn(OF_NAME, name) ? OF_NAME[name] : ID_NAME.test(name) ? AN_ID : undefined;
}

/** A record that may be there or not: most often it is not. */
function isOtherRecord(value: unknown, { nullable }: SchemaObject): boolean {
  return value === AN_ID && nullable === true;
}

function fits(value: unknown, { type, nullable }: SchemaObject): boolean {
  if (value === null) return nullable === true;
  return Array.isArray(value) ? type === 'array' : typeof value === type;
}

function exampleOfType(schema: SchemaObject, schemas: Components): unknown {
  switch (schema.type) {
    case 'object':
      return schema.properties === undefined ? undefined : exampleOfObject(schema, schemas);
    case 'array':
      return schema.items === undefined ? undefined : exampleOfList(schema.items, schemas);
    case 'integer':
    case 'number':
      return schema.default ?? schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'date-time' ? A_TIME : undefined;
  }
}

function exampleOfObject({ properties = {}, required = [] }: SchemaObject, schemas: Components): object | undefined {
  const fields = Object.entries(properties).filter(([name, field]) => required.includes(name) || hasExample(field));
  const values = fields.map(([name, field]) => [name, exampleOf(field, schemas, name)] as const);
  return values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values);
}

/** One entry of each kind that the list may have. */
function exampleOfList(items: SchemaObject | Reference, schemas: Components): unknown[] | undefined {
  const kinds = (isReference(items) ? undefined : items.oneOf) ?? [items];
  const entries = kinds.map((kind) => exampleOf(kind, schemas));
  return entries.includes(undefined) ? undefined : entries;
}

function hasExample(field: SchemaObject | Reference): boolean {
  return !isReference(field) && field.example !== undefined;
}
