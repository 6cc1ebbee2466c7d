import type { Schema } from '../../api/api-types';

export type Scope = Schema<'Scope'>;

interface ScopeGroup {
  readonly label: string;
  /** Scope and the word for its check box. */
  readonly scopes: (readonly [scope: Scope, label: string])[];
}

/** All scopes, in the order of the page, with their group and the word for their check box. A missing one does not compile. */
const CHECK_BOXES: Readonly<Record<Exclude<Scope, 'admin'>, readonly [group: string, label: string]>> = {
  'external-events:write': ['Send events', 'external'],
  'cdp-events:write': ['Send events', 'customer'],
  'events:read': ['Events', 'read'],
  'event-types:read': ['Event types', 'read'],
  'event-types:write': ['Event types', 'write'],
  'profiles:read': ['Customers', 'read'],
  'profiles:write': ['Customers', 'write'],
  'pii:read': ['Personal data', 'unmasked'],
  'review:read': ['Review', 'read'],
  'review:write': ['Review', 'write'],
  'variables:read': ['Variables', 'read'],
  'variables:write': ['Variables', 'write'],
  'state:read': ['State', 'read'],
  'state:write': ['State', 'write'],
  'reactions:read': ['Reactions', 'read'],
  'reactions:write': ['Reactions', 'write'],
  'webhooks:read': ['Webhooks', 'read'],
  'webhooks:write': ['Webhooks', 'write'],
  'api-keys:read': ['API keys', 'read'],
  'api-keys:write': ['API keys', 'write'],
  'jwt-issuers:read': ['JWT issuers', 'read'],
  'jwt-issuers:write': ['JWT issuers', 'write'],
  'service-credentials:read': ['Credentials', 'read'],
  'service-credentials:write': ['Credentials', 'write'],
};

/** The check boxes by their groups. */
export const SCOPE_GROUPS: readonly ScopeGroup[] = groups();

function groups(): ScopeGroup[] {
  const found = new Map<string, ScopeGroup>();
  for (const [scope, [group, label]] of Object.entries(CHECK_BOXES)) {
    const known = found.get(group) ?? { label: group, scopes: [] };
    known.scopes.push([scope as Scope, label]);
    found.set(group, known);
  }
  return [...found.values()];
}
