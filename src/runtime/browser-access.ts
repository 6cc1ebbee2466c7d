import type { CorsOptions } from 'cors';
import { WORKSPACE_HEADER } from '../platform/auth/workspace-header';

/** How long a browser may remember a preflight; the least of what browsers allow is two hours. */
const PREFLIGHT_SECONDS = 2 * 60 * 60;

/** Bearer tokens and no cookies, so that any origin may be let in without lending it somebody's session. */
export function browserAccess(origins: readonly string[]): CorsOptions {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'POST'],
    allowedHeaders: [
      ...['Authorization', 'Content-Type', 'Content-Encoding', 'Idempotency-Key', 'X-Request-Id'],
      WORKSPACE_HEADER,
    ],
    exposedHeaders: [
      ...['X-Request-Id', 'Mutation-Payload-Mismatch', 'WWW-Authenticate'],
      ...['Retry-After', 'RateLimit', 'RateLimit-Policy'],
    ],
    credentials: false,
    maxAge: PREFLIGHT_SECONDS,
  };
}
