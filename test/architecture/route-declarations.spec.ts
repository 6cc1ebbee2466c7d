import {
  GUARDS_METADATA,
  HTTP_CODE_METADATA,
  INTERCEPTORS_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants';
import { RequestMethod, type Type } from '@nestjs/common';
import { ModulesContainer, Reflector } from '@nestjs/core';
import { DECORATORS } from '@nestjs/swagger';
import { ApiKeyGuard } from '../../src/platform/auth/api-key.guard';
import { RATE_LIMITED, REQUIRED_SCOPE, TAKES_SIGNATURES, UNAUTHENTICATED } from '../../src/platform/auth/auth-metadata';
import { SessionGuard } from '../../src/console/session.guard';
import { JwtGuard } from '../../src/platform/auth/jwt.guard';
import { RateLimitGuard } from '../../src/platform/auth/rate-limit.guard';
import { ReadSlotsInterceptor } from '../../src/platform/auth/list-requests.interceptors';
import { SCOPES } from '../../src/platform/auth/scopes';
import { SIGNATURE_SCOPE } from '../../src/service-credentials/domain/service-credential';
import { PATH_NAME } from '../../src/platform/values/text/path-name';
import { sharedApp, type SharedApp } from '../support/app';
import { aClient, aWorkspace, Client, faultsOf } from '../support/client';
import { addressOf, operationsOf, type Callers } from '../support/operations';
import { sendRaw } from '../support/signatures';
import { aTokenIssuer } from '../support/tokens';

/** A handler of a controller, with what its decorators have noted. */
interface Route {
  /** As the document names it: `POST /v1/external-events:batch`. */
  readonly name: string;
  readonly handler: Type;
  /** In the order in which they run. */
  readonly guards: readonly unknown[];
  readonly interceptors: readonly unknown[];
  readonly scope: unknown;
  readonly takesSignatures: unknown;
  readonly rate: unknown;
  /** Why anybody may call it. */
  readonly unauthenticated: unknown;
  readonly method: string;
  /** Sets its status itself. */
  readonly takesResponse: boolean;
}

const AUTHENTICATING: readonly unknown[] = [ApiKeyGuard, JwtGuard];
/** The documentation itself is not an operation of the service. */
const DOCS = /^\/docs(?:[-/].*)?$/;
const OF_CONSOLE = /^[A-Z]+ \/console\//;
/** How Nest numbers a parameter that is the response. */
const RESPONSE_PARAMETER = 1;

const reflector = new Reflector();
let service: SharedApp;
let document: any;
let routes: readonly Route[];
/** They are for the console's own pages, and no part of the API. */
let consoleRoutes: readonly Route[];

beforeAll(async () => {
  service = await sharedApp();
  document = (await new Client(service.url, undefined).get('/docs-json')).body;
  const all = [...service.app.get(ModulesContainer).values()].flatMap((module) =>
    [...module.controllers.values()].flatMap(({ metatype }) => routesOf(metatype)),
  );
  routes = all.filter(({ name }) => !OF_CONSOLE.test(name));
  consoleRoutes = all.filter(({ name }) => OF_CONSOLE.test(name));
});

function routesOf(controller: any): Route[] {
  const names = Object.getOwnPropertyNames(controller.prototype);
  return names.flatMap((name) => {
    const handler = controller.prototype[name];
    const method = Reflect.getMetadata(METHOD_METADATA, handler);
    if (method === undefined) return [];
    const parameters = Object.keys(Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {});
    const noted = (key: string): unknown => reflector.getAllAndOverride(key, [handler, controller]);
    return {
      name: nameOf(handler, controller),
      handler,
      // Of the class come first.
      guards: [controller, handler].flatMap((target) => Reflect.getMetadata(GUARDS_METADATA, target) ?? []),
      interceptors: Reflect.getMetadata(INTERCEPTORS_METADATA, handler) ?? [],
      scope: noted(REQUIRED_SCOPE),
      takesSignatures: noted(TAKES_SIGNATURES),
      rate: noted(RATE_LIMITED),
      unauthenticated: noted(UNAUTHENTICATED),
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
      id: operationId,
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      responses,
      parameters,
    })),
  );
}

