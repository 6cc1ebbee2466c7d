import { callConsole } from './api';

/** Who is signed in. Times are RFC 3339 in UTC. */
export interface Session {
  readonly workspace: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly via: 'key' | 'oidc';
  readonly expiresAt: string;
  readonly idleExpiresAt: string;
  readonly provenUntil: string | null;
}

export interface SignInMethods {
  readonly key: boolean;
  readonly oidc: boolean;
}

export const readSession = () => callConsole('get', '/session') as Promise<Session>;
export const signIn = (key: string) => callConsole('post', '/session', { key });
export const signOut = () => callConsole('delete', '/session');
export const proveKey = (key: string) => callConsole('post', '/session:prove', { key });
export const readSignInMethods = () => callConsole('get', '/sign-in-methods') as Promise<SignInMethods>;

export function hasScope({ scopes }: Session, scope: string): boolean {
  return scopes.includes('admin') || scopes.includes(scope);
}
