import type { OpenAPIObject } from '@nestjs/swagger';
import type { ResponseObject } from './open-api-schema';

type Headers = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>;

const text = (description: string, example: string): Headers[string] => ({
  description,
  schema: { type: 'string' },
  example,
});

/** Every header that answers have and the document shows. */
export const HEADERS = {
  'X-Request-Id': text(
    'Names this request, for whoever looks for it later; the one that the client has sent, if it is sane.',
    '2f1c9d52-6f7b-4c0e-8a3d-5b9e1c7f4a60',
  ),
  'WWW-Authenticate': text(
    'What is wrong with the credential (RFC 6750), and which scope it lacks.',
    'Bearer realm="campaign-data-service", error="invalid_token"',
  ),
  'Retry-After': {
    description: 'Seconds to wait before the same is sent again.',
    schema: { type: 'integer', minimum: 1 },
    example: 1,
  },
  RateLimit: text(
    'What is left of the limit (`r`) and the seconds until all of it is there again (`t`); where the operator has set one.',
    '"events";r=99;t=1',
  ),
  'RateLimit-Policy': text(
    'The limit (`q`) in a window of seconds (`w`); where the operator has set one.',
    '"events";q=100;w=1',
  ),
  Allow: text('The methods that this address takes.', 'GET, HEAD, POST'),
  'Mutation-Payload-Mismatch': text(
    '`true` when the `mutation_id` was used before, with other operations; the answer is that of the original.',
    'true',
  ),
} as const satisfies Headers;

export type HeaderName = keyof typeof HEADERS;

const OF_STATUS: Readonly<Record<string, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

/** The headers of an answer as an operation's response lists them; `further` beside those that follow from its status. */
export function headersOf(status: string, further: readonly HeaderName[] = []): NonNullable<ResponseObject['headers']> {
  return documentedHeaders('X-Request-Id', ...(OF_STATUS[status] ?? []), ...further);
}

/** For an answer that has headers which follow neither from its status nor from the kind of its route. */
export function documentedHeaders(...names: readonly HeaderName[]): NonNullable<ResponseObject['headers']> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Of every answer of an operation that a limit holds for. */
export const RATE_LIMIT_HEADERS: readonly HeaderName[] = ['RateLimit', 'RateLimit-Policy'];
