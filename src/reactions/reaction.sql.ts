import type { Statement } from '../platform/postgres/statement';

/** The versions of workspaces' reactions; no row for a workspace that never had a reaction. */
export const READ_SET_VERSIONS: Statement = {
  name: 'reactions_read_set_versions',
  text: `
    SELECT u.tenant_id, s.version
    FROM unnest($1::uuid[]) AS u (tenant_id)
    CROSS JOIN LATERAL (SELECT version FROM reaction_sets WHERE tenant_id = u.tenant_id LIMIT 1) s`,
};

/** Which of these types of events have reactions, enabled or not. */
export const FIND_KINDS: Statement = {
  name: 'reactions_find_kinds',
  text: `
    SELECT u.position
    FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, event_type, position)
    CROSS JOIN LATERAL (
      SELECT 1 FROM reactions
      WHERE tenant_id = u.tenant_id AND event_type = u.event_type AND created_at > '-infinity' LIMIT 1
    ) r`,
};

/**
 * The enabled reactions to types of events, in the order in which they were first defined, by the database's clock;
 * $3 is how many a type may have.
 */
export const READ_REACTIONS: Statement = {
  name: 'reactions_read',
  text: `
    SELECT u.position, r.id, r.campaign_id, r.name, r.source, r.condition, r.operations, r.applies_from,
      r.backfill_id
    FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS u (tenant_id, event_type, position)
    CROSS JOIN LATERAL (
      SELECT id, campaign_id, name, source, condition, operations, applies_from, backfill_id, enabled, created_at
      FROM reactions
      WHERE tenant_id = u.tenant_id AND event_type = u.event_type AND created_at > '-infinity'
      ORDER BY id LIMIT $3
    ) r
    WHERE r.enabled
    ORDER BY r.created_at, r.id`,
};
