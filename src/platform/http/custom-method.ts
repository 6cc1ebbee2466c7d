import type { IncomingMessage } from 'node:http';
import type { Express } from 'express';

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

/** The part of Express's router with the paths of its routes. */
export interface RoutedPaths {
  readonly stack: readonly { readonly route?: { readonly path: unknown } }[];
}

/** The parameters that end a path which another path continues by a verb: `/v1/api-keys/{id}:rotate`. */
const BEFORE_VERBS = ['id', 'jobId', 'name', 'eventType'];

/** The verbs of all routes: `rotate` of `/v1/api-keys/:id\\:rotate`. */
export function verbsOf({ stack }: RoutedPaths): ReadonlySet<string> {
  const verbs = stack.map(({ route }) => /\\:([a-z-]+)$/.exec(String(route?.path))?.[1]);
  return new Set(verbs.filter((verb) => verb !== undefined));
}

/** Whether a parameter of a route has taken the verb of another route for a part of its value. */
export function hasTakenVerb(parameters: Readonly<Record<string, string>>, verbs: ReadonlySet<string>): boolean {
  return BEFORE_VERBS.some((name) => endsInVerb(parameters[name] ?? '', verbs));
}

/**
 * Keeps the route of `/v1/api-keys/{id}` from taking `/v1/api-keys/{id}:rotate`: a client that forgets to POST would hear that
 * there is no such key.
 */
export function leaveVerbsToTheirRoutes(app: Express): void {
  // Computed when it is first needed, when all routes have been added.
  let verbs: ReadonlySet<string> | undefined;
  app.param(BEFORE_VERBS, (_request, _response, next, value: string) => {
    if (!value.includes(':')) {
      next();
      return;
    }
    verbs ??= verbsOf(app.router);
    next(endsInVerb(value, verbs) ? 'route' : undefined);
  });
}

function endsInVerb(value: string, verbs: ReadonlySet<string>): boolean {
  const colonAt = value.lastIndexOf(':');
  return colonAt !== -1 && verbs.has(value.slice(colonAt + 1));
}
