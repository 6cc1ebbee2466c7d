import type { NextFunction, Request, Response } from 'express';
import { DomainError } from '../../errors/domain-error';

/** The page and what it loads. Swagger UI's folder holds more, its package.json too, which tells a stranger the version. */
const SERVED: ReadonlySet<string> = new Set([
  '/',
  '/swagger-ui-init.js',
  '/swagger-ui.css',
  '/swagger-ui-bundle.js',
  '/swagger-ui-standalone-preset.js',
  '/favicon-16x16.png',
  '/favicon-32x32.png',
]);

/**
 * Leads `/docs/` to `/docs`, by a relative address. The page calls the API beside its own address, and must not stand one step
 * deeper, also behind a proxy with a path of its own.
 */
export function withoutTrailingSlash({ originalUrl }: Request, response: Response, next: NextFunction): void {
  const [path = ''] = originalUrl.split('?', 1);
  const folder = /\/([^/]+)\/+$/.exec(path)?.[1];
  if (folder === undefined) next();
  else response.redirect(`../${folder}`);
}

/** Lets only the files through that the documentation page needs; `path` begins below the page. */
export function onlyDocsFiles({ path }: Request, _response: Response, next: NextFunction): void {
  if (SERVED.has(path)) next();
  else next(new DomainError('not_found', 'The documentation has no such file; its page is /docs.'));
}
