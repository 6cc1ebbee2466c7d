import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from './principal';

/** A request whose credential has been verified. */
export interface AuthenticatedRequest extends Request {
  caller?: Principal;
}

/** Who is calling; only on routes that authenticate. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const { caller } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (caller === undefined) throw new Error('A route asks who is calling without authenticating the call');
  return caller;
});
