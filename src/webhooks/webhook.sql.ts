import type { Statement } from '../platform/postgres/statement';

/** The versions of workspaces' rules; no row for a workspace that never had an endpoint. */
export const READ_RULE_VERSIONS: Statement = {
  name: 'webhooks_read_versions',
  text: `
    SELECT u.tenant_id, s.version
    FROM unnest($1::uuid[]) AS u (tenant_id)
    CROSS JOIN LATERAL (SELECT version FROM webhook_sets WHERE tenant_id = u.tenant_id LIMIT 1) s`,
};

/** Which of these types of events an endpoint is subscribed to, enabled or not. */
export const FIND_SUBSCRIBED: Statement = {
  name: 'webhooks_find_kinds',
  text: `
    SELECT u.position
    FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, event_type, position)
    CROSS JOIN LATERAL (
      SELECT 1 FROM webhook_rules
      WHERE tenant_id = u.tenant_id AND event_type = u.event_type AND applies_from > '-infinity' LIMIT 1
    ) r`,
};

/** The rules for types of events, by endpoint; $3 is how many a type may have. */
export const READ_RULES: Statement = {
  name: 'webhooks_read_rules',
  text: `
    SELECT u.position, r.endpoint_id, r.source, r.condition, r.applies_from
    FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, event_type, position)
    CROSS JOIN LATERAL (
      SELECT endpoint_id, source, condition, applies_from FROM webhook_rules
      WHERE tenant_id = u.tenant_id AND event_type = u.event_type AND applies_from > '-infinity'
      ORDER BY endpoint_id, position LIMIT $3
    ) r`,
};