interface Layer {
  readonly path: string;
  readonly methods: readonly string[];
}

/** What Express asks in turn, the documentation apart. */
function layers(): Layer[] {
  const { stack } = service.app.getHttpAdapter().getInstance().router;
  return stack.flatMap(({ route }: any) => {
    if (route === undefined || DOCS.test(route.path)) return [];
    return { path: route.path, methods: Object.keys(route.methods).map((method) => method.toUpperCase()) };
  });
}

const isScope = (value: unknown): boolean => SCOPES.some((scope) => scope === value);
/** What is not under /v1 is not for clients: it takes whatever query a supervisor or a proxy adds. */
const isOfClients = ({ path }: { readonly path: string }): boolean => path.startsWith('/v1/');
const isSuccess = (status: string): boolean => /^2\d\d$/.test(status);

/** A schema of ours by its name, or a document whose form another standard says. */
function hasShape(content: Readonly<Record<string, any>>): boolean {
  const [[mediaType, { schema }] = ['', {}]] = Object.entries(content);
  return schema?.$ref !== undefined || (mediaType !== 'application/json' && schema?.type !== undefined);
}

/** The statuses that a route says, by a decorator of its own, that it answers with when all is well. */
function declaredSuccesses({ handler }: Route): string[] {
  return Object.keys(Reflect.getMetadata(DECORATORS.API_RESPONSE, handler) ?? {}).filter(isSuccess);
}

