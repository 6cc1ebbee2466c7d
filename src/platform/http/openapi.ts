import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { API_KEY_SECURITY, JWT_SECURITY, SIGNATURE_SECURITY } from '../auth/auth-metadata';
import { ERROR_CODES } from '../errors/error-codes';
import { FAULT_CODES } from '../errors/fault-codes';
import { PROBLEM_MEDIA_TYPE } from '../errors/problem-details';
import type { Reference, SchemaObject } from './open-api-schema';

/** What the document says about limits; the same numbers are in force. */
export interface DocumentedLimits {
  readonly batchItemsMax: number;
  readonly batchBytesMax: number;
  readonly bodyBytesMax: number;
  readonly propertiesBytesMax: number;
}

/** Of the contract in the path `/v1`, which changes only by addition. */
const API_VERSION = '1.0.0';
const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;
const PROBLEM_SCHEMA = 'ProblemDetails';

const SIGNATURE_WORDS =
  'A request signed by a service credential (RFC 9421): `Content-Digest` (RFC 9530), `Signature-Input` and `Signature`, ' +
  'label `sig1`, components `("@method" "@path" "@query" "content-digest")`, parameters `created`, `keyid` and `alg`.';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type ResponseObject = Exclude<NonNullable<Operation['responses']['default']>, Reference>;

/** Describes all routes. Every operation answers errors in the one way, so that is added here and not at each of them. */
export function openApiDocument(app: INestApplication, limits?: DocumentedLimits): OpenAPIObject {
  const config = new DocumentBuilder()
    .setTitle('Campaign Data Service')
    .setDescription(description(limits))
    .setVersion(API_VERSION)
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'An API key of a backend.' }, API_KEY_SECURITY)
    .addBearerAuth(
      { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The token of a participant.' },
      JWT_SECURITY,
    )
    .addApiKey({ type: 'apiKey', in: 'header', name: 'Signature', description: SIGNATURE_WORDS }, SIGNATURE_SECURITY)
    .build();
  const document = SwaggerModule.createDocument(app, config, { operationIdFactory: (_controller, method) => method });
  const schemas = ((document.components ??= {}).schemas ??= {});
  schemas[PROBLEM_SCHEMA] = problemSchema();
  for (const path of Object.values(document.paths)) {
    for (const method of METHODS) {
      const operation = path[method];
      if (operation !== undefined) operation.responses['default'] ??= problemResponse();
    }
  }
  return document;
}

function description(limits: DocumentedLimits | undefined): string {
  const text = 'Takes customer events exactly once, knows whose they are, and lets campaigns react to them.';
  if (limits === undefined) return text;
  const { batchItemsMax, batchBytesMax, bodyBytesMax, propertiesBytesMax } = limits;
  return [
    text,
    '',
    'Limits: ' +
      `a batch has at most ${batchItemsMax} items and ${batchBytesMax} bytes, any other body ${bodyBytesMax} bytes, ` +
      `\`attributes\` and \`properties\` of one event ${propertiesBytesMax} bytes. ` +
      'Bodies may be sent with `Content-Encoding: gzip`; the limits hold after inflation.',
  ].join('\n');
}

function problemResponse(): ResponseObject {
  return {
    description: 'Every error (RFC 9457).',
    content: { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: `#/components/schemas/${PROBLEM_SCHEMA}` } } },
  };
}

function problemSchema(): SchemaObject {
  const text = (words: string): SchemaObject => ({ type: 'string', description: words });
  return {
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'error_code', 'message', 'details', 'request_id'],
    properties: {
      type: text('The problem, as a relative reference that never changes: `/problems/<error_code>`.'),
      title: text('The problem in short.'),
      status: { type: 'integer', description: 'The HTTP status.' },
      detail: text('What is wrong with this request; the same as `message`.'),
      error_code: { type: 'string', enum: Object.keys(ERROR_CODES) },
      message: text('What is wrong with this request.'),
      details: { type: 'array', items: faultSchema(), description: 'Every fault found.' },
      request_id: text('The `X-Request-Id` of this answer.'),
      path: text('The state path of a refused mutation.'),
    },
  };
}

function faultSchema(): SchemaObject {
  return {
    type: 'object',
    required: ['path', 'code', 'message'],
    properties: {
      path: { type: 'string', description: 'The field, the way the client wrote it.', example: 'identity.type' },
      code: { type: 'string', enum: Object.keys(FAULT_CODES) },
      message: { type: 'string', description: 'What is wrong and how to mend it; never the value itself.' },
    },
  };
}
