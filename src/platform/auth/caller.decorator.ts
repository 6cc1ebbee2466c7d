import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { RequestState } from '../http/service-request';
import type { Participant, Principal } from './principal';

/** A request whose credential has been verified. */
export interface AuthenticatedRequest extends Request, RequestState {
  /** Set by the guard of the route. */
  caller?: Principal;
  /** Set before the guard, by a session of the console: counts instead of credentials in headers. */
  sessionCaller?: Principal;
  participant?: Participant;
}

/** Which backend is calling; only on routes that authenticate backends. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const { caller } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (caller === undefined) throw new Error('A route asks which backend is calling without authenticating the call');
  return caller;
});

/** Which participant is calling; only on routes that authenticate participants. */
export const CallingParticipant = createParamDecorator((_data: unknown, context: ExecutionContext): Participant => {
  const { participant } = context.switchToHttp().getRequest<AuthenticatedRequest>();
  if (participant === undefined) throw new Error('A route asks for the participant without authenticating the call');
  return participant;
});
