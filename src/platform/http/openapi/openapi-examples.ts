import { type Components, isReference, type Reference, resolveSchema, type SchemaObject } from './open-api-schema';

const AN_ID = '0198c0de-7a11-7c3e-9b1f-3f6f2a5d8e04';
const A_TIME = '2026-01-02T03:04:05.000Z';
/** Names that mean the same in every application. */
const EXAMPLES_BY_NAME: Readonly<Record<string, unknown>> = {
  by: AN_ID,
  createdBy: AN_ID,
  id: AN_ID,
  nextCursor: null,
};
const ID_NAME = /[a-z]Id$/;

/** What examples are made of. */
export interface ExampleSources {
  readonly schemas: Components;
  /** Examples for fields of these names (`DocumentTexts.examplesByName`). */
  readonly byName: Readonly<Record<string, unknown>>;
}

/**
 * A value that the schema allows, made from the examples of its parts. Undefined where a required part has no example.
 * Optional fields are left out unless they have an example of their own.
 */
export function exampleOf(schema: SchemaObject | Reference, sources: ExampleSources, name = ''): unknown {
  const { $ref: _, ...resolved } = (resolveSchema(schema, sources.schemas) ?? {}) as SchemaObject & Partial<Reference>;
  if (resolved.example !== undefined) return resolved.example as unknown;
  if (resolved.enum !== undefined) return resolved.enum[0] as unknown;
  const alternatives = resolved.oneOf ?? resolved.anyOf ?? resolved.allOf;
  if (alternatives?.[0] !== undefined) return exampleOf(alternatives[0], sources, name);
  const known = exampleOfName(name, sources.byName);
  if (known !== undefined && fits(known, resolved) && !isOtherRecord(known, resolved)) return known;
  if (resolved.nullable === true) return null;
  return exampleOfType(resolved, sources);
}

/** The usual value of a field or parameter with this name. */
export function exampleOfName(name: string, byName: ExampleSources['byName']): unknown {
  if (Object.hasOwn(byName, name)) return byName[name];
  if (Object.hasOwn(EXAMPLES_BY_NAME, name)) return EXAMPLES_BY_NAME[name];
  return ID_NAME.test(name) ? AN_ID : undefined;
}

/** An optional reference to another record is null in most answers. */
function isOtherRecord(value: unknown, { nullable }: SchemaObject): boolean {
  return value === AN_ID && nullable === true;
}

function fits(value: unknown, { type, nullable }: SchemaObject): boolean {
  if (value === null) return nullable === true;
  return Array.isArray(value) ? type === 'array' : typeof value === type;
}

function exampleOfType(schema: SchemaObject, sources: ExampleSources): unknown {
  switch (schema.type) {
    case 'object':
      return schema.properties === undefined ? undefined : exampleOfObject(schema, sources);
    case 'array':
      return schema.items === undefined ? undefined : exampleOfList(schema.items, sources);
    case 'integer':
    case 'number':
      return schema.default ?? schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'string':
    case undefined:
    default:
      return schema.format === 'date-time' ? A_TIME : undefined;
  }
}

function exampleOfObject(
  { properties = {}, required = [] }: SchemaObject,
  sources: ExampleSources,
): object | undefined {
  const fields = Object.entries(properties).filter(([name, field]) => required.includes(name) || hasExample(field));
  const values = fields.map(([name, field]) => [name, exampleOf(field, sources, name)] as const);
  return values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values);
}

/** One entry of each kind that the list may have. */
function exampleOfList(items: SchemaObject | Reference, sources: ExampleSources): unknown[] | undefined {
  const kinds = (isReference(items) ? undefined : items.oneOf) ?? [items];
  const entries = kinds.map((kind) => exampleOf(kind, sources));
  return entries.includes(undefined) ? undefined : entries;
}

function hasExample(field: SchemaObject | Reference): boolean {
  return !isReference(field) && field.example !== undefined;
}
