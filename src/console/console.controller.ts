import { Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Unauthenticated } from '../platform/auth/authenticate.decorator';
import type { AuthenticatedRequest } from '../platform/auth/caller.decorator';
import { JsonBody } from '../platform/http/body/json-body.decorator';
import { ConsoleSignIn } from './console-sign-in';
import type { Session } from './console-sessions';
import { SessionDto } from './dto/session.dto';
import { SignInDto, signInKeyOf } from './dto/sign-in.dto';
import { AuthenticateSession, CallingSession } from './session.guard';
import { assertSameSite } from './same-site';
import { clearSessionCookie, sessionSecretOf, setSessionCookie } from './session-cookie';

/** The sessions of the console. These routes are for its pages, and no part of the public API. */
@ApiExcludeController()
@Controller('console/api')
export class ConsoleController {
  constructor(private readonly signIns: ConsoleSignIn) {}

  /** Ways to sign in here. */
  @Get('sign-in-methods')
  @Unauthenticated('the page asks before anybody has signed in, and learns nothing of anybody')
  signInMethods(): { key: boolean; oidc: boolean } {
    return this.signIns.methods();
  }

  /** Signs in with an API key: sets the cookie of a new session. One that came with the request ends. */
  @Post('session')
  @HttpCode(200)
  @Unauthenticated('the API key is in the body, which the handler verifies')
  async signIn(
    @JsonBody(SignInDto, { checked: false }) body: unknown,
    @Req() request: AuthenticatedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SessionDto> {
    assertSameSite(request);
    const { session, secret } = await this.signIns.withKey(request, signInKeyOf(body), sessionSecretOf(request));
    request.caller = session.principal;
    setSessionCookie(request, response, secret);
    return this.view(session);
  }

  /** Who is signed in. */
  @Get('session')
  @AuthenticateSession()
  getSession(@CallingSession() session: Session): Promise<SessionDto> {
    return this.view(session);
  }

  /** Signs out. */
  @Delete('session')
  @Unauthenticated('the cookie is enough to end its session, also while an identity provider cannot be asked about it')
  async signOut(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<{ signedIn: false }> {
    assertSameSite(request);
    await this.signIns.signOut(request, sessionSecretOf(request));
    clearSessionCookie(request, response);
    return { signedIn: false };
  }

  /** Takes the key of the session once more, for what needs a fresh proof. */
  @Post('session\\:prove')
  @HttpCode(200)
  @AuthenticateSession()
  async prove(
    @CallingSession() session: Session,
    @JsonBody(SignInDto, { checked: false }) body: unknown,
    @Req() request: Request,
  ): Promise<SessionDto> {
    return this.view(await this.signIns.prove(request, session, signInKeyOf(body)));
  }

  private async view(session: Session): Promise<SessionDto> {
    return SessionDto.of(session, await this.signIns.workspaceOf(session));
  }
}
