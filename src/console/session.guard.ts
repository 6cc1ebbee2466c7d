import {
  applyDecorators,
  createParamDecorator,
  Injectable,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AuthenticatedRequest } from '../platform/auth/caller.decorator';
import { credentialNeeded } from '../platform/errors/challenges';
import { FailedAuthentications } from '../platform/auth/failed-authentications';
import { checkAgainLater } from '../platform/http/service-request';
import { ConsoleSessions, type Session } from './console-sessions';
import { assertSameSite } from './same-site';
import { sessionSecretOf } from './session-cookie';

/** Pages send it with requests that nobody has asked for, such as those of a timer: they do not prolong a session. */
const MARKER_HEADER = 'x-cds-console';
const NOT_A_USE = 'background';

/** Metadata key: whether a request of the route prolongs its session. */
const IS_USE = 'is use';

interface SessionRequest extends AuthenticatedRequest {
  consoleSession?: Session;
}

export interface SessionOptions {
  /** A request of the route prolongs the session. Default: true. */
  readonly isUse?: boolean;
}

/** Admits a browser with the cookie of a session. */
@Injectable()
export class SessionGuard implements CanActivate {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly failures: FailedAuthentications,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const isUse = this.reflector.getAllAndOverride<boolean>(IS_USE, [context.getHandler(), context.getClass()]);
    await this.admit(context.switchToHttp().getRequest<AuthenticatedRequest>(), { isUse });
    return true;
  }

  /**
   * Makes the session the caller of a request. `isUse`: the request prolongs it, unless a timer has sent it. Throws a refusal
   * with status 401 without a session, and `cross_site_request`.
   */
  async admit(request: SessionRequest, route: SessionOptions = {}): Promise<Session> {
    // The gateway has asked the same, except where the target of the request is written as a whole URL.
    assertSameSite(request);
    const secret = sessionSecretOf(request);
    if (secret === undefined) throw credentialNeeded('Nobody is signed in to the console; sign in with an API key.');
    const isUse = (route.isUse ?? true) && request.headers[MARKER_HEADER] !== NOT_A_USE;
    const find = (): Promise<Session> => this.sessions.find(secret, { isUse });
    const session = await this.failures.counted(request, () => this.failures.lookUp(request, find));
    request.caller = session.principal;
    request.consoleSession = session;
    checkAgainLater(request, () => this.admit(request, route));
    return session;
  }
}

/** The route is for browsers with a session of the console. */
export function AuthenticateSession({ isUse = true }: SessionOptions = {}): MethodDecorator & ClassDecorator {
  return applyDecorators(SetMetadata(IS_USE, isUse), UseGuards(SessionGuard));
}

/** The session of the caller; only on routes that authenticate it. */
export const CallingSession = createParamDecorator((_data: unknown, context: ExecutionContext): Session => {
  const { consoleSession } = context.switchToHttp().getRequest<SessionRequest>();
  if (consoleSession === undefined) throw new Error('A route asks for the session without authenticating the call');
  return consoleSession;
});
