import {
  applyDecorators,
  createParamDecorator,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import type { Request } from 'express';
import type { AuthenticatedRequest } from '../platform/auth/caller.decorator';
import { credentialNeeded } from '../platform/errors/challenges';
import { FailedAuthentications } from '../platform/auth/failed-authentications';
import { ConsoleSessions, type Session } from './console-sessions';
import { assertSameSite } from './same-site';
import { sessionSecretOf } from './session-cookie';

/** Pages send it with requests that nobody has asked for, such as those of a timer: they do not prolong a session. */
const MARKER_HEADER = 'x-cds-console';
const NOT_A_USE = 'background';

const sessions = new WeakMap<Request, Session>();

/** Admits a browser with the cookie of a session. */
@Injectable()
export class SessionGuard implements CanActivate {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly failures: FailedAuthentications,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.admit(context.switchToHttp().getRequest<AuthenticatedRequest>());
    return true;
  }

  /** Makes the session the caller of a request. Throws a refusal with status 401 without one, and `cross_site_request`. */
  async admit(request: AuthenticatedRequest): Promise<Session> {
    // The gateway has asked the same, except where the target of the request is written as a whole URL.
    assertSameSite(request);
    const secret = sessionSecretOf(request);
    if (secret === undefined) throw credentialNeeded('Nobody is signed in to the console; sign in with an API key.');
    const isUse = request.headers[MARKER_HEADER] !== NOT_A_USE;
    const find = (): Promise<Session> => this.sessions.find(secret, { isUse });
    const session = await this.failures.counted(request, () => this.failures.lookUp(request, find));
    request.caller = session.principal;
    sessions.set(request, session);
    return session;
  }
}

/** The route is for browsers with a session of the console. */
export function AuthenticateSession(): MethodDecorator & ClassDecorator {
  return applyDecorators(UseGuards(SessionGuard));
}

/** The session of the caller; only on routes that authenticate it. */
export const CallingSession = createParamDecorator((_data: unknown, context: ExecutionContext): Session => {
  const session = sessions.get(context.switchToHttp().getRequest<Request>());
  if (session === undefined) throw new Error('A route asks for the session without authenticating the call');
  return session;
});
