import type { OpenAPIObject } from '@nestjs/swagger';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;

export interface Reference {
  readonly $ref: string;
}

/** The OpenAPI 3.0 schema object as Swagger makes it; the package does not export its type by name. */
export type SchemaObject = Exclude<Schemas[string], Reference>;
export type Components = Readonly<Record<string, SchemaObject | Reference>>;
export type OpenApiOperation = NonNullable<OpenAPIObject['paths'][string]['get']>;
export type ResponseObject = Exclude<NonNullable<OpenApiOperation['responses']['default']>, Reference>;
export type Content = NonNullable<ResponseObject['content']>;
export type Parameter = Exclude<NonNullable<OpenApiOperation['parameters']>[number], Reference>;

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

export function isReference(value: object): value is Reference {
  return '$ref' in value;
}

export function operationsOf({
  paths,
}: OpenAPIObject): { readonly path: string; readonly operation: OpenApiOperation }[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ path, operation }];
    }),
  );
}

/** Of the path, the query and the headers; none of ours are shared between operations. */
export function parametersOf({ parameters = [] }: OpenApiOperation): Parameter[] {
  return parameters.filter((parameter): parameter is Parameter => !isReference(parameter));
}

/** What a schema is, behind its reference; undefined when there is none of the name. */
export function resolveSchema(schema: SchemaObject | Reference, schemas: Components): SchemaObject | undefined {
  if (!isReference(schema)) return schema;
  const target = schemas[schema.$ref.replace('#/components/schemas/', '')];
  return target === undefined ? undefined : resolveSchema(target, schemas);
}
