import type { IncomingMessage } from 'node:http';

const mountPath = Symbol('mount path');

interface Mounted extends IncomingMessage {
  [mountPath]?: string;
}

/**
 * Has a request below `prefix` answered by the routes without it: `/console/api/v1/events` by `/v1/events`. Its target must
 * begin with `prefix`. Logs, metrics and traces show the route with the prefix.
 */
export function mountAt(prefix: string, request: Mounted): void {
  request[mountPath] = prefix;
  request.url = request.url?.slice(prefix.length) ?? '';
}

/** The prefix of a mounted request; empty for any other. */
export function mountPathOf(request: Mounted): string {
  return request[mountPath] ?? '';
}
