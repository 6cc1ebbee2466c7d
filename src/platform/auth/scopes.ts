/** All scopes of credentials (contract section 2); a closed list. */
export const SCOPES = [
  'external-events:write',
  'cdp-events:write',
  'events:read',
  'event-types:read',
  'event-types:write',
  'profiles:read',
  'profiles:write',
  'pii:read',
  'review:read',
  'review:write',
  'variables:read',
  'variables:write',
  'reactions:read',
  'reactions:write',
  'state:read',
  'state:write',
  'webhooks:read',
  'webhooks:write',
  'api-keys:read',
  'api-keys:write',
  'jwt-issuers:read',
  'jwt-issuers:write',
  'service-credentials:read',
  'service-credentials:write',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Whether the granted scopes include `scope`; `admin` includes all. */
export function grants(granted: ReadonlySet<Scope>, scope: Scope): boolean {
  return granted.has('admin') || granted.has(scope);
}

/** Whether a scope allows only reading. */
export function isReadScope(scope: Scope): boolean {
  return scope.endsWith(':read');
}
