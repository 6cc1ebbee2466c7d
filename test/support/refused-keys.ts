import { randomBytes } from 'node:crypto';
import { makeApiKey } from '../../src/api-keys/domain/api-key-token';
import { SCOPES, type Scope } from '../../src/platform/auth/scopes';
import type { SharedApp } from './app';
import { aWorkspace, type Client, type Workspace } from './client';
import { bearer, requestOf, type Attempt, type Columns } from './matrix';
import { anEd25519Signer, signatureOf, type Signer } from './signatures';
import { aTokenIssuer, type TokenIssuer } from './tokens';

/** Everything that may be held out to a route for backends. */
export interface BackendMeans {
  readonly workspace: Workspace;
  readonly adminKey: string;
  /** Let in before, by this very service, and then ended. */
  readonly rotatedKey: string;
  readonly revokedKey: string;
  readonly expiredKey: string;
  /** Revoked when its time was over already. */
  readonly expiredRevokedKey: string;
  readonly issuer: TokenIssuer;
  readonly signer: Signer;
  /** A good key with just these scopes, made once. */
  readonly keyWith: (...scopes: readonly Scope[]) => Promise<string>;
}

export async function backendMeans(service: SharedApp): Promise<BackendMeans> {
  const workspace = await aWorkspace(service);
  const { admin } = workspace;
  const keyOf = async (options: Parameters<Workspace['client']>[0]) => (await workspace.client(options)).key!;
  const made = new Map<string, Promise<string>>();
  const past = new Date(Date.now() - 60_000);
  return {
    workspace,
    adminKey: admin.key!,
    rotatedKey: await endedKey(service, admin, 'rotate'),
    revokedKey: await endedKey(service, admin, 'revoke'),
    expiredKey: await keyOf({ expiresAt: past }),
    expiredRevokedKey: await keyOf({ expiresAt: past, revokedAt: past }),
    issuer: await aTokenIssuer(admin),
    signer: await anEd25519Signer(admin),
    keyWith: (...scopes) => {
      const name = scopes.join();
      if (!made.has(name)) made.set(name, keyOf({ scopes }));
      return made.get(name)!;
    },
  };
}

async function endedKey(service: SharedApp, admin: Client, by: 'rotate' | 'revoke'): Promise<string> {
  const { body } = await admin.post('/v1/api-keys', { name: `to ${by}`, scopes: ['admin'] });
  const asItself = await fetch(`${service.url}/v1/api-keys`, { headers: { authorization: `Bearer ${body.key}` } });
  const { status } = await admin.post(`/v1/api-keys/${body.apiKey.id}:${by}`, {});
  expect([asItself.status, status]).toEqual([200, by === 'rotate' ? 201 : 200]);
  return body.key;
}

const withTypo = (key: string): string => `${key.slice(0, 10)}${key[10] === 'A' ? 'B' : 'A'}${key.slice(11)}`;
const allBut = (one: Scope | undefined): Scope[] => SCOPES.filter((scope) => scope !== one && scope !== 'admin');
const authorized = (authorization: string): Attempt => ({ headers: { authorization } });

/** A good key where no key counts: in query, body and headers of its own. */
function elsewhere(key: string, headers = {}): Attempt {
  const parameters = { access_token: key, api_key: key };
  return {
    headers: { ...headers, 'x-api-key': key, cookie: `access_token=${key}`, 'proxy-authorization': `Bearer ${key}` },
    query: new URLSearchParams(parameters).toString(),
    body: JSON.stringify(parameters),
  };
}

