import type { IncomingMessage } from 'node:http';

const ENCODED_COLON = /%3a/gi;

/**
 * Decodes `%3A` in the path of a request target; the query stays as it is.
 *
 * Paths such as `/v1/things:batch` have a literal colon. Clients and proxies may encode it (both forms are equivalent in RFC
 * 3986), but the router compares characters.
 */
export function withLiteralColons(target: string): string {
  const queryAt = target.indexOf('?');
  if (queryAt === -1) return target.replace(ENCODED_COLON, ':');
  return target.slice(0, queryAt).replace(ENCODED_COLON, ':') + target.slice(queryAt);
}

/** See `withLiteralColons`. `originalUrl` keeps the sent target, which signatures cover. */
export function literalColons(
  request: IncomingMessage & { originalUrl?: string },
  _response: unknown,
  next: () => void,
): void {
  const target = request.url;
  if (target?.includes('%3')) {
    request.originalUrl ??= target;
    request.url = withLiteralColons(target);
  }
  next();
}
