import type { OpenAPIObject } from '@nestjs/swagger';
import {
  type Components,
  isReference,
  operationsOf,
  parametersOf,
  type Reference,
  resolveSchema,
  type SchemaObject,
} from './open-api-schema';

type Schema = SchemaObject | Reference;

/**
 * Writes what Swagger's plugin writes in roundabout ways in plain and valid ones: a named schema without `allOf` around it,
 * alternatives of which null is one, and no rules for text at numbers.
 */
export function tidy(document: OpenAPIObject): void {
  const components = document.components?.schemas ?? {};
  for (const [name, schema] of Object.entries(components)) components[name] = tidied(schema, components);
  for (const { operation } of operationsOf(document)) {
    for (const { schema } of parametersOf(operation)) {
      if (schema !== undefined && !isReference(schema) && schema.type === 'integer') delete schema.pattern;
    }
  }
}

function tidied(schema: Schema, components: Components): Schema {
  if (isReference(schema)) return schema;
  const { properties, items, additionalProperties: others } = schema;
  for (const [name, field] of Object.entries(properties ?? {})) {
    if (properties !== undefined) properties[name] = tidied(field, components);
  }
  if (items !== undefined) schema.items = tidied(items, components);
  if (typeof others === 'object') schema.additionalProperties = tidied(others, components);
  return withoutWrapping(nullOfEach(schema), components);
}

/** OpenAPI 3.0 knows `nullable` beside a type only. */
function nullOfEach(schema: SchemaObject): SchemaObject {
  const { oneOf, anyOf, nullable, type, ...others } = schema;
  const alternatives = oneOf ?? anyOf;
  if (nullable !== true || type !== undefined || alternatives === undefined) return schema;
  // Null is each of them, which `oneOf` would not allow.
  return { ...others, anyOf: alternatives.map((each) => (isReference(each) ? each : { ...each, nullable })) };
}

/** A reference takes no words beside it in OpenAPI 3.0; what it names can have them. */
function withoutWrapping(schema: SchemaObject, components: Components): Schema {
  const [only, ...others] = schema.allOf ?? [];
  if (only === undefined || others.length > 0 || !isReference(only)) return schema;
  const target = resolveSchema(only, components);
  if (target !== undefined && schema.description !== undefined) target.description ??= schema.description;
  return only;
}
