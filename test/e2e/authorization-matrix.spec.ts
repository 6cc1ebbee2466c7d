import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants';
import { ModulesContainer, Reflector } from '@nestjs/core';
import { makeApiKey } from '../../src/api-keys/domain/api-key-token';
import { FURTHER_SCOPES, REQUIRED_SCOPE } from '../../src/platform/auth/auth-metadata';
import { SCOPES, type Scope } from '../../src/platform/auth/scopes';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { Client, type Answer } from '../support/client';
import { aTenant, type Tenant } from '../support/tenant';
import { aTokenIssuer } from '../support/tokens';

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly scope: Scope;
  /** That one, and those that it takes as well. */
  readonly scopes: readonly Scope[];
  readonly security: unknown;
}

/** A request that must not get in, and how it is told so. */
interface Column {
  readonly code: keyof typeof CHALLENGES;
  readonly authorization?: (tenant: Tenant, scope: Scope) => string | Promise<string>;
  /** A good key is sent where no key counts: as `access_token` in query and body, and in another header. */
  readonly goodKeyElsewhere?: boolean;
  readonly words?: RegExp;
}

const ANSWER_MS_MAX = 3_000;
const ABSENT_BODY_BYTES = 1_000_000;
const REALM = 'Bearer realm="campaign-data-service"';
const INVALID = `${REALM}, error="invalid_token"`;
const CHALLENGES = {
  // RFC 6750, 3.1: who sends nothing is told nothing about errors.
  unauthenticated: () => REALM,
  invalid_api_key: () => INVALID,
  api_key_expired: () => INVALID,
  api_key_revoked: () => INVALID,
  insufficient_scope: (scope: Scope) => `${REALM}, error="insufficient_scope", scope="${scope}"`,
};

const past = (): Date => new Date(Date.now() - 60_000);
const base64 = (text: string): string => Buffer.from(text).toString('base64url');
const jwt = (sub: string): string => `${base64('{"alg":"RS256"}')}.${base64(JSON.stringify({ sub }))}.c2lnbmF0dXJl`;
const withTypo = (key: string): string => `${key.slice(0, 10)}${key[10] === 'A' ? 'B' : 'A'}${key.slice(11)}`;
const allBut = (one: Scope): Scope[] => SCOPES.filter((scope) => scope !== one && scope !== 'admin');

const COLUMNS: Readonly<Record<string, Column>> = {
  'no credential': { code: 'unauthenticated' },
  'an empty header': { code: 'unauthenticated', authorization: () => '' },
  'Bearer without a key': { code: 'unauthenticated', authorization: () => 'Bearer' },
  'two keys': { code: 'unauthenticated', authorization: ({ adminKey }) => `Bearer ${adminKey} ${adminKey}` },
  'a good key without a scheme': { code: 'unauthenticated', authorization: ({ adminKey }) => adminKey },
  'a good key by Basic': {
    code: 'unauthenticated',
    authorization: ({ adminKey }) => `Basic ${base64(`${adminKey}:`)}`,
  },
  'a good key only in query, body and another header': { code: 'unauthenticated', goodKeyElsewhere: true },
  'a bad key beside good ones in query, body and another header': {
    code: 'invalid_api_key',
    authorization: () => 'Bearer nonsense',
    goodKeyElsewhere: true,
  },
  garbage: { code: 'invalid_api_key', authorization: () => 'Bearer !"#$%&/()=?' },
  'a key with a typo': {
    code: 'invalid_api_key',
    authorization: ({ adminKey }) => `Bearer ${withTypo(adminKey)}`,
    words: /typo/,
  },
  'a key cut short': { code: 'invalid_api_key', authorization: ({ adminKey }) => `Bearer ${adminKey.slice(0, -1)}` },
  'a well-made unknown key': { code: 'invalid_api_key', authorization: () => `Bearer ${makeApiKey(randomBytes)}` },
  'a JWT': { code: 'invalid_api_key', authorization: () => `Bearer ${jwt('someone')}`, words: /\bAPI key\b/ },
  'a token of 9,000 characters': { code: 'invalid_api_key', authorization: () => `Bearer ${'x'.repeat(9_000)}` },
  'an expired key': {
    code: 'api_key_expired',
    authorization: async (owner) => `Bearer ${await owner.key({ expiresAt: past() })}`,
  },
  'a revoked key, also when its time is over': {
    code: 'api_key_revoked',
    authorization: async (owner) => `Bearer ${await owner.key({ revokedAt: past(), expiresAt: past() })}`,
  },
  'every scope but the one it takes': {
    code: 'insufficient_scope',
    authorization: async (owner, scope) => `Bearer ${await owner.key({ scopes: allBut(scope) })}`,
  },
};

let service: TestApp;
let tenant: Tenant;
let operations: readonly Operation[];

