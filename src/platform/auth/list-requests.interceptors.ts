import { hash } from 'node:crypto';
import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import { defer, lastValueFrom, type Observable, map } from 'rxjs';
import type { AuthenticatedRequest } from './caller.decorator';
import { ReadSlots } from '../rate-limit/read-slots';
import { isObject } from '../values/json/json-values';

/** Makes a read wait for a read slot of its workspace; after the guards, before the body is read. */
@Injectable()
export class ReadSlotsInterceptor implements NestInterceptor {
  constructor(private readonly slots: ReadSlots) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const { caller, socket } = request;
    if (caller === undefined) throw new Error('A read waits for a slot without authenticating the call');
    const read = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    return defer(() => this.slots.run(caller.tenantId, read, { isGone: () => socket.destroyed }));
  }
}

type Query = AuthenticatedRequest['query'];

/** Characters of the hash before a cursor: 96 bits. */
const TAG_CHARACTERS = 16;
/** No cursor contains this character. The list's own check then refuses the cursor together with its other faults. */
const FOREIGN = '!';

/**
 * Binds cursors to the workspace, the list, its filters and its order. With other filters a cursor would silently skip or
 * repeat entries; this answers 422. Only `limit` and `unmask` may change between pages. Every route with a read scope has
 * this interceptor, so no list can forget it.
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
  // Express exposes it without a type.
  const { path } = route as { readonly path: string };
  const list = JSON.stringify([caller?.tenantId, path, params, Object.entries(filters).sort()]);
  return hash('sha256', list, 'base64url').slice(0, TAG_CHARACTERS);
}

/** Express parses the query again on every access. */
function replaceQuery(request: AuthenticatedRequest, query: Query): void {
  Object.defineProperty(request, 'query', { value: query, configurable: true, enumerable: true });
}
