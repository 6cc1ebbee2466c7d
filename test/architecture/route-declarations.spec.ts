import {
  GUARDS_METADATA,
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants';
import { RequestMethod, type Type } from '@nestjs/common';
import { ModulesContainer, Reflector } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import { ApiKeyGuard } from '../../src/platform/auth/api-key.guard';
import { REQUIRED_SCOPE } from '../../src/platform/auth/auth-metadata';
import { SCOPES } from '../../src/platform/auth/scopes';
import { PATH_NAME } from '../../src/platform/text/path-name';
import { startApp, type TestApp } from '../support/app';
import { Client } from '../support/client';
import { aTenant } from '../support/tenant';

/** A handler of a controller, with what its decorators have noted. */
interface Route {
  /** As the document names it: `POST /v1/external-events:batch`. */
  readonly name: string;
  readonly targets: readonly [Type, Type];
  readonly handler: Type;
  readonly method: string;
  /** Sets its status itself. */
  readonly takesResponse: boolean;
}

/** The documentation itself is not an operation of the service. */
const DOCS = /^\/docs(?:[-/].*)?$/;
/** How Nest numbers a parameter that is the response. */
const RESPONSE_PARAMETER = 1;

const reflector = new Reflector();
let service: TestApp;
let document: any;
let routes: readonly Route[];

beforeAll(async () => {
  service = await startApp();
  document = (await new Client(service.url, undefined).get('/docs-json')).body;
  routes = [...service.app.get(ModulesContainer).values()].flatMap((module) =>
    [...module.controllers.values()].flatMap(({ metatype }) => routesOf(metatype)),
  );
});

afterAll(() => service.stop());

function routesOf(controller: any): Route[] {
  const names = Object.getOwnPropertyNames(controller.prototype);
  return names.flatMap((name) => {
    const handler = controller.prototype[name];
    const method = Reflect.getMetadata(METHOD_METADATA, handler);
    if (method === undefined) return [];
    const parameters = Object.keys(Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {});
    return {
      ...{ name: nameOf(handler, controller), targets: [handler, controller] as const, handler },
      method: RequestMethod[method] ?? '',
      takesResponse: parameters.some((key) => key.startsWith(`${RESPONSE_PARAMETER}:`)),
    };
  });
}

function nameOf(handler: object, controller: object): string {
  const path = [controller, handler].map((target) => Reflect.getMetadata(PATH_METADATA, target)).join('/');
  return `${RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler)]} ${documented(`/${path}`)}`;
}

/** A path of Express's router as the document writes it. */
function documented(path: string): string {
  const written = path.replaceAll(/(?<!\\):(\w+)/g, '{$1}').replaceAll('\\', '');
  return written.replaceAll(/\/+$|(?<=\/)\/+/g, '');
}

interface Operation {
  readonly id: string;
  readonly name: string;
  readonly path: string;
  readonly method: string;
  readonly responses: Readonly<Record<string, any>>;
  readonly parameters: readonly { name: string; in: string; required: boolean }[];
}

function operations(): Operation[] {
  return Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, { operationId, responses, parameters }]) => ({
      ...{ id: operationId, name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase() },
      ...{ path, responses, parameters },
    })),
  );
}

const isSuccess = (status: string): boolean => /^2\d\d$/.test(status);

/** The statuses that a route says, by a decorator of its own, that it answers with when all is well. */
function declaredSuccesses({ handler }: Route): string[] {
  return Object.keys(Reflect.getMetadata(DECORATORS.API_RESPONSE, handler) ?? {}).filter(isSuccess);
}

