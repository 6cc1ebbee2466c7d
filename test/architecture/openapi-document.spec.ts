import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ERROR_CODES, type ErrorCode } from '../../src/platform/errors/error-codes';
import { KNOWN_FIELDS } from '../../src/review/dto/review-entry.dto';

const run = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const REDOCLY = join(ROOT, 'node_modules', '@redocly', 'cli', 'bin', 'cli.js');
const document = JSON.parse(readFileSync(join(ROOT, 'docs', 'openapi.json'), 'utf8'));

interface Operation {
  readonly name: string;
  readonly spec: any;
}

const operations: readonly Operation[] = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
  Object.entries<any>(methods).map(([method, spec]) => ({ name: `${method.toUpperCase()} ${path}`, spec })),
);

/** Headers that every answer of a status has. */
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

function resolved(value: any): any {
  if (value?.$ref === undefined) return value;
  const steps: string[] = value.$ref.split('/').slice(1);
  return resolved(steps.reduce((at, step) => at?.[step], document));
}

function responsesOf({ spec }: Operation): [string, any][] {
  return Object.entries(spec.responses).map(([status, response]) => [status, resolved(response)]);
}

const isProblem = (status: string): boolean => /^[45]\d\d$/.test(status);

/** What an operation of this kind can always be refused with. */
function impliedStatuses({ spec }: Operation): number[] {
  const schemes: string[] = (spec.security ?? []).flatMap((alternative: object) => Object.keys(alternative));
  const places: string[] = (spec.parameters ?? []).map((parameter: any) => parameter.in);
  return [
    ...[405, 500],
    ...(schemes.length > 0 ? [401, 429, 503] : []),
    ...(schemes.includes('apiKey') || schemes.includes('participantToken') ? [403] : []),
    ...(spec.requestBody === undefined ? [] : [400, 413, 415, 422]),
    ...(places.includes('path') ? [404] : []),
    ...(places.includes('query') ? [422] : []),
  ];
}

const namesOf = (odd: readonly Operation[]): string[] => odd.map(({ name }) => name);
const hasExample = (content: any): boolean =>
  content.example !== undefined || Object.values<any>(content.examples ?? {}).some(({ value }) => value !== undefined);

describe('docs/openapi.json', () => {
  it('has neither errors nor warnings under the recommended rules of Redocly', async () => {
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const options = ['lint', 'docs/openapi.json', '--extends=recommended', '--format=json'];
    const { stdout } = await run(process.execPath, [REDOCLY, ...options], { cwd: ROOT, env }).catch(
      (failure: unknown) => failure as { stdout: string },
    );
    const { problems } = JSON.parse(stdout.slice(stdout.indexOf('{')));
    expect(problems.map(({ ruleId, message, location }: any) => [ruleId, message, location[0].pointer])).toEqual([]);
  });

  it('describes each group of operations, and has no group without any', () => {
    const used = new Set(operations.flatMap(({ spec }) => spec.tags ?? []));
    const described = document.tags.filter(({ description }: any) => /\S/.test(description ?? ''));
    expect(described.map(({ name }: any) => name).sort()).toEqual([...used].sort());
  });

  it('says how each security scheme is used', () => {
    const schemes = Object.values<any>(document.components.securitySchemes);
    expect(schemes.filter(({ description }) => !/\S/.test(description ?? ''))).toEqual([]);
  });
});

