import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { API_KEY_SECURITY, JWT_SECURITY, RATE_LIMIT_EXTENSION, SIGNATURE_SECURITY } from '../../auth/auth-metadata';
import { VERSION } from '../../config/version';
import { ERROR_CODES } from '../../errors/error-codes';
import { FAULT_CODES } from '../../errors/fault-codes';
import type { StatusPolicy } from '../../errors/status-policy';
import { ERROR_CODES_EXTENSION } from './may-refuse.decorator';
import {
  type Components,
  type Content,
  isReference,
  type OpenApiOperation,
  operationsOf,
  parametersOf,
  type ResponseObject,
  type SchemaObject,
} from './open-api-schema';
import { exampleOf, exampleOfName } from './openapi-examples';
import { HEADERS, headersOf, RATE_LIMIT_HEADERS } from './openapi-headers';
import {
  errorCodesOf,
  OTHER_PROBLEM,
  otherProblemResponse,
  PROBLEM_SCHEMA,
  problemResponses,
  responseReference,
} from './openapi-problems';
import { tagsOf } from './openapi-tags';
import { tidy } from './openapi-tidy';

/** What the document says about limits; the same numbers are in force. */
export interface DocumentedLimits {
  readonly batchItemsMax: number;
  readonly batchBytesMax: number;
  readonly bodyBytesMax: number;
  readonly propertiesBytesMax: number;
}

const SIGNATURE_WORDS =
  'A request signed by a service credential (RFC 9421): `Content-Digest` (RFC 9530), `Signature-Input` and `Signature`, ' +
  'label `sig1`, components `("@method" "@path" "@query" "content-digest")`, parameters `created`, `keyid` and `alg`.';

const SUCCESS_WORDS: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Taken: stored and queued.',
};

/**
 * Describes all routes. What follows from the kind of an operation is written here and not at each of them: its refusals,
 * the headers of its answers, and examples made of those of its parts.
 */
export function openApiDocument(
  app: INestApplication,
  limits?: DocumentedLimits,
  policy: StatusPolicy = {},
): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, head(limits), {
    operationIdFactory: (_controller, method) => method,
  });
  const components = (document.components ??= {});
  const schemas = (components.schemas ??= {});
  schemas[PROBLEM_SCHEMA] = problemSchema();
  components.headers = { ...HEADERS };
  components.responses = { [OTHER_PROBLEM]: otherProblemResponse() };
  tidy(document);
  document.tags = tagsOf(document);
  for (const { operation } of operationsOf(document)) {
    describeSuccesses(operation, schemas);
    describeRequest(operation, schemas);
    Object.assign(components.responses, describeRefusals(operation, policy));
  }
  return document;
}

function head(limits: DocumentedLimits | undefined): Omit<OpenAPIObject, 'paths'> {
  return (
    new DocumentBuilder()
      .setTitle('Campaign Data Service')
      .setDescription(description(limits))
      .setVersion(VERSION)
      .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
      // Relative to this document (OpenAPI 3.0, section 4.7.5), so that it holds behind a proxy with a path of its own.
      .addServer('.', 'The address that this document comes from, without its last step.')
      // Not addBearerAuth, which calls every bearer a JWT.
      .addSecurity(API_KEY_SECURITY, { type: 'http', scheme: 'bearer', description: 'An API key of a backend.' })
      .addBearerAuth(
        { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The token of a participant.' },
        JWT_SECURITY,
      )
      .addApiKey({ type: 'apiKey', in: 'header', name: 'Signature', description: SIGNATURE_WORDS }, SIGNATURE_SECURITY)
      .build()
  );
}

function describeSuccesses(operation: OpenApiOperation, schemas: Components): void {
  const further = RATE_LIMIT_EXTENSION in operation ? RATE_LIMIT_HEADERS : [];
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response === undefined || isReference(response)) continue;
    response.description = response.description === '' ? (SUCCESS_WORDS[status] ?? 'Answered.') : response.description;
    response.headers = { ...headersOf(status, further), ...response.headers };
    addExamples(response.content ?? {}, schemas);
  }
}

function describeRequest(operation: OpenApiOperation, schemas: Components): void {
  const { requestBody } = operation;
  if (requestBody !== undefined && !isReference(requestBody)) addExamples(requestBody.content, schemas);
  for (const parameter of parametersOf(operation).filter((each) => each.in === 'path')) {
    parameter.example ??= exampleOfName(parameter.name);
  }
}

/** A form that only another standard describes has to bring its own examples. */
function addExamples(content: Content, schemas: Components): void {
  for (const body of Object.values(content)) {
    if (body.schema === undefined || body.example !== undefined || body.examples !== undefined) continue;
    const example = exampleOf(body.schema, schemas);
    if (example !== undefined) body.example = example;
  }
}

/** Adds the problems that an operation can answer with to it, and returns those that they refer to. */
function describeRefusals(operation: OpenApiOperation, policy: StatusPolicy): Readonly<Record<string, ResponseObject>> {
  const codes = errorCodesOf(operation);
  const { responses, shared } = problemResponses(codes, policy);
  operation.responses = { ...responses, default: responseReference(OTHER_PROBLEM), ...operation.responses };
  Object.assign(operation, { [ERROR_CODES_EXTENSION]: codes });
  return shared;
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
      'Bodies may be sent with `Content-Encoding: gzip`; the limits hold after inflation, ' +
      'and a body inflates to a hundred times its size at most. JSON nests 64 levels at most. ' +
      'Rate limits charge each 16 KiB of a body like an event. An answer lists at most 1,000 faults.',
  ].join('\n');
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