describe('every route', () => {
  it('is found', () => {
    expect(routes.length).toBeGreaterThanOrEqual(10);
    expect(new Set(routes.map(({ name }) => name)).size).toBe(routes.length);
  });

  it('has one guard that authenticates, the first of all: that of API keys or that of participants; or says why none', () => {
    const odd = routes.filter(({ guards, unauthenticated }) => {
      if (unauthenticated !== undefined) {
        return guards.length > 0 || typeof unauthenticated !== 'string' || !/\w+ \w+/.test(unauthenticated);
      }
      const [first, ...others] = guards;
      return !AUTHENTICATING.includes(first) || others.some((guard) => AUTHENTICATING.includes(guard));
    });
    expect(odd.map(({ name }) => name)).toEqual([]);
  });

  it('declares a scope of the closed list if it is for backends, and nothing of theirs otherwise', () => {
    const odd = routes.filter(({ guards, scope, takesSignatures }) => {
      if (guards.includes(ApiKeyGuard)) return !isScope(scope);
      return scope !== undefined || takesSignatures !== undefined;
    });
    expect(odd.map(({ name }) => name)).toEqual([]);
  });

  it('is under /v1 and asks who is calling, or is neither', () => {
    const open = operations().filter((operation) => !isOfClients(operation));
    const declared = routes.filter(({ unauthenticated }) => unauthenticated !== undefined);
    expect(open.map(({ name }) => name).sort()).toEqual(declared.map(({ name }) => name).sort());
  });

  it('needs a reading scope if it reads for backends', () => {
    const reads = routes.filter(({ method, guards }) => method === 'GET' && guards.includes(ApiKeyGuard));
    expect(reads.length).toBeGreaterThan(0);
    const others = reads.filter(({ scope }) => !/:read$/.test(String(scope))).map(({ name }) => name);
    // A rule of the whole workspace, which only its administrators see and change.
    expect(others).toEqual(['GET /v1/retention']);
  });

  it('takes signatures only with the scope that service credentials carry', () => {
    const signed = routes.filter(({ takesSignatures }) => takesSignatures === true);
    expect(signed.length).toBeGreaterThan(0);
    expect(signed.filter(({ scope }) => scope !== SIGNATURE_SCOPE).map(({ name }) => name)).toEqual([]);
  });

  it('has its limit and the guard that holds callers to it together', () => {
    const odd = routes.filter(({ guards, rate }) => (rate === undefined) === guards.includes(RateLimitGuard));
    expect(odd.map(({ name }) => name)).toEqual([]);
  });

  it('that reads for a backend is held to the limit of reads, and to the share of connections of its workspace', () => {
    const reads = routes.filter(({ scope }) => /:read$/.test(String(scope)));
    expect(reads.length).toBeGreaterThan(10);
    expect(reads.filter(({ rate }) => rate !== 'reads').map(({ name }) => name)).toEqual([]);
    const unshared = reads.filter(({ interceptors }) => !interceptors.includes(ReadSlotsInterceptor));
    // They ask for a place by themselves, so that a slow client of their stream holds none.
    expect(unshared.map(({ name }) => name)).toEqual([
      'POST /v1/cdp/profiles:export',
      'POST /v1/cdp/profiles/{id}:export',
      'GET /v1/stats/ingest',
    ]);
    const others = routes.filter(({ scope, interceptors }) => !/:read$/.test(String(scope)) && interceptors.length > 0);
    expect(others.map(({ name }) => name)).toEqual([]);
  });

  it('is shown with the callers and the scope that it has', async () => {
    const shown = (await operationsOf(service.url)).map(({ name, callers, scope }) => [name, { callers, scope }]);
    const declared = routes.map(({ name, guards, scope, takesSignatures, unauthenticated }) => {
      if (unauthenticated !== undefined) return [name, { callers: 'anybody', scope }];
      const backend = takesSignatures === true ? 'signing backend' : 'backend';
      return [name, { callers: guards.includes(JwtGuard) ? 'participant' : backend, scope }];
    });
    expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(declared));
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
      Object.entries(responses).some(([status, { content = {} }]) => isSuccess(status) && !hasShape(content)),
    );
    expect(shapeless.map(({ name }) => name)).toEqual([]);
  });

  it('has an operation id of its own, which says what it does to what', () => {
    const ids = operations().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !/^[a-z]+(?:[A-Z][a-z]+)+$/.test(id))).toEqual([]);
  });

  it('is in the document, whatever it was registered by', () => {
    const served = layers().flatMap(({ path, methods }) => methods.map((method) => `${method} ${documented(path)}`));
    // The root leads people to the documentation.
    expect(served.filter((route) => route !== 'GET ' && !OF_CONSOLE.test(route)).sort()).toEqual(
      operations()
        .map(({ name }) => name)
        .sort(),
    );
  });

  it('answers another method with all methods of its path, and no other', async () => {
    const paths = [...new Set(operations().map(({ path }) => path))];
    const told = paths.map(async (path) => {
      const { status, headers } = await new Client(service.url, undefined).send(path, undefined, { method: 'PURGE' });
      return [path, status, headers.get('allow')?.split(', ').sort()];
    });
    const matches = (path: string, address: string): boolean =>
      new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/:]+')}$`).test(address);
    expect(await Promise.all(told)).toEqual(
      paths.map((address) => {
        const methods = operations().flatMap(({ path, method }) => (matches(path, address) ? method : []));
        return [address, 405, [...new Set([...methods, ...(methods.includes('GET') ? ['HEAD'] : [])])].sort()];
      }),
    );
  });
});

describe('every route of the console', () => {
  it('asks for a session, or says why it does not, and is below the path that other sites are refused at', () => {
    expect(consoleRoutes.length).toBeGreaterThan(0);
    const odd = consoleRoutes.filter(({ name, guards, unauthenticated, scope }) => {
      const isOpen = typeof unauthenticated === 'string' && /\w+ \w+/.test(unauthenticated);
      const isGuarded = isOpen ? guards.length === 0 : guards[0] === SessionGuard;
      return !isGuarded || scope !== undefined || !/^[A-Z]+ \/console\/api\//.test(name);
    });
    expect(odd.map(({ name }) => name)).toEqual([]);
  });

  it('is not in the document, and served as it is declared', () => {
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/console'))).toEqual([]);
    const served = layers().flatMap(({ path, methods }) => methods.map((method) => `${method} ${documented(path)}`));
    const declared = consoleRoutes.map(({ name }) => name).sort();
    expect(served.filter((route) => OF_CONSOLE.test(route)).sort()).toEqual(declared);
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
    const clients = await clientsOf();
    const withParameter = (await operationsOf(service.url)).filter(({ parameters }) => parameters.length > 0);
    expect(withParameter.length).toBeGreaterThan(0);
    const answers: string[] = [];
    for (const { name, path, method, callers } of withParameter) {
      for (const value of HOSTILE) {
        // Not by fetch, which folds .. away: the path would be another one.
        const request = { method, target: path.replaceAll(/\{\w+\}/g, value), body: method === 'GET' ? '' : '{}' };
        const headers = { authorization: `Bearer ${clients[callers ?? 'backend'].key!}` };
        const { status, body: problem } = await sendRaw(service.url, request, headers);
        const isRefused = [404, 422].includes(status) && problem.error_code !== undefined;
        // What could be a name of something may also be answered with an empty list of what belongs to it.
        if (!isRefused && !(PATH_NAME.test(value) && status === 200)) answers.push(`${name} ${value}: ${status}`);
      }
    }
    expect(answers).toEqual([]);
  });
});

