import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { API_KEY_SECURITY, JWT_SECURITY, RATE_LIMIT_EXTENSION, SIGNATURE_SECURITY } from '../../auth/auth-metadata';
import { VERSION } from '../../config/version';
import { ERROR_CODES } from '../../errors/error-codes';
import { FAULT_CODES } from '../../errors/fault-codes';
import type { StatusPolicy } from '../../errors/status-policy';
import { ERROR_CODES_EXTENSION } from './may-refuse.decorator';
import {
  type Content,
  isReference,
  type OpenApiOperation,
  operationsOf,
  parametersOf,
  type ResponseObject,
  type SchemaObject,
} from './open-api-schema';
import { exampleOf, exampleOfName, type ExampleSources } from './openapi-examples';
import { type DocumentTexts, NO_TEXTS } from './document-texts';
import { HEADERS, headersOf, RATE_LIMIT_HEADERS } from './openapi-headers';
import {
  errorCodesOf,
  OTHER_PROBLEM,
  otherProblemResponse,
  PROBLEM_SCHEMA,
  problemResponses,
  responseReference,
} from './openapi-problems';
import { tidy } from './openapi-tidy';

const SIGNATURE_WORDS =
  'A request signed by a service credential (RFC 9421): `Content-Digest` (RFC 9530), `Signature-Input` and `Signature`, ' +
  'label `sig1`, components `("@method" "@path" "@query" "content-digest")`, parameters `created`, `keyid` and `alg`.';

const SUCCESS_WORDS: Readonly<Record<string, string>> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Taken: stored and queued.',
};

/**
 * Describes all routes. What follows from the kind of an operation is added here, not at each route: its refusals, the
 * headers of its responses, and examples made from those of its parts.
 */
export function openApiDocument(
  app: INestApplication,
  texts: DocumentTexts = NO_TEXTS,
  policy: StatusPolicy = {},
): OpenAPIObject {
  const document = SwaggerModule.createDocument(app, head(texts), {
    operationIdFactory: (_controller, method) => method,
  });
  const components = (document.components ??= {});
  const schemas = (components.schemas ??= {});
  schemas[PROBLEM_SCHEMA] = problemSchema();
  components.headers = { ...HEADERS, ...texts.headers };
  components.responses = { [OTHER_PROBLEM]: otherProblemResponse() };
  tidy(document);
  document.tags = tagsOf(document, texts.tags);
  const sources = { schemas, byName: texts.examplesByName };
  for (const { operation } of operationsOf(document)) {
    describeSuccesses(operation, sources);
    describeRequest(operation, sources);
    Object.assign(components.responses, describeRefusals(operation, policy, texts));
  }
  return document;
}

function head({ title, description }: DocumentTexts): Omit<OpenAPIObject, 'paths'> {
  return (
    new DocumentBuilder()
      .setTitle(title)
      .setDescription(description)
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

/** The tags that operations have: first those with a description, in its order. */
function tagsOf(document: OpenAPIObject, descriptions: DocumentTexts['tags']): NonNullable<OpenAPIObject['tags']> {
  const used = new Set(operationsOf(document).flatMap(({ operation }) => operation.tags ?? []));
  const described = Object.entries(descriptions).filter(([name]) => used.has(name));
  const others = [...used].filter((name) => !Object.hasOwn(descriptions, name));
  return [...described.map(([name, description]) => ({ name, description })), ...others.map((name) => ({ name }))];
}

function describeSuccesses(operation: OpenApiOperation, sources: ExampleSources): void {
  const further = RATE_LIMIT_EXTENSION in operation ? RATE_LIMIT_HEADERS : [];
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response === undefined || isReference(response)) continue;
    response.description = response.description === '' ? (SUCCESS_WORDS[status] ?? 'Answered.') : response.description;
    response.headers = { ...headersOf(status, further), ...response.headers };
    addExamples(response.content ?? {}, sources);
  }
}

function describeRequest(operation: OpenApiOperation, sources: ExampleSources): void {
  const { requestBody } = operation;
  if (requestBody !== undefined && !isReference(requestBody)) addExamples(requestBody.content, sources);
  for (const parameter of parametersOf(operation).filter((each) => each.in === 'path')) {
    parameter.example ??= exampleOfName(parameter.name, sources.byName);
  }
}

/** A body that only another standard describes has to bring its own examples. */
function addExamples(content: Content, sources: ExampleSources): void {
  for (const body of Object.values(content)) {
    if (body.schema === undefined || body.example !== undefined || body.examples !== undefined) continue;
    const example = exampleOf(body.schema, sources);
    if (example !== undefined) body.example = example;
  }
}

/** Adds its refusals to an operation, and returns the shared responses that they refer to. */
function describeRefusals(
  operation: OpenApiOperation,
  policy: StatusPolicy,
  texts: DocumentTexts,
): Readonly<Record<string, ResponseObject>> {
  const codes = errorCodesOf(operation);
  const { responses, shared } = problemResponses(codes, policy, texts);
  operation.responses = { ...responses, default: responseReference(OTHER_PROBLEM), ...operation.responses };
  Object.assign(operation, { [ERROR_CODES_EXTENSION]: codes });
  return shared;
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
      message: { type: 'string', description: 'What is wrong and how to correct it; never the value itself.' },
    },
  };
}
