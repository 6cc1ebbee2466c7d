import type { OpenAPIObject } from '@nestjs/swagger';
import type { ResponseObject } from './open-api-schema';

type Headers = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>;
/** A header of an answer, as `components.headers` describes it. */
export type DocumentedHeader = Headers[string];

/** A header with a text as its value. */
export function textHeader(description: string, example: string): DocumentedHeader {
  return { description, schema: { type: 'string' }, example };
}

/** The headers that answers of any application have. */
export const HEADERS = {
  'X-Request-Id': textHeader(
    'Names this request in logs and traces; the id that the client has sent, if it is well formed.',
    '2f1c9d52-6f7b-4c0e-8a3d-5b9e1c7f4a60',
  ),
  'WWW-Authenticate': textHeader(
    'What is wrong with the credential (RFC 6750), and which scope it lacks.',
    'Bearer realm="campaign-data-service", error="invalid_token"',
  ),
  'Retry-After': {
    description: 'Seconds to wait before the same is sent again.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  RateLimit: textHeader(
    'What is left of the limit (`r`) and the seconds until all of it is there again (`t`); where the operator has set one.',
    '"events";r=99;t=1',
  ),
  'RateLimit-Policy': textHeader(
    'The limit (`q`) in a window of seconds (`w`); where the operator has set one.',
    '"events";q=100;w=1',
  ),
  Allow: textHeader('The methods that this address takes.', 'GET, HEAD, POST'),
} as const satisfies Headers;

type HeaderName = keyof typeof HEADERS;

const OF_STATUS: Readonly<Record<string, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

/** The headers of a response: those that follow from its status, and `further` ones. */
export function headersOf(status: string, further: readonly HeaderName[] = []): NonNullable<ResponseObject['headers']> {
  return documentedHeaders('X-Request-Id', ...(OF_STATUS[status] ?? []), ...further);
}

/** References to headers by name: to those above, or to `headers` of the application's `DocumentTexts`. */
export function documentedHeaders(...names: readonly string[]): NonNullable<ResponseObject['headers']> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The headers of every response of a rate-limited operation. */
export const RATE_LIMIT_HEADERS: readonly HeaderName[] = ['RateLimit', 'RateLimit-Policy'];
