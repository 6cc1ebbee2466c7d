/**
 * What the audit log knows: the kinds of its entries, and what can be done. Everything that writes or registers entries
 * has its kind and its action from here, and so has the OpenAPI document.
 */
export const AUDIT_ACTIONS = {
  api_key: ['created', 'rotated', 'revoked'],
  jwt_issuer: ['created', 'changed', 'deleted'],
  service_credential: ['created', 'revoked'],
  webhook: ['created', 'changed', 'deleted', 'enabled', 'disabled', 'secret_rotated'],
  retention: ['changed'],
  unmasked_read: ['read', 'exported'],
  erasure: ['erased', 'lifted'],
} as const;

export type AuditKind = keyof typeof AUDIT_ACTIONS;
export type AuditActionOf<K extends AuditKind> = (typeof AUDIT_ACTIONS)[K][number];

export const AUDIT_KINDS = Object.keys(AUDIT_ACTIONS) as AuditKind[];
