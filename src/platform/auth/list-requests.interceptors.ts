import { hash } from 'node:crypto';
import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { defer, lastValueFrom, type Observable, map } from 'rxjs';
import type { AuthenticatedRequest } from './caller.decorator';
import { ReadSlots } from '../rate-limit/read-slots';
import { isObject } from '../values/json/is-object';

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

type Query = AuthenticatedRequest['query'];

/** Of the hash that stands before a cursor: 96 bits. */
const TAG_CHARACTERS = 16;
/** In no cursor of any list, so that each refuses the text behind it: with its other faults, by `notACursor`. */
const FOREIGN = '!';

/**
 * Binds cursors to what they go on in: the workspace, the list, its filters and its order. Behind another one a cursor would
 * skip or repeat entries without a word; here it is 422. Only `limit` and `unmask` may change from page to page. It stands at
 * every route that reads, so that no list can forget it.
 */
@Injectable()
export class BoundCursorsInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const { query } = request;
    const { cursor } = query;
    if (typeof cursor === 'string') replaceQuery(request, { ...query, cursor: opened(cursor, tagOf(request, query)) });
    return next.handle().pipe(map((answer: unknown) => withBoundCursor(answer, () => tagOf(request, query))));
  }
}

function withBoundCursor(answer: unknown, tag: () => string): unknown {
  if (!isObject(answer) || typeof answer['nextCursor'] !== 'string') return answer;
  return { ...answer, nextCursor: `${tag()}${answer['nextCursor']}` };
}

/** The list's own cursor. */
function opened(cursor: string, tag: string): string {
  return cursor.startsWith(tag) ? cursor.slice(TAG_CHARACTERS) : `${FOREIGN}${cursor}`;
}

function tagOf({ caller, route, params }: AuthenticatedRequest, query: Query): string {
  const { cursor: _cursor, limit: _limit, unmask: _unmask, ...filters } = query;
  // Express knows it without a type.
  const { path } = route as { readonly path: string };
  const list = JSON.stringify([caller?.tenantId, path, params, Object.entries(filters).sort()]);
  return hash('sha256', list, 'base64url').slice(0, TAG_CHARACTERS);
}

/** Express makes the query anew each time that it is asked for. */
function replaceQuery(request: AuthenticatedRequest, query: Query): void {
  Object.defineProperty(request, 'query', { value: query, configurable: true, enumerable: true });
}
