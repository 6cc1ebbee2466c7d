import type { Statement } from '../platform/postgres/statement';

/** Stores changes with the endpoints that get them ($7: literals of uuid[]). */
export const INSERT_WEBHOOK_CHANGES: Statement = {
  name: 'webhooks_insert_changes',
  text: `
    INSERT INTO webhook_changes (tenant_id, id, position, queue_id, subject, change, endpoint_ids, at)
    SELECT unnest($1::uuid[]), unnest($2::uuid[]), unnest($3::integer[]), unnest($4::uuid[]), unnest($5::text[]),
      unnest($6::json[]), unnest($7::text[])::uuid[], unnest($8::timestamptz[])`,
};

/** The workspaces behind $1 with changes whose deliveries are to be added, at most $2. */
export const FIND_CHANGED_WORKSPACES: Statement = {
  name: 'webhooks_find_changed',
  text: `
    WITH RECURSIVE found AS (
      (
        SELECT tenant_id FROM webhook_changes
        WHERE tenant_id > $1::uuid AND endpoint_ids IS NOT NULL ORDER BY tenant_id LIMIT 1
      )
      UNION ALL
      SELECT n.tenant_id
      FROM found f
      CROSS JOIN LATERAL (
        SELECT tenant_id FROM webhook_changes
        WHERE tenant_id > f.tenant_id AND endpoint_ids IS NOT NULL ORDER BY tenant_id LIMIT 1
      ) n
    )
    SELECT tenant_id AS "tenantId" FROM found LIMIT $2`,
};

/**
 * Lets one process at a time add deliveries for changes of a workspace; no row if another one does it now. Sent by itself,
 * so that the next statement sees what that one has committed.
 */
export const LOCK_CHANGES: Statement = {
  name: 'webhooks_lock_changes',
  text: `SELECT 1 FROM webhook_sets WHERE tenant_id = $1::uuid LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED`,
};

/**
 * Takes the first changes of a workspace: at most $2, for at most $3 endpoints in all, each of which gets a delivery. They are
 * returned in any order.
 */
export const TAKE_CHANGES: Statement = {
  name: 'webhooks_take_changes',
  text: `
    WITH first AS MATERIALIZED (
      SELECT tenant_id, id, at, position, endpoint_ids FROM webhook_changes
      WHERE tenant_id = $1::uuid AND endpoint_ids IS NOT NULL ORDER BY at, position, id LIMIT $2
    ), few AS MATERIALIZED (
      SELECT tenant_id, id, array_to_string(endpoint_ids, ',') AS "endpointIds",
        (date_part('epoch', at) * 1000000)::bigint::text AS micros,
        sum(cardinality(endpoint_ids)) OVER (ORDER BY at, position, id) AS deliveries
      FROM first
    )
    UPDATE webhook_changes c SET endpoint_ids = NULL
    FROM few WHERE c.tenant_id = few.tenant_id AND c.id = few.id AND few.deliveries <= $3
    RETURNING c.id, c.queue_id AS "queueId", few."endpointIds", few.micros, c.position`,
};

/** The content of changes; missing for one that was erased. */
export const READ_WEBHOOK_CHANGES: Statement = {
  name: 'webhooks_read_changes',
  text: `
    SELECT c.id, c.subject, c.change
    FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, id)
    CROSS JOIN LATERAL (
      SELECT id, subject, change FROM webhook_changes WHERE tenant_id = u.tenant_id AND id = u.id LIMIT 1
    ) c`,
};

/** Which of these changes are still about a person; an erasure of that person waits until the transaction ends. */
export const HOLD_CHANGES: Statement = {
  name: 'webhooks_hold_changes',
  text: `
    SELECT c.id
    FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, id)
    CROSS JOIN LATERAL (
      SELECT id, subject FROM webhook_changes WHERE tenant_id = u.tenant_id AND id = u.id LIMIT 1 FOR SHARE
    ) c
    WHERE c.subject <> ''`,
};
