/** Everything a credential can be allowed to do (contract section 2); a closed list. */
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
  'api-keys:read',
  'api-keys:write',
  'jwt-issuers:read',
  'jwt-issuers:write',
  'service-credentials:read',
  'service-credentials:write',
  'admin',
] as const;

export type Scope = (typeof SCOPES)[number];

/** `admin` is all of them. */
export function grants(granted: ReadonlySet<Scope>, wanted: Scope): boolean {
  return granted.has('admin') || granted.has(wanted);
}

/** Whether a scope lets its holder see something, and change nothing. */
export function isReadScope(scope: Scope): boolean {
  return scope.endsWith(':read');
}
