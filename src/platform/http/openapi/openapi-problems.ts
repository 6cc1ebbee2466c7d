import { STATUS_CODES } from 'node:http';
import { API_KEY_SECURITY, JWT_SECURITY, SIGNATURE_SECURITY } from '../../auth/auth-metadata';
import { ERROR_CODES, type ErrorCode } from '../../errors/error-codes';
import { PROBLEM_MEDIA_TYPE, type ProblemDetails, problemType } from '../../errors/problem-details';
import { statusOf, type StatusPolicy } from '../../errors/status-policy';
import type { DocumentTexts } from './document-texts';
import { ERROR_CODES_EXTENSION } from './may-refuse.decorator';
import { type OpenApiOperation, parametersOf, type Reference, type ResponseObject } from './open-api-schema';
import { headersOf } from './openapi-headers';

export const PROBLEM_SCHEMA = 'ProblemDetails';
/** What every operation can answer beside the refusals of its kind. */
export const OTHER_PROBLEM = 'OtherProblem';

const ORDER = Object.keys(ERROR_CODES) as ErrorCode[];
const OF_EVERY_OPERATION: readonly ErrorCode[] = ['method_not_allowed', 'internal'];
/** A credential is looked up, and a wrong one is counted; a query that the route does not take is refused. */
const OF_CALLS: readonly ErrorCode[] = ['unauthenticated', 'rate_limited', 'unavailable', 'validation_failed'];
const OF_SCHEME: Readonly<Record<string, readonly ErrorCode[]>> = {
  [API_KEY_SECURITY]: ['invalid_api_key', 'api_key_expired', 'api_key_revoked', 'insufficient_scope'],
  [SIGNATURE_SECURITY]: ['invalid_signature'],
  [JWT_SECURITY]: ['invalid_token'],
};
const OF_BODY: readonly ErrorCode[] = [
  'malformed_json',
  'payload_too_large',
  'unsupported_media_type',
  'validation_failed',
];
/** An id that is none names nothing (404); any other name in a path has a form (422, contract section 1). */
const ID_PARAMETER = /^id$|Id$/;

/** What the examples of refusals show (`DocumentTexts`). */
export type ProblemExamples = Pick<DocumentTexts, 'faults' | 'statePaths'>;

/** Every refusal that an operation can answer with: those that follow from its kind, and those that its route names. */
export function errorCodesOf(operation: OpenApiOperation): ErrorCode[] {
  const schemes = (operation.security ?? []).flatMap((alternative) => Object.keys(alternative));
  const places = new Set(parametersOf(operation).map((parameter) => parameter.in));
  const names = parametersOf(operation).filter(({ name, in: place }) => place === 'path' && !ID_PARAMETER.test(name));
  const { [ERROR_CODES_EXTENSION]: named } = operation as { readonly [ERROR_CODES_EXTENSION]?: readonly ErrorCode[] };
  const codes = new Set<ErrorCode>([
    ...OF_EVERY_OPERATION,
    ...(schemes.length > 0 ? OF_CALLS : []),
    ...schemes.flatMap((scheme) => OF_SCHEME[scheme] ?? []),
    ...(operation.requestBody === undefined ? [] : OF_BODY),
    ...(places.has('path') ? (['not_found'] as const) : []),
    ...(places.has('query') || names.length > 0 ? (['validation_failed'] as const) : []),
    ...(named ?? []),
  ]);
  return ORDER.filter((code) => codes.has(code));
}

/** The answers of an operation that refuses with these, by their status, and what they refer to. */
export function problemResponses(
  codes: readonly ErrorCode[],
  policy: StatusPolicy,
  examples: ProblemExamples,
): { readonly responses: Record<string, Reference>; readonly shared: Record<string, ResponseObject> } {
  const responses: Record<string, Reference> = {};
  const shared: Record<string, ResponseObject> = {};
  for (const status of new Set(codes.map((code) => statusOf(code, policy)))) {
    const ofStatus = codes.filter((code) => statusOf(code, policy) === status);
    const name = ofStatus.map(pascalCase).join('Or');
    responses[status] = responseReference(name);
    shared[name] = problemResponse(status, ofStatus, policy, examples);
  }
  return { responses, shared };
}

/** Each answer is written once, and operations refer to it: generators make one type of it. */
export function responseReference(name: string): Reference {
  return { $ref: `#/components/responses/${name}` };
}

/** What HTTP itself is refused with, before there is a route: 400, 408, 413, 431 and 501. */
export function otherProblemResponse(): ResponseObject {
  return {
    description: 'Any other error has the same form (RFC 9457).',
    headers: headersOf('default'),
    content: { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: `#/components/schemas/${PROBLEM_SCHEMA}` } } },
  };
}

function problemResponse(
  status: number,
  codes: readonly ErrorCode[],
  policy: StatusPolicy,
  shown: ProblemExamples,
): ResponseObject {
  const meanings = codes.map((code) => `\`${code}\`: ${ERROR_CODES[code].title}. ${ERROR_CODES[code].remedy}`);
  const examples = codes.map((code) => {
    return [code, { summary: ERROR_CODES[code].title, value: problemExample(code, policy, shown) }] as const;
  });
  return {
    description: [`${STATUS_CODES[status] ?? ''}.`, ...meanings.map((meaning) => `- ${meaning}`)].join('\n'),
    headers: headersOf(String(status)),
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: { $ref: `#/components/schemas/${PROBLEM_SCHEMA}` },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function problemExample(
  code: ErrorCode,
  policy: StatusPolicy,
  { faults, statePaths }: ProblemExamples,
): ProblemDetails {
  const { title, remedy } = ERROR_CODES[code];
  const fault = faults[code];
  const path = statePaths[code];
  const message = fault?.message ?? `${title}. ${remedy}`;
  return {
    type: problemType(code),
    title,
    status: statusOf(code, policy),
    detail: message,
    error_code: code,
    message,
    details: fault === undefined ? [] : [fault],
    request_id: '2f1c9d52-6f7b-4c0e-8a3d-5b9e1c7f4a60',
    ...(path === undefined ? {} : { path }),
  };
}

function pascalCase(code: string): string {
  return code.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
