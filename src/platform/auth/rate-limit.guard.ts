import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import { RateLimits, type RateLimited } from '../rate-limit/rate-limits';
import { RATE_LIMITED } from './auth-metadata';
import type { AuthenticatedRequest } from './caller.decorator';
import { rateLimitSubjectOf } from './principal';

/** Applies the rate limit of the route to the authenticated caller, before a byte of the body is read. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly limits: RateLimits,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    const what = this.reflector.getAllAndOverride<RateLimited | undefined>(RATE_LIMITED, targets);
    if (what === undefined) throw new Error('A route is limited without saying by which limit');
    const http = context.switchToHttp();
    const request = http.getRequest<AuthenticatedRequest>();
    const { caller, participant } = request;
    const verified = caller ?? participant;
    if (verified === undefined) throw new Error('A route is limited without authenticating the call');
    this.limits.admit(what, rateLimitSubjectOf(verified), request, http.getResponse<Response>());
    return true;
  }
}
