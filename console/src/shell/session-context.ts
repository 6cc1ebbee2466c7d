import { createContext, useContext } from 'react';
import { hasScope, type Session } from '../api/session';

export const SessionContext = createContext<Session | undefined>(undefined);

/** Who is signed in. Pages are shown to signed-in people only. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('No session: useSession is for pages.');
  return session;
}

/** Whether the session's key has a scope, to leave out what it could not do anyway. */
export function useScope(scope: string): boolean {
  return hasScope(useSession(), scope);
}
