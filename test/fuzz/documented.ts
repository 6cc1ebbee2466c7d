import Ajv from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { ValidateFunction } from 'ajv';
import type { RawAnswer } from './pipeline';
import type { FuzzRequest } from './requests';

const PROBLEM = 'application/problem+json';
/** Answers of the HTTP server itself, which come before any route: `platform/http/server/malformed-http.ts`. */
const BEFORE_ROUTES = new Set([400, 404, 405, 408, 413, 431]);
/** What tells an attacker which software runs here. */
const TELLING_HEADERS = ['server', 'x-powered-by', 'x-aspnet-version', 'via'];

/** Holds answers against the OpenAPI document that the service serves. */
export class Documented {
  private readonly ajv = new Ajv({ strict: false, allErrors: false });
  private readonly validators = new Map<string, ValidateFunction>();

  constructor(private readonly document: any) {
    addFormats(this.ajv);
    this.ajv.addSchema({ $id: 'http://doc/', components: jsonSchemaOf(document.components) });
  }

  /** What is wrong with an answer; empty when it is as documented. */
  faultsOf(request: FuzzRequest, answer: RawAnswer): string[] {
    const { status, headers, body } = answer;
    const faults: string[] = [];
    // 503 says that the machine is too busy, which is no fault of the answer.
    if (!(status >= 200 && (status < 500 || status === 503))) faults.push(`status ${status}`);
    if (headers['x-request-id'] === undefined) faults.push('no X-Request-Id');
    if (headers['x-content-type-options'] !== 'nosniff' && headers['connection'] !== 'close') faults.push('no nosniff');
    for (const name of TELLING_HEADERS) if (headers[name] !== undefined) faults.push(`header ${name}`);
    if (/\bat \S+ \(|node_modules|\.ts:\d|\.js:\d/.test(body)) faults.push('a stack trace');
    if (request.method === 'HEAD') return faults;
    const described = this.describedAnswer(request.operation, status);
    if (described === undefined && !(request.operation === undefined || BEFORE_ROUTES.has(status))) {
      return [...faults, `status ${status} is not documented`];
    }
    return status >= 400
      ? [...faults, ...this.faultsOfProblem(answer), ...this.faultsOfBody(described, answer, PROBLEM)]
      : [...faults, ...(described === undefined ? [] : this.faultsOfSuccess(described, answer))];
  }

  private describedAnswer(operation: string | undefined, status: number): any {
    if (operation === undefined) return undefined;
    const [method = '', path = ''] = operation.split(' ');
    const { responses } = this.document.paths[path][method.toLowerCase()];
    const described = responses[status];
    const name = /^#\/components\/responses\/(.*)$/.exec(described?.$ref ?? '')?.[1];
    return name === undefined ? described : this.document.components.responses[name];
  }

  private faultsOfProblem({ status, headers, body }: RawAnswer): string[] {
    if (headers['content-type'] !== PROBLEM) return [`a problem as ${headers['content-type']}`];
    const problem = JSON.parse(body);
    const faults = this.validate('problem', { $ref: '#/components/schemas/ProblemDetails' }, problem);
    if (problem.status !== status) faults.push('another status in the problem');
    if (problem.request_id !== headers['x-request-id']) faults.push('another request id in the problem');
    if (problem.detail !== problem.message) faults.push('detail is not message');
    if (status === 405 && headers['allow'] === undefined) faults.push('405 without Allow');
    if (status === 401 && headers['www-authenticate'] === undefined) faults.push('401 without WWW-Authenticate');
    if ((status === 429 || status === 503) && headers['retry-after'] === undefined) faults.push('no Retry-After');
    return faults;
  }

  private faultsOfSuccess(described: any, answer: RawAnswer): string[] {
    const [type] = (answer.headers['content-type'] ?? '').split(';');
    const required = Object.entries<any>(described.headers ?? {}).filter(([, header]) => header.required === true);
    const missing = required.filter(([name]) => answer.headers[name.toLowerCase()] === undefined);
    return [
      ...missing.map(([name]) => `header ${name} is missing`),
      ...this.faultsOfBody(described, answer, type ?? ''),
    ];
  }

  private faultsOfBody(described: any, { status, body }: RawAnswer, type: string): string[] {
    if (described?.content === undefined) return described === undefined || body === '' ? [] : ['an undocumented body'];
    const media = described.content[type];
    if (media === undefined) return [`content type ${type} is not documented`];
    if (media.schema === undefined || !/json$/.test(type) || type === 'application/x-ndjson') return [];
    return this.validate(JSON.stringify([status, media.schema]), media.schema, JSON.parse(body));
  }

  private validate(name: string, schema: any, value: unknown): string[] {
    let validator = this.validators.get(name);
    if (validator === undefined) {
      validator = this.ajv.compile(jsonSchemaOf(schema));
      this.validators.set(name, validator);
    }
    if (validator(value)) return [];
    return [`not as documented: ${this.ajv.errorsText(validator.errors)}`];
  }
}

/** A schema of OpenAPI 3.0 in words of JSON Schema: `nullable` is no word there. Answers have no undocumented fields. */
function jsonSchemaOf(schema: any): any {
  if (Array.isArray(schema)) return schema.map(jsonSchemaOf);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { nullable, example: _example, ...rest } = schema;
  const plain = Object.fromEntries(
    Object.entries<any>(rest).map(([key, value]) => {
      if (key === '$ref') return [key, String(value).replace('#', 'http://doc/#')];
      return [key, ['enum', 'const', 'required', 'default'].includes(key) ? value : jsonSchemaOf(value)];
    }),
  );
  if (plain['type'] === 'object' && plain['properties'] !== undefined && plain['additionalProperties'] === undefined) {
    plain['additionalProperties'] = false;
  }
  return nullable === true ? { anyOf: [plain, { type: 'null' }] } : plain;
}
