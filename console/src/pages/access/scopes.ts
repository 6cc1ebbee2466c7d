import type { Schema } from '../../api/api-types';

export type Scope = Schema<'Scope'>;

interface ScopeGroup {
  readonly label: string;
  /** Scope and the word for its check box. */
  readonly scopes: readonly (readonly [scope: Scope, label: string])[];
}

/** All scopes, as the page offers them. */
export const SCOPE_GROUPS: readonly ScopeGroup[] = [
  {
    label: 'Send events',
    scopes: [
      ['external-events:write', 'external'],
      ['cdp-events:write', 'customer'],
    ],
  },
  { label: 'Events', scopes: [['events:read', 'read']] },
  readAndWrite('Event types', 'event-types:read', 'event-types:write'),
  readAndWrite('Customers', 'profiles:read', 'profiles:write'),
  { label: 'Personal data', scopes: [['pii:read', 'unmasked']] },
  readAndWrite('Review', 'review:read', 'review:write'),
  readAndWrite('Variables', 'variables:read', 'variables:write'),
  readAndWrite('State', 'state:read', 'state:write'),
  readAndWrite('Reactions', 'reactions:read', 'reactions:write'),
  readAndWrite('Webhooks', 'webhooks:read', 'webhooks:write'),
  readAndWrite('API keys', 'api-keys:read', 'api-keys:write'),
  readAndWrite('JWT issuers', 'jwt-issuers:read', 'jwt-issuers:write'),
  readAndWrite('Credentials', 'service-credentials:read', 'service-credentials:write'),
];

function readAndWrite(label: string, read: Scope, write: Scope): ScopeGroup {
  return {
    label,
    scopes: [
      [read, 'read'],
      [write, 'write'],
    ],
  };
}
