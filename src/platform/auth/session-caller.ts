import type { IncomingMessage } from 'node:http';
import type { Principal } from './principal';

const callers = new WeakMap<IncomingMessage, Principal>();

/**
 * Makes a request one of this caller, who was identified by a session. Credentials in its headers do not count any more. No
 * client can do this: it is noted beside the request, not in it.
 */
export function setSessionCaller(request: IncomingMessage, caller: Principal): void {
  delete request.headers.authorization;
  delete request.headers['signature-input'];
  callers.set(request, caller);
}

/** The caller whom a session has identified, if one has. */
export function sessionCallerOf(request: IncomingMessage): Principal | undefined {
  return callers.get(request);
}
