import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { defer, lastValueFrom, type Observable } from 'rxjs';
import type { AuthenticatedRequest } from './caller.decorator';
import { ReadSlots } from '../rate-limit/read-slots';

/** Has every route that it stands at wait for a place among the reads of its workspace; behind the guards, before the body. */
@Injectable()
export class ReadSlotsInterceptor implements NestInterceptor {
  constructor(private readonly slots: ReadSlots) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const { caller, socket } = request;
    if (caller === undefined) throw new Error('A read waits for its turn without authenticating the call');
    const read = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    return defer(() => this.slots.run(caller.tenantId, read, { isGone: () => socket.destroyed }));
  }
}