describe('every route', () => {
  it('is found', () => {
    expect(routes.length).toBeGreaterThanOrEqual(10);
    expect(new Set(routes.map(({ name }) => name)).size).toBe(routes.length);
  });

  it('declares a scope of the closed list, and the guard that asks for it', () => {
    const open = routes.filter(({ targets }) => {
      const scope = reflector.getAllAndOverride(REQUIRED_SCOPE, [...targets]);
      const guards: unknown[] = reflector.getAllAndMerge(GUARDS_METADATA, [...targets]);
      return !SCOPES.includes(scope) || !guards.includes(ApiKeyGuard);
    });
    expect(open.map(({ name }) => name)).toEqual([]);
  });

  it('asks reads of whoever reads, and writes of whoever writes', () => {
    const odd = routes.filter(({ method, targets }) => {
      const scope: string = reflector.getAllAndOverride(REQUIRED_SCOPE, [...targets]);
      return method === 'GET' && !scope.endsWith(':read');
    });
    expect(odd.map(({ name }) => name)).toEqual([]);
  });

  it('declares its success answers, with the one that it gives unless it says otherwise', () => {
    const silent = routes.filter((route) => {
      const declared = declaredSuccesses(route);
      const given: number =
        Reflect.getMetadata(HTTP_CODE_METADATA, route.handler) ?? (route.method === 'POST' ? 201 : 200);
      return declared.length === 0 || (!route.takesResponse && !declared.includes(String(given)));
    });
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  it('has in the document the success answers that it declares and no other, each with the shape of its body', () => {
    const shown = operations().map(({ name, responses }) => [name, Object.keys(responses).filter(isSuccess).sort()]);
    expect(Object.fromEntries(shown)).toEqual(
      Object.fromEntries(routes.map((route) => [route.name, declaredSuccesses(route).sort()])),
    );
    const shapeless = operations().filter(({ responses }) =>
      Object.entries(responses).some(
        ([status, { content }]) =>
          isSuccess(status) && !Object.values<any>(content ?? {}).some(({ schema }) => schema?.$ref !== undefined),
      ),
    );
    expect(shapeless.map(({ name }) => name)).toEqual([]);
  });

  it('has an operation id of its own, which says what it does to what', () => {
    const ids = operations().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z]+(?:[A-Z][a-z]+)+$/.test(id))).toEqual([]);
  });

  it('is in the document, whatever it was registered by', () => {
    const layers: any[] = service.app.getHttpAdapter().getInstance().router.stack;
    const served = layers.flatMap(({ route }) => {
      if (route === undefined || DOCS.test(route.path)) return [];
      return Object.keys(route.methods).map((method) => `${method.toUpperCase()} ${documented(route.path)}`);
    });
    expect(served.sort()).toEqual(
      operations()
        .map(({ name }) => name)
        .sort(),
    );
  });
});

describe('every parameter of a path', () => {
  const HOSTILE = [
    ...['nonsense', '0', '-1', '%00', '%ff', '%', '%ED%A0%80', '..', '..%2f..', '%2e%2e', "'%20OR%201=1", '%2a', '%20'],
    ...['__proto__', 'constructor', '%F0%9F%8E%89', '-leading-dash', 'x'.repeat(129), 'x'.repeat(5_000)],
    '00000000-0000-0000-0000-000000000000',
    '00000000-0000-0000-0000-00000000000',
    '{00000000-0000-0000-0000-000000000000}',
  ];

  it('is described', () => {
    const undescribed = operations().filter(({ path, parameters }) => {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const described = parameters.filter((each) => each.in === 'path' && each.required).map(({ name }) => name);
      return inPath.join() !== described.join();
    });
    expect(undescribed.map(({ name }) => name)).toEqual([]);
  });

  it('is refused when it is no name or no id, and never taken to the database as it came', async () => {
    const { adminKey } = await aTenant(service.databaseUrl);
    const client = new Client(service.url, adminKey);
    const withParameter = operations().filter(({ path }) => path.includes('{'));
    expect(withParameter.length).toBeGreaterThan(0);
    const answers: string[] = [];
    for (const { name, path, method } of withParameter) {
      for (const value of HOSTILE) {
        const body = method === 'GET' ? undefined : '{}';
        // fetch folds .. away, and the path is then another one, which is what every client would see.
        const { status, body: problem } = await client.send(path.replaceAll(/\{\w+\}/g, value), body, { method });
        const isRefused = [404, 405, 422].includes(status) && problem.error_code !== undefined;
        // What could be a name of something may also be answered with an empty list of what belongs to it.
        if (!isRefused && !(PATH_NAME.test(value) && status === 200)) answers.push(`${name} ${value}: ${status}`);
      }
    }
    expect(answers).toEqual([]);
  });
});

describe('every parameter of a query', () => {
  it('is taken or refused, whatever it holds, and an unknown one is refused', async () => {
    const { adminKey } = await aTenant(service.databaseUrl);
    const client = new Client(service.url, adminKey);
    const reads = operations().filter(({ method }) => method === 'GET');
    const answers: string[] = [];
    for (const { name, path, parameters } of reads) {
      const ask = async (query: string): Promise<number> =>
        (await client.get(`${path.replaceAll(/\{\w+\}/g, 'x')}?${query}`)).status;
      for (const parameter of parameters.filter((each) => each.in === 'query')) {
        for (const value of ['', '%00', '%ff', '%ED%A0%80', "'", 'x'.repeat(5_000), `1&${parameter.name}=2`]) {
          const status = await ask(`${parameter.name}=${value}`);
          const isAnswered = [200, 422].includes(status) || (status === 404 && path.includes('{'));
          if (!isAnswered) answers.push(`${name} ${parameter.name}=${value.slice(0, 20)}: ${status}`);
        }
      }
      if (!path.includes('{') && (await ask('surely_unknown=1')) !== 422) answers.push(`${name}: takes anything`);
    }
    expect(answers).toEqual([]);
  });
});