/** Credentials that are refused where an API key is expected. */
export const REFUSED_KEYS: Columns<BackendMeans> = {
  'no credential': { code: 'unauthenticated', attempt: () => ({ headers: {} }) },
  'an empty header': { code: 'unauthenticated', attempt: () => authorized('') },
  'Bearer without a key': { code: 'unauthenticated', attempt: () => authorized('Bearer') },
  'two keys': {
    code: 'unauthenticated',
    attempt: ({ adminKey }) => authorized(`Bearer ${adminKey} ${adminKey}`),
  },
  'a good key without a scheme': { code: 'unauthenticated', attempt: ({ adminKey }) => authorized(adminKey) },
  'a good key by Basic': {
    code: 'unauthenticated',
    attempt: ({ adminKey }) => authorized(`Basic ${Buffer.from(`${adminKey}:`).toString('base64')}`),
  },
  'a good key only in query, body and other headers': {
    code: 'unauthenticated',
    attempt: ({ adminKey }) => elsewhere(adminKey),
  },
  'a bad key beside good ones in query, body and other headers': {
    code: 'invalid_api_key',
    attempt: ({ adminKey }) => elsewhere(adminKey, { authorization: 'Bearer nonsense' }),
  },
  'a bad key before a good one in a second header': {
    code: 'invalid_api_key',
    attempt: ({ adminKey }) => ({ headers: { authorization: ['Bearer nonsense', `Bearer ${adminKey}`] } }),
  },
  garbage: { code: 'invalid_api_key', attempt: () => bearer('!"#$%&/()=?') },
  'bytes beyond ASCII': { code: 'invalid_api_key', attempt: () => bearer('\u00e9\u00ff'.repeat(21)) },
  'a key with a typo': {
    code: 'invalid_api_key',
    attempt: ({ adminKey }) => bearer(withTypo(adminKey)),
    words: /typo/,
  },
  'a key cut short': { code: 'invalid_api_key', attempt: ({ adminKey }) => bearer(adminKey.slice(0, -1)) },
  'a key in capitals': { code: 'invalid_api_key', attempt: ({ adminKey }) => bearer(adminKey.toUpperCase()) },
  'a well-made unknown key': { code: 'invalid_api_key', attempt: () => bearer(makeApiKey(randomBytes)) },
  'the id of a key': { code: 'invalid_api_key', attempt: ({ signer }) => bearer(signer.keyId) },
  '9,000 characters': { code: 'invalid_api_key', attempt: () => bearer('x'.repeat(9_000)) },
  'the good token of a participant': {
    code: 'invalid_api_key',
    attempt: ({ issuer }) => bearer(issuer.token()),
    words: /takes an API key.*JWT/,
  },
  'a token without a signature': {
    code: 'invalid_api_key',
    attempt: ({ issuer }) => bearer(issuer.token().replace(/[^.]*$/, '')),
    words: /takes an API key.*JWT/,
  },
  'an expired key': { code: 'api_key_expired', attempt: ({ expiredKey }) => bearer(expiredKey) },
  'a revoked key': { code: 'api_key_revoked', attempt: ({ revokedKey }) => bearer(revokedKey) },
  'a key that has been rotated': { code: 'api_key_revoked', attempt: ({ rotatedKey }) => bearer(rotatedKey) },
  'a revoked key whose time is over': {
    code: 'api_key_revoked',
    attempt: ({ expiredRevokedKey }) => bearer(expiredRevokedKey),
  },
  'a bad key beside a good signature': {
    code: 'invalid_api_key',
    attempt: ({ signer }, operation) => ({
      headers: { ...signatureOf(signer, requestOf(operation)), ...bearer('nonsense').headers },
    }),
  },
  'a key with every scope but the one it takes': {
    code: 'insufficient_scope',
    attempt: async ({ keyWith }, { scope }) => bearer(await keyWith(...allBut(scope))),
  },
};

/** Credentials that are refused where only an API key is accepted. */
export const REFUSED_BESIDE_KEYS: Columns<BackendMeans> = {
  'a good signature': {
    code: 'unauthenticated',
    attempt: ({ signer }, operation) => ({ headers: signatureOf(signer, requestOf(operation)) }),
    words: /API key.*signed requests are for/,
  },
};
