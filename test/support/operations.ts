import { SCOPES, type Scope } from '../../src/platform/auth/scopes';
import { Client } from './client';

/** Who may call an operation: a backend by its key, by its key or a signature, a participant by a token, or anybody. */
export type Callers = 'backend' | 'signing backend' | 'participant' | 'anybody';

/** An operation of the OpenAPI document. */
export interface Operation {
  /** `POST /v1/external-events:batch` */
  readonly name: string;
  readonly method: string;
  /** With its parameters in braces. */
  readonly path: string;
  readonly parameters: readonly string[];
  /** Names of what its query may have. */
  readonly query: readonly string[];
  /** Undefined when what the document says of it is none of these. */
  readonly callers: Callers | undefined;
  /** The first that is asked for; undefined where none of the closed list is. */
  readonly scope: Scope | undefined;
  /** Those that are asked for beside it. */
  readonly furtherScopes: readonly Scope[];
  /** A body that is right in shape; empty where none is taken. */
  readonly body: string;
}

const VERBS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'];
/** Alternatives as the document lists them, sorted. */
const CALLERS: Readonly<Record<string, Callers>> = {
  apiKey: 'backend',
  'apiKey or serviceSignature': 'signing backend',
  participantToken: 'participant',
  // The empty requirement, which anybody meets.
  '': 'anybody',
};

/** Everything that the OpenAPI document of a running service shows, whatever it is. */
export async function operationsOf(url: string): Promise<Operation[]> {
  const { body: document } = await new Client(url, undefined).get('/docs-json');
  return Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods)
      .filter(([verb]) => VERBS.includes(verb.toUpperCase()))
      .map(([verb, operation]) => operationOf(document, verb.toUpperCase(), path, operation)),
  );
}

function operationOf(document: any, method: string, path: string, operation: any): Operation {
  const { security = document.security, parameters = [], requestBody } = operation;
  const schema = requestBody?.content['application/json'].schema;
  const asked = String(operation['x-required-scope']).split(' ');
  const [scope, ...furtherScopes] = asked.flatMap((name) => SCOPES.find((each) => each === name) ?? []);
  return {
    name: `${method} ${path}`,
    method,
    path,
    callers: CALLERS[alternatives(security)],
    parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!),
    query: parameters.filter((each: any) => each.in === 'query').map((each: any) => each.name),
    scope,
    furtherScopes,
    body: schema === undefined ? '' : JSON.stringify(sampleOf(document, schema)),
  };
}

function alternatives(security: unknown): string {
  if (!Array.isArray(security)) return 'nothing';
  const schemes = security.map((required: object) =>
    Object.entries(required)
      .map(([scheme, scopes]) => (JSON.stringify(scopes) === '[]' ? scheme : `${scheme} with scopes`))
      .join(' and '),
  );
  return schemes.sort().join(' or ');
}

/** Where an operation is, with `values` for its parameters and `x`, which does not exist, for the others. */
export function addressOf({ path }: Operation, values: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? 'x');
}

/** A value that an OpenAPI schema allows: its required fields, with the examples of the document where there are any. */
function sampleOf(document: any, schema: any): unknown {
  if (schema.$ref !== undefined) return sampleOf(document, resolved(document, schema.$ref));
  if (schema.example !== undefined) return schema.example;
  if (schema.enum !== undefined) return schema.enum[0];
  const [alternative] = schema.oneOf ?? schema.anyOf ?? schema.allOf ?? [];
  if (alternative !== undefined) return sampleOf(document, alternative);
  switch (schema.type) {
    case 'object': {
      const required: string[] = schema.required ?? [];
      return Object.fromEntries(required.map((name) => [name, sampleOf(document, schema.properties[name])]));
    }
    case 'array':
      return [sampleOf(document, schema.items)];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    default:
      return schema.format === 'date-time' ? '2026-01-02T03:04:05Z' : 'x'.repeat(schema.minLength ?? 1);
  }
}

function resolved(document: any, reference: string): any {
  return reference
    .split('/')
    .slice(1)
    .reduce((value: any, name) => value[name], document);
}
