import fc, { type Arbitrary } from 'fast-check';
import { gzipSync } from 'node:zlib';
import { bodies, encoded, oddTexts, valid, type Known } from './arbitraries';

/** One request as bytes, and what is known of it. */
export interface FuzzRequest {
  /** `POST /v1/external-events`, or undefined where the address was changed so that it may lead anywhere. */
  readonly operation: string | undefined;
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

export interface FuzzedOperation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly described: any;
}

export interface Credentials {
  readonly apiKey: string;
  readonly token: string;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'];
const ODD_ENDINGS = ['/', 'X', ':', '//', '%2F', '%00', ';x', '/..', '%3A', '.json', '%', '%zz', '%C0%AF'];
const CONTENT_TYPES = [
  ...['text/plain', '', 'application/json; charset=latin1', 'application/xml', 'multipart/form-data', 'a'.repeat(500)],
  ...['application/json;charset=utf-8', 'APPLICATION/JSON', 'application/problem+json', 'application/json, text/html'],
];
const ODD_HEADERS: readonly (readonly [string, string])[] = [
  ...[['X-Request-Id', 'my-id-1'] as const, ['X-Request-Id', '<b>'] as const, ['Expect', 'something'] as const],
  ...[['Accept', 'text/html'] as const, ['Accept-Encoding', 'gzip, br'] as const, ['Cookie', 'a=b'] as const],
  ...[
    ['Idempotency-Key', 'key-1'] as const,
    ['Idempotency-Key', 'x'.repeat(300)] as const,
    ['Range', 'bytes=0-1'] as const,
  ],
  ...[
    ['X-Forwarded-For', '1.2.3.4, ::1'] as const,
    ['X-HTTP-Method-Override', 'DELETE'] as const,
    ['Origin', 'null'] as const,
  ],
  ...[['If-None-Match', '*'] as const, ['Content-Digest', 'sha-256=:x:'] as const, ['Signature', 'sig1=:x:'] as const],
  ...[['X-Workspace', 'default'] as const, ['X-Workspace', ''] as const, ['X-Workspace', 'x'.repeat(300)] as const],
  ...[['Signature-Input', 'sig1=("@method");created=1;keyid="x"'] as const, ['Upgrade', 'h2c'] as const],
];

export function operationsOf(document: any): FuzzedOperation[] {
  return Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods)
      .filter(([verb]) => METHODS.includes(verb.toUpperCase()))
      .map(([verb, described]) => {
        const method = verb.toUpperCase();
        return { name: `${method} ${path}`, method, path, described };
      }),
  );
}

/** Requests for one operation: right ones, and such as are wrong in one thing or in several. */
export function requestsFor(
  document: any,
  operation: FuzzedOperation,
  credentials: Credentials,
  known: Known,
): Arbitrary<FuzzRequest> {
  const schema = operation.described.requestBody?.content['application/json']?.schema;
  const body = schema === undefined ? fc.constantFrom('', '', '', '{}', 'x') : bodies(document, schema, known);
  return fc
    .record({
      path: pathsOf(document, operation, known),
      ending: rarely(40, fc.constantFrom(...ODD_ENDINGS), ''),
      query: queriesOf(document, operation, known),
      method: rarely(25, fc.constantFrom(...METHODS), operation.method),
      type: rarely(25, fc.constantFrom(...CONTENT_TYPES), 'application/json'),
      coding: rarely(20, fc.constantFrom('gzip', 'broken gzip', 'br'), ''),
      headers: rarely(6, fc.array(fc.constantFrom(...ODD_HEADERS), { minLength: 1, maxLength: 3 }), []),
      credential: credentialsFor(operation, credentials),
      body,
    })
    .map((parts): FuzzRequest => {
      const { path, ending, query, method, type, coding, headers, credential } = parts;
      const target = `${path.text}${ending}${query}`;
      const isKnown = path.isPlain && ending === '' && method === operation.method;
      const hasBody = !['GET', 'HEAD', 'TRACE'].includes(method) && (parts.body !== '' || schema !== undefined);
      const bytes = Buffer.from(parts.body);
      const coded = coding === 'gzip' ? gzipSync(bytes) : bytes;
      return {
        operation: isKnown ? operation.name : undefined,
        method,
        target,
        headers: [
          ...(credential === '' ? [] : [['Authorization', credential] as const]),
          ...(hasBody ? [['Content-Type', type] as const] : []),
          ...(hasBody && coding !== '' ? [['Content-Encoding', coding.replace('broken ', '')] as const] : []),
          ...headers,
        ],
        body: hasBody ? coded : Buffer.alloc(0),
      };
    });
}

function rarely<T>(oneIn: number, odd: Arbitrary<T>, usual: T): Arbitrary<T> {
  return fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: odd });
}

function pathsOf(
  document: any,
  { path, described }: FuzzedOperation,
  known: Known,
): Arbitrary<{ readonly text: string; readonly isPlain: boolean }> {
  const parameters: any[] = (described.parameters ?? []).filter((each: any) => each.in === 'path');
  const values = parameters.map(({ name, schema }) => {
    const key = path.includes('api-keys/')
      ? 'throwawayKeyId'
      : path.includes('jwt-issuers/')
        ? 'throwawayIssuerId'
        : name;
    const right = valid(document, schema, known, key).map(String);
    return fc.oneof(
      { weight: 5, arbitrary: right.map((text) => ({ name, text })) },
      { weight: 2, arbitrary: oddTexts.map((text) => ({ name, text })) },
    );
  });
  return fc.tuple(...values).map((filled) => ({
    text: filled.reduce((text, { name, text: value }) => text.replace(`{${name}}`, () => encoded(value)), path),
    // Others may lead to other routes.
    isPlain: filled.every(({ text }) => /^[\w-]+$/.test(text)),
  }));
}

function queriesOf(document: any, { described }: FuzzedOperation, known: Known): Arbitrary<string> {
  const parameters: any[] = (described.parameters ?? []).filter((each: any) => each.in === 'query');
  const pairs = parameters.map(({ name, schema }) =>
    fc
      .oneof(
        { weight: 5, arbitrary: valid(document, schema, known, name).map(String) },
        { weight: 1, arbitrary: oddTexts },
      )
      .map((text) => `${name}=${encoded(text)}`),
  );
  const some = parameters.length === 0 ? fc.constant([]) : fc.array(fc.oneof(...pairs), { maxLength: 3 });
  const odd = rarely(
    15,
    fc.constantFrom('__proto__=1', 'unknown=1', 'limit[]=1', 'a', '=', '%', '&&', '?', 'limit=%FF'),
    '',
  );
  return fc.tuple(some, odd).map(([list, more]) => {
    const text = [...list, more].filter((each) => each !== '').join('&');
    return text === '' ? '' : `?${text}`;
  });
}

function credentialsFor({ described }: FuzzedOperation, { apiKey, token }: Credentials): Arbitrary<string> {
  const isParticipants = JSON.stringify(described.security ?? []).includes('participant');
  const [right, wrong] = isParticipants ? [token, apiKey] : [apiKey, token];
  return fc.oneof(
    { weight: 40, arbitrary: fc.constant(`Bearer ${right}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('', `Bearer ${wrong}`, 'Basic eDp5', 'Bearer ', `bearer  ${right}`, 'x'.repeat(9_000)),
    },
  );
}
