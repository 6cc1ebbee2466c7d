import { SCOPES, type Scope } from '../../src/platform/auth/scopes';
import type { SharedApp } from './app';
import { aWorkspace, type Workspace } from './client';
import { FROM_CONSOLE, signedIn, type Browser } from './console';
import type { Attempt, Columns } from './matrix';
import type { Operation } from './operations';
import { aTokenIssuer, type TokenIssuer } from './tokens';

/** Everything that a browser may hold out to a route below the console. */
export interface BrowserMeans {
  readonly workspace: Workspace;
  readonly adminCookie: string;
  readonly signedOutCookie: string;
  readonly cookieOfRevokedKey: string;
  readonly issuer: TokenIssuer;
  /** The cookie of a session whose key has just these scopes, made once. */
  readonly cookieWith: (...scopes: readonly Scope[]) => Promise<string>;
}

export async function browserMeans(service: SharedApp): Promise<BrowserMeans> {
  const workspace = await aWorkspace(service);
  const { admin } = workspace;
  const sessionOf = (key: string): Promise<Browser> => signedIn(service.url, key);
  const made = new Map<string, Promise<string>>();
  const signedOut = (await sessionOf(admin.key!)).cookie!;
  await fetch(`${service.url}/console/api/session`, {
    method: 'DELETE',
    headers: { ...FROM_CONSOLE, cookie: signedOut },
  });
  const { body } = await admin.post('/v1/api-keys', { name: 'to revoke', scopes: ['admin'] });
  const revoked = await sessionOf(body.key);
  await admin.post(`/v1/api-keys/${body.apiKey.id}:revoke`, {});
  expect((await revoked.get('/session')).body.error_code).toBe('api_key_revoked');
  return {
    workspace,
    adminCookie: (await sessionOf(admin.key!)).cookie!,
    signedOutCookie: signedOut,
    cookieOfRevokedKey: revoked.cookie!,
    issuer: await aTokenIssuer(admin),
    cookieWith: (...scopes) => {
      const name = scopes.join();
      const cookie =
        made.get(name) ?? workspace.client({ scopes }).then(async ({ key }) => (await sessionOf(key!)).cookie!);
      made.set(name, cookie);
      return cookie;
    },
  };
}

/** The operations of the API as they are below the console. */
export function belowConsole(operations: readonly Operation[]): Operation[] {
  return operations.map((each) => ({ ...each, path: `/console/api${each.path}` }));
}

export const withCookie = (cookie: string): Attempt => ({ headers: { ...FROM_CONSOLE, cookie } });

/** What is refused where a session is expected. */
export const REFUSED_SESSIONS: Columns<BrowserMeans> = {
  'no cookie': { code: 'unauthenticated', attempt: () => ({ headers: FROM_CONSOLE }) },
  'a key instead of a cookie': {
    code: 'unauthenticated',
    attempt: ({ workspace }) => ({ headers: { ...FROM_CONSOLE, authorization: `Bearer ${workspace.admin.key}` } }),
  },
  'a key in the cookie': {
    code: 'unauthenticated',
    attempt: ({ workspace }) => withCookie(`cds_console=${workspace.admin.key}`),
  },
  'the cookie of a session that never was': {
    code: 'unauthenticated',
    attempt: () => withCookie(`cds_console=${'A'.repeat(43)}`),
  },
  'a good cookie under another name': {
    code: 'unauthenticated',
    attempt: ({ adminCookie }) => withCookie(`x${adminCookie}`),
  },
  'the cookie of a session that was signed out': {
    code: 'unauthenticated',
    attempt: ({ signedOutCookie }) => withCookie(signedOutCookie),
  },
  'the cookie of a session whose key was revoked': {
    code: 'unauthenticated',
    attempt: ({ cookieOfRevokedKey }) => withCookie(cookieOfRevokedKey),
  },
  'a session with every scope but the one it takes': {
    code: 'insufficient_scope',
    attempt: async ({ cookieWith }, { scope }) => {
      return withCookie(await cookieWith(...SCOPES.filter((each) => each !== scope && each !== 'admin')));
    },
  },
};
