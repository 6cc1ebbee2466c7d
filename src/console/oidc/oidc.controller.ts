import { Controller, Get, Req, Res, UseFilters } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Unauthenticated } from '../../platform/auth/authenticate.decorator';
import { FailedAuthentications } from '../../platform/auth/failed-authentications';
import { CheckedQuery } from '../../platform/http/checked-query.decorator';
import { sessionSecretOf, setSessionCookie } from '../session-cookie';
import { OidcSignIn } from './oidc-sign-in';
import { OidcSignInQuery } from './oidc-sign-in.query';
import { SignInFailureFilter } from './sign-in-failure.filter';
import { SignInFlows } from './sign-in-flow';

const SEE_OTHER = 303;
/** From the address of the callback to `/console/`, also where a proxy has put it below a path of its own. */
const TO_CONSOLE = '../../';

/** Sign-in at an identity provider. The browser itself goes to these addresses. */
@ApiExcludeController()
@Controller('console/api/oidc')
@UseFilters(SignInFailureFilter)
export class OidcController {
  constructor(
    private readonly signIns: OidcSignIn,
    private readonly flows: SignInFlows,
    private readonly failures: FailedAuthentications,
  ) {}

  /** Sends the browser to the identity provider. */
  @Get('sign-in')
  @Unauthenticated('nobody has signed in yet; the identity provider asks who it is')
  async beginSignIn(
    @CheckedQuery() query: OidcSignInQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const { address, flow } = await this.signIns.begin(query, callbackOf(request), sessionSecretOf(request));
    this.flows.keep(request, response, flow);
    response.redirect(SEE_OTHER, address);
  }

  /** Takes the browser back: opens a session, and goes to the console and nowhere else. */
  @Get('callback')
  @Unauthenticated('the identity provider says in the query who it is, which is verified with it')
  async finishSignIn(@Req() request: Request, @Res() response: Response): Promise<void> {
    const search = searchOf(request);
    const flow = this.flows.take(request, response, new URLSearchParams(search).get('state'));
    const finish = (): ReturnType<OidcSignIn['finish']> => this.signIns.finish(flow, search);
    const { secret, page } = await this.failures.counted(request, () => this.failures.lookUp(request, finish));
    setSessionCookie(request, response, secret);
    response.redirect(SEE_OTHER, `${TO_CONSOLE}${page}`);
  }
}

/** Undefined when the request names no host to come back to. `Host` may be empty, or absent with HTTP/1.0. */
function callbackOf({ protocol, host }: { protocol: string; host: string | undefined }): string | undefined {
  const address = `${protocol}://${host}/console/api/oidc/callback`;
  return host !== undefined && URL.canParse(address) ? address : undefined;
}

/** The query with its `?`. The target may be a whole URL, whose host and port say nothing here. */
function searchOf({ originalUrl }: Request): string {
  return /^[^?#]*(\?[^#]*)/.exec(originalUrl)?.[1] ?? '';
}