beforeAll(async () => {
  service = await startApp();
  tenant = await aTenant(service.databaseUrl);
  const document = (await new Client(service.url, undefined).get('/docs-json')).body;
  const scopes = declaredScopes();
  const further = declaredScopes<readonly Scope[]>(FURTHER_SCOPES);
  operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([verb, { security }]) => {
      const name = `${verb.toUpperCase()} ${path}`;
      const scope = scopes.get(name) as Scope;
      return { name, method: verb.toUpperCase(), path, security, scope, scopes: [scope, ...(further.get(name) ?? [])] };
    }),
  );
});

afterAll(() => service.stop());

/** What `@AuthenticateApiKey` has noted at each route; the OpenAPI document does not tell. */
function declaredScopes<Noted = Scope>(metadata = REQUIRED_SCOPE): Map<string, Noted | undefined> {
  const modules = [...service.app.get(ModulesContainer).values()];
  const types: any[] = modules.flatMap((module) => [...module.controllers.values()].map(({ metatype }) => metatype));
  const handlers = types.flatMap((type) =>
    Object.getOwnPropertyNames(type.prototype).map((name) => [type.prototype[name], type] as const),
  );
  const routes = handlers.filter(([handler]) => Reflect.hasMetadata(METHOD_METADATA, handler));
  return new Map(routes.map((route) => [nameOf(...route), new Reflector().getAllAndOverride(metadata, [...route])]));
}

function nameOf(handler: object, type: object): string {
  const path = [type, handler].map((target) => Reflect.getMetadata(PATH_METADATA, target)).join('/');
  const written = path.replaceAll(/(?<!\\):(\w+)/g, '{$1}').replaceAll('\\', '');
  return `${RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler)]} /${written.replaceAll(/\/+$|^\/+/g, '')}`;
}

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

async function headersOf({ authorization, goodKeyElsewhere }: Column, scope: Scope): Promise<Record<string, string>> {
  return {
    ...(authorization === undefined ? {} : { authorization: await authorization(tenant, scope) }),
    ...(goodKeyElsewhere === true ? { 'x-api-key': tenant.adminKey } : {}),
  };
}

/** Calls an operation with something in the place of each parameter of its path. */
function call(operation: Operation, headers: Record<string, string>, elsewhere = {}, id = 'x'): Promise<Answer> {
  const { method, path } = operation;
  const target = `${path.replaceAll(/\{\w+\}/g, id)}?${new URLSearchParams(elsewhere).toString()}`;
  const body = method === 'GET' ? undefined : JSON.stringify(elsewhere);
  return new Client(service.url, undefined).send(target, body, { method, headers });
}

describe('every operation of the OpenAPI document', () => {
  it('is a route that declares a scope, and every route is in the document', () => {
    expect(operations.map(({ name }) => name).sort()).toEqual([...declaredScopes().keys()].sort());
    expect(operations.filter(({ scope }) => !SCOPES.includes(scope))).toEqual([]);
  });

  it('says that it takes an API key and nothing else', () => {
    expect(operations.filter(({ security }) => JSON.stringify(security) !== '[{"apiKey":[]}]')).toEqual([]);
  });

  it.each(Object.entries(COLUMNS))('refuses %s', async (_name, column) => {
    const refusals = operations.map(async (operation) => {
      const sent = await headersOf(column, operation.scope);
      const elsewhere = column.goodKeyElsewhere === true ? { access_token: tenant.adminKey } : {};
      const { status, headers, body } = await call(operation, sent, elsewhere);
      if (column.words !== undefined) expect(body.message).toMatch(column.words);
      const secrets = [tenant.adminKey, ...(sent['authorization'] ?? '').split(' ').filter((part) => part.length > 20)];
      return {
        ...{ name: operation.name, status, code: body.error_code, bodyStatus: body.status },
        ...{ challenge: headers.get('www-authenticate'), type: headers.get('content-type') },
        repeatsCredential: secrets.some((secret) => JSON.stringify(body).includes(secret)),
      };
    });
    const { code } = column;
    const status = code === 'insufficient_scope' ? 403 : 401;
    expect(await Promise.all(refusals)).toEqual(
      operations.map(({ name, scope }) => ({
        ...{ name, status, code, bodyStatus: status, challenge: CHALLENGES[code](scope) },
        ...{ type: 'application/problem+json', repeatsCredential: false },
      })),
    );
  });

  it('lets in a key with just the scopes it takes, and one with admin alone', async () => {
    for (const operation of operations) {
      for (const scopes of [operation.scopes, ['admin' as const]]) {
        const { status } = await call(operation, bearer(await tenant.key({ scopes })));
        expect([operation.name, scopes, [401, 403].includes(status)]).toEqual([operation.name, scopes, false]);
      }
    }
  });

  it.each(['bearer ', 'BEARER ', 'Bearer  '])('takes "%s" whether or not it remembers the key', async (start) => {
    const key = await tenant.key({});
    const statusOf = async (scheme: string): Promise<number> =>
      (await call(operations[0]!, { authorization: `${scheme}${key}` })).status;
    const unknown = await statusOf(start);
    expect(await statusOf('Bearer ')).not.toBe(401);
    expect(await statusOf(start)).toBe(unknown);
  });
});