/** What masks: an event, a customer, a review entry. */
const MASKED_VIEWS = ['EventDto', 'ProfileDto', 'ReviewEntryDto'];

/** The names of all schemas that an answer of the operation is made of. */
function schemasOf({ responses }: Operation): Set<string> {
  const found = new Set<string>();
  const visit = (part: object): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (found.has(name)) continue;
      found.add(name);
      visit(document.components.schemas[name]);
    }
  };
  visit(Object.fromEntries(Object.entries(responses).filter(([status]) => isSuccess(status))));
  return found;
}

describe('every route that masks what it shows', () => {
  it('takes unmask=true with pii:read, or refuses it as a parameter that it does not know', async () => {
    const { backend } = await clientsOf();
    const all = await operationsOf(service.url);
    const masking = operations().filter((each) => MASKED_VIEWS.some((name) => schemasOf(each).has(name)));
    expect(masking.length).toBeGreaterThan(7);
    const odd: string[] = [];
    for (const { name, parameters } of masking) {
      const operation = all.find((each) => each.name === name)!;
      const path = `${addressOf(operation)}?unmask=true`;
      const { method, scope, body } = operation;
      if (parameters.some((each) => each.name === 'unmask')) {
        const limited = await (await aWorkspace(service)).client({ scopes: [scope!] });
        const answer = await limited.send(path, body === '' ? undefined : body, { method });
        if (answer.status !== 403) odd.push(`${name}: ${answer.status} without pii:read`);
      } else {
        const answer = await backend.send(path, body === '' ? undefined : body, { method });
        const isRefused = answer.status === 422 && faultsOf(answer.body).includes('unmask unknown_field');
        if (!isRefused) odd.push(`${name}: ${answer.status}`);
      }
    }
    expect(odd).toEqual([]);
  });
});

describe('every parameter of a query', () => {
  it('is taken or refused, whatever it holds', async () => {
    const clients = await clientsOf();
    const reads = (await operationsOf(service.url)).filter((operation) => {
      return operation.method === 'GET' && isOfClients(operation);
    });
    const answers: string[] = [];
    for (const operation of reads) {
      const { name, callers, query, parameters } = operation;
      const ask = async (asked: string): Promise<number> =>
        (await clients[callers ?? 'backend'].get(`${addressOf(operation)}?${asked}`)).status;
      for (const parameter of query) {
        for (const value of ['', '%00', '%ff', '%ED%A0%80', "'", 'x'.repeat(5_000), `1&${parameter}=2`]) {
          const status = await ask(`${parameter}=${value}`);
          const isTaken = status === 200 || (status === 404 && parameters.length > 0);
          if (!isTaken && status !== 422) answers.push(`${name} ${parameter}=${value.slice(0, 20)}: ${status}`);
        }
      }
    }
    expect(answers).toEqual([]);
  });
});

/** Who may do everything, of each kind of callers. */
async function clientsOf(): Promise<Record<Callers, Client>> {
  const admin = await aClient(service);
  const issuer = await aTokenIssuer(admin, { fields: { defaultCampaignId: 'spring' } });
  const anybody = new Client(service.url, undefined);
  return { backend: admin, 'signing backend': admin, participant: issuer.participant(), anybody };
}
