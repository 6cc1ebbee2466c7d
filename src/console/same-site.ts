import type { Request } from 'express';
import { DomainError } from '../platform/errors/domain-error';
import { crossSiteSign } from './domain/cross-site';

/** Identity providers send the browser back to an address below this one. */
const FOREIGN_READS = '/console/api/oidc/';

/** Throws `cross_site_request` unless a request can come from a page of the console (contract section 10). */
export function assertSameSite(request: Request): void {
  const { method, headers, path, host } = request;
  if (method === 'GET' && path.startsWith(FOREIGN_READS)) return;
  const sign = crossSiteSign({
    method,
    host,
    origin: headers.origin,
    fetchSite: one(headers['sec-fetch-site']),
    marker: one(headers['x-cds-console']),
  });
  if (sign === undefined) return;
  throw new DomainError('cross_site_request', `The request does not come from the console. ${sign}`);
}

/** A header that was sent twice fits nothing. */
function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join() : value;
}