describe('a refusal comes before the body', () => {
  it.each(['no credential', 'a well-made unknown key', 'every scope but the one it takes'])(
    'of which not one byte has arrived: %s',
    async (name) => {
      const column = COLUMNS[name]!;
      const answers = operations.map(async (operation) =>
        answerToHead(operation, await headersOf(column, operation.scope)),
      );
      const status = column.code === 'insufficient_scope' ? 403 : 401;
      expect(await Promise.all(answers)).toEqual(operations.map((each) => `${each.name}: ${status} ${column.code}`));
    },
  );
});

/** Sends the head of a request whose body never comes, and asks for leave to send it, which must not be given. */
async function answerToHead({ name, method, path }: Operation, headers: Record<string, string>): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  const body = { 'content-type': 'application/json', 'content-length': ABSENT_BODY_BYTES, expect: '100-continue' };
  const lines = Object.entries({ host: hostname, ...body, ...headers }).map(([field, value]) => `${field}: ${value}`);
  socket.write(`${method} ${path.replaceAll(/\{\w+\}/g, 'x')} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  try {
    for (let text = ''; ; text += String((await once(socket, 'data', { signal }))[0])) {
      const answer = /^HTTP\/1\.1 (\d+) .*"error_code":"(\w+)".*\}$/s.exec(text);
      if (answer !== null) return `${name}: ${answer[1]} ${answer[2]}`;
    }
  } catch {
    return `${name}: no answer in ${ANSWER_MS_MAX} ms`;
  } finally {
    socket.destroy();
  }
}

describe('another workspace', () => {
  it('finds none of the records that a workspace finds, by any operation', async () => {
    const { marks, ids } = await recordsOf(tenant);
    const stranger = await aTenant(service.databaseUrl);
    for (const operation of operations) {
      const folder = /([\w-]+)\/\{/.exec(operation.path)?.[1];
      if (operation.method !== 'GET' && folder === undefined) continue;
      const ask = async (key: string): Promise<unknown[]> => {
        const { status, body } = await call(operation, bearer(key), {}, ids[folder ?? '']);
        return [operation.name, status, marks.some((mark) => JSON.stringify(body).includes(mark))];
      };
      expect(await ask(stranger.adminKey)).toEqual([operation.name, statusForStranger(operation, folder), false]);
      if (operation.method === 'GET') expect(await ask(tenant.adminKey)).toEqual([operation.name, 200, true]);
    }
  });
});

/** Lists are empty; records are not found. A campaign is no record: anybody may declare something for one of any name. */
function statusForStranger({ method }: Operation, folder: string | undefined): number {
  if (folder === 'campaigns') return method === 'GET' ? 200 : 422;
  return folder === undefined ? 200 : 404;
}

interface Records {
  readonly marks: readonly string[];
  readonly ids: Readonly<Record<string, string>>;
}

/**
 * One record of each kind, all bearing the same mark, or, where the client writes nothing into them, the id of the credential
 * that made them; a new kind of record is to be added here.
 */
async function recordsOf({ adminKey }: Tenant): Promise<Records> {
  const mark = `mark-${randomBytes(8).toString('hex')}`;
  const client = new Client(service.url, adminKey);
  const { event_id: event } = (
    await client.post(
      '/v1/external-events',
      anExternalEvent({ source: mark, identity: { type: 'EXTERNAL', value: mark } }),
    )
  ).body;
  await client.post('/v1/external-events', anExternalEvent({ source: mark, identity: {} }));
  const entry = (await client.get(`/v1/review-entries?source=${mark}`)).body.items[0].id;
  const { id: key, createdBy } = (await client.post('/v1/api-keys', { name: mark, scopes: ['events:read'] })).body
    .apiKey;
  const { record: issuer } = await aTokenIssuer(client, { fields: { audience: mark } });
  const credential = (await client.post('/v1/service-credentials', { name: mark, algorithm: 'hmac-sha256' })).body
    .serviceCredential.id;
  const { profileId: profile } = (await client.get(`/v1/events/${event}`)).body;
  await client.post('/v1/cdp/event-types', { eventType: mark, properties: {} });
  const merge = await aMerge(client, mark, profile);
  const ids = {
    ...{
      events: event,
      profiles: profile,
      merges: merge,
      'review-entries': entry,
      'api-keys': key,
      'event-types': mark,
    },
    ...{ 'jwt-issuers': issuer.id, 'service-credentials': credential },
  };
  return { marks: [mark, createdBy, profile], ids };
}

/** Merges a customer of an email alone into the one with the mark for an EXTERNAL identifier; answers the id of the merge. */
async function aMerge(client: Client, mark: string, profile: string): Promise<string> {
  const email = `${mark}@example.com`;
  await client.post(
    '/v1/external-events',
    anExternalEvent({ source: mark, identity: { type: 'EMAIL', value: email } }),
  );
  const login = { source: mark, externalEventId: 'login', eventType: mark, identity: { externalUserId: mark, email } };
  await client.post('/v1/cdp/events', login);
  return (await client.get(`/v1/cdp/profiles/${profile}/merges`)).body.items[0].id;
}
