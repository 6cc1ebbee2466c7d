import type { OpenAPIObject } from '@nestjs/swagger';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

export interface Reference {
  readonly $ref: string;
}

/** The OpenAPI 3.0 schema object as Swagger makes it; the package does not export its type by name. */
export type SchemaObject = Exclude<Schemas[string], Reference>;

export function isReference(schema: SchemaObject | Reference): schema is Reference {
  return '$ref' in schema;
}
