import type { components, paths } from '../../../clients/typescript/src/schema';

/** A record of the API by its name in the OpenAPI document, e.g. `Schema<'ReviewEntryDto'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** Paths that have the method. */
export type PathWith<M extends HttpMethod> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

export type Operation<M extends HttpMethod, P extends keyof paths> = paths[P] extends Record<M, infer O> ? O : never;

type Parameter<O, Place extends 'path' | 'query'> = O extends { parameters: infer All }
  ? Place extends keyof All
    ? NonNullable<All[Place]>
    : never
  : never;

type Body<O> = O extends { requestBody?: infer B }
  ? B extends { content: { 'application/json': infer T } }
    ? T
    : never
  : never;

/** Left out where the operation has none. */
type Part<Name extends string, T, Required extends boolean> = [T] extends [never]
  ? { readonly [N in Name]?: undefined }
  : Required extends true
    ? { readonly [N in Name]: T }
    : { readonly [N in Name]?: T };

/** What a call of an operation takes: parts of the path, the query, the body. */
export type CallOptions<O> = Part<'path', Parameter<O, 'path'>, true> &
  Part<'query', Parameter<O, 'query'>, false> &
  Part<'body', Body<O>, true> & { readonly signal?: AbortSignal };

type Content<R> = R extends { content: { 'application/json': infer T } } ? T : undefined;

/** The body of the successful answer. */
export type Answer<O> = O extends { responses: infer R } ? Content<R[keyof R & (200 | 201 | 202)]> : never;
