/** The two components that a request target is signed as (RFC 9421, sections 2.2.6 and 2.2.7). */
export interface SignedTarget {
  /** As it was sent: `%3A` and `:` are two paths here. */
  readonly path: string;
  /** With its question mark; `?` alone when there is no query. */
  readonly query: string;
}

/** Scheme and authority of the absolute form, which proxies are sent (RFC 9112, section 3.2.2). */
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** Takes a request target apart, decoding nothing. */
export function signedTarget(target: string): SignedTarget {
  const local = target.replace(ORIGIN, '');
  const queryAt = local.indexOf('?');
  const path = queryAt === -1 ? local : local.slice(0, queryAt);
  return { path: path === '' ? '/' : path, query: queryAt === -1 ? '?' : local.slice(queryAt) };
}
