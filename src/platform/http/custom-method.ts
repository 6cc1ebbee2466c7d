import type { IncomingMessage } from 'node:http';

const ENCODED_COLON = /%3a/gi;

/**
 * Writes `%3A` in the path of a request target as the colon it stands for; the query stays as it came.
 *
 * Paths such as `/v1/external-events:batch` end in a literal colon, and clients and proxies may encode it (RFC 3986 lets
 * both spellings mean the same there), but the router compares letters.
 */
export function withLiteralColons(target: string): string {
  const queryAt = target.indexOf('?');
  if (queryAt === -1) return target.replace(ENCODED_COLON, ':');
  return target.slice(0, queryAt).replace(ENCODED_COLON, ':') + target.slice(queryAt);
}

/** See `withLiteralColons`. `originalUrl` keeps what was sent, for whoever checks a signature over it. */
export function literalColons(request: IncomingMessage & { originalUrl?: string }): void {
  const target = request.url;
  // Nearly every request stops at this cheap look.
  if (!target?.includes('%3')) return;
  request.originalUrl ??= target;
  request.url = withLiteralColons(target);
}