describe('every operation of docs/openapi.json', () => {
  it('is found', () => expect(operations.length).toBeGreaterThanOrEqual(40));

  it('has a summary, which is one or two sentences, and belongs to one group', () => {
    const odd = operations.filter(({ spec }) => !/^[A-Z].+\.$/.test(spec.summary ?? '') || spec.tags?.length !== 1);
    expect(namesOf(odd)).toEqual([]);
  });

  it('shows an example of its body, if it takes one', () => {
    const bodies = operations.filter(({ spec }) => spec.requestBody !== undefined);
    const bare = bodies.filter(({ spec }) => !hasExample(spec.requestBody.content['application/json']));
    expect(namesOf(bare)).toEqual([]);
  });

  it('shows an example of each success, and words for it', () => {
    const bare = operations.filter((operation) =>
      responsesOf(operation).some(([status, { description, content = {} }]) => {
        if (!/^2/.test(status)) return false;
        return !/\S/.test(description) || !Object.values(content).every(hasExample);
      }),
    );
    expect(namesOf(bare)).toEqual([]);
  });

  it('names the statuses that its kind can be refused with', () => {
    const missing = operations.flatMap((operation) => {
      const named = Object.keys(operation.spec.responses);
      return impliedStatuses(operation)
        .filter((status) => !named.includes(String(status)))
        .map((status) => `${operation.name}: ${status}`);
    });
    expect(missing).toEqual([]);
  });

  it('shows each refusal as a problem, with an example for each of its codes and the headers that come with it', () => {
    const odd = operations.flatMap((operation) =>
      responsesOf(operation).flatMap(([status, response]) => {
        const problem = response.content?.['application/problem+json'];
        // Some answers of their own kind have such a status too, as of a service that says it is not ready.
        if (!isProblem(status) || (problem === undefined && response.content !== undefined)) return [];
        const examples = Object.entries<any>(problem?.examples ?? {});
        const codes: string[] = operation.spec['x-error-codes'].filter((code: ErrorCode) => statusOf(code) === status);
        const isSound =
          problem?.schema.$ref === '#/components/schemas/ProblemDetails' &&
          examples.map(([code]) => code).join() === codes.join() &&
          examples.every(([code, { value }]) => value.error_code === code && String(value.status) === status) &&
          (HEADERS[status] ?? []).every((name) => response.headers[name] !== undefined);
        return isSound ? [] : `${operation.name}: ${status}`;
      }),
    );
    expect(odd).toEqual([]);
  });

  it('names its request in each of its answers', () => {
    const odd = operations.filter((operation) =>
      responsesOf(operation).some(([, { headers }]) => headers?.['X-Request-Id'] === undefined),
    );
    expect(namesOf(odd)).toEqual([]);
  });
});

describe('code that is generated from docs/openapi.json', () => {
  const camelCase = (name: string): string =>
    name.replaceAll(/[_-](\w)/g, (_, letter: string) => letter.toUpperCase()).replace(/^\w/, (c) => c.toLowerCase());

  it('has a method of its own for each operation, which no language has another use for', () => {
    const ids: string[] = operations.map(({ spec }) => spec.operationId);
    expect(ids.filter((id) => !/^[a-z]+[A-Z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(ids.length);
  });

  it('has parameters of different names, however a language writes them', () => {
    const odd = operations.filter(({ spec }) => {
      const names: string[] = (spec.parameters ?? []).map(({ name }: any) => camelCase(name));
      return new Set(names).size < names.length;
    });
    expect(namesOf(odd)).toEqual([]);
  });

  it('takes no verb for a parameter where it is told how to write a colon', async () => {
    const config = join(ROOT, 'clients', 'swagger-typescript-api.config.mjs');
    // As the generator loads it: a module, and no source of the tests.
    const program = `import(${JSON.stringify(config)}).then(({ default: { hooks } }) =>
      console.log(JSON.stringify(${JSON.stringify(Object.keys(document.paths))}.map(hooks.onPreBuildRoutePath))))`;
    const { stdout } = await run(process.execPath, ['-e', program]);
    const paths: string[] = JSON.parse(stdout);
    expect(paths).toContain('/v1/external-events%3Abatch');
    expect(paths.filter((path) => path.includes(':'))).toEqual([]);
    expect(paths.map((path) => decodeURIComponent(path))).toEqual(Object.keys(document.paths));
  });

  it('has one answer for each kind of refusal, which operations refer to', () => {
    const inline = operations.filter(({ spec }) =>
      Object.entries<any>(spec.responses).some(
        ([status, { $ref, content }]) =>
          $ref === undefined && (status === 'default' || content?.['application/problem+json'] !== undefined),
      ),
    );
    expect(namesOf(inline)).toEqual([]);
  });
});

describe('every error code', () => {
  it('is a refusal of some operation, under its status', () => {
    const named = new Set(operations.flatMap(({ spec }) => spec['x-error-codes']));
    // No client of the API meets those of the console.
    const others = Object.keys(ERROR_CODES).filter((code) => !named.has(code));
    expect(others).toEqual(['cross_site_request', 'proof_required']);
  });
});

function statusOf(code: ErrorCode): string {
  return String(ERROR_CODES[code].status);
}

it.each([
  ['external', 'ExternalEventDto'],
  ['cdp', 'CdpEventDto'],
])('views of refused %s events show the fields that %s has, and mask others', (family, schema) => {
  const fields = Object.keys(document.components.schemas[schema].properties);
  expect([...(KNOWN_FIELDS.get(family) ?? [])].toSorted()).toEqual(fields.toSorted());
});
