import { BASE_PATH, callConsole } from './api';

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

/** Tells sessions apart that show or may do different things. */
export function ownerOf({ workspace, via, name, scopes }: Session): string {
  return JSON.stringify([workspace, via, name, scopes]);
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

/** Pages that the service sends a person back to. It refuses what looks like a way out of the console. */
const PAGE = /^(?!.*(?:\.\.|\/\/))[\w-][\w./?=&%,:+~-]{0,499}$/;

interface ProviderSignIn {
  /** A person whom the provider knows is asked, too. */
  readonly isProof: boolean;
  /** The session to go on with: groups may give access to several workspaces. */
  readonly session: Session | undefined;
}

/** Where the identity provider asks who it is. It leads back to this page, and to the workspace of the session. */
export function providerAddress({ isProof, session }: ProviderSignIn): string {
  const page = `${location.pathname}${location.search}`.slice(BASE_PATH.length + 1);
  const query = new URLSearchParams({
    ...(PAGE.test(page) ? { page } : {}),
    ...(isProof ? { prove: 'true' } : {}),
    ...(session?.via === 'oidc' ? { workspace: session.workspace } : {}),
  });
  return `${BASE_PATH}/api/oidc/sign-in?${query.toString()}`;
}

export function hasScope({ scopes }: Session, scope: string): boolean {
  return scopes.includes('admin') || scopes.includes(scope);
}
