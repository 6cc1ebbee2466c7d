import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { DomainError } from '../../errors/domain-error';
import { hasTakenVerb, verbsOf } from '../custom-method';

/** The part of Express's router with its paths and methods. */
interface RouterStack {
  readonly stack: readonly {
    match(path: string): { readonly params: Readonly<Record<string, string>> } | false;
    readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
  }[];
}

interface KnownRoute {
  readonly matches: (path: string) => boolean;
  readonly methods: readonly string[];
}

/**
 * The handler after all routes: 404 for an unknown path, 405 with `Allow` for a path with other methods. OPTIONS is a method
 * like any other, so a preflight gets 405 and no permission (contract section 8).
 */
export function routeFallback(router: RouterStack): RequestHandler {
  // Computed at the first miss, when all routes have been added.
  let routes: readonly KnownRoute[] | undefined;
  return (request: Request, _response: Response, next: NextFunction): void => {
    routes ??= knownRoutes(router);
    const allowed = allowedMethods(routes, request.path);
    next(allowed.length === 0 ? noSuchRoute() : wrongMethod(allowed));
  };
}

function knownRoutes(router: RouterStack): KnownRoute[] {
  const verbs = verbsOf(router);
  return router.stack.flatMap((layer) => {
    if (layer.route === undefined) return [];
    const methods = Object.keys(layer.route.methods).map((method) => method.toUpperCase());
    // Express answers HEAD with the handler of GET.
    const matches = (path: string): boolean => {
      const found = layer.match(path);
      return typeof found === 'object' && !hasTakenVerb(found.params, verbs);
    };
    return [{ matches, methods: methods.includes('GET') ? [...methods, 'HEAD'] : methods }];
  });
}

function allowedMethods(routes: readonly KnownRoute[], path: string): string[] {
  const methods = routes.filter((route) => route.matches(path)).flatMap((route) => route.methods);
  return [...new Set(methods)].sort();
}

function noSuchRoute(): DomainError {
  return new DomainError('not_found', 'There is nothing at this address. Check the path for a typo.');
}

function wrongMethod(allowed: readonly string[]): DomainError {
  const allow = allowed.join(', ');
  return new DomainError('method_not_allowed', `This address takes ${allow}.`, { headers: { Allow: allow } });
}
