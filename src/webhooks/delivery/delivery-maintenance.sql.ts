import type { Statement } from '../../platform/postgres/statement';

/** Removes a deleted endpoint's replays, queues and deliveries. A claimed queue has an attempt under way, whose result is dropped. */
export const REMOVE_QUEUES = `
  DELETE FROM webhook_queues WHERE (tenant_id, endpoint_id, profile_id) IN (
    SELECT tenant_id, endpoint_id, profile_id FROM webhook_queues
    WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY profile_id LIMIT $3 FOR UPDATE SKIP LOCKED)`;
export const REMOVE_LOCKED_QUEUES = withoutSkipping(REMOVE_QUEUES);
export const REMOVE_DELIVERIES = `
  DELETE FROM webhook_deliveries WHERE (tenant_id, event_id, endpoint_id) IN (
    SELECT tenant_id, event_id, endpoint_id FROM webhook_deliveries
    WHERE tenant_id = $1 AND endpoint_id = $2 AND created_at > '-infinity' LIMIT $3)`;
export const REMOVE_REPLAYS = `
  DELETE FROM webhook_replays WHERE (tenant_id, endpoint_id, id) IN (
    SELECT tenant_id, endpoint_id, id FROM webhook_replays WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY id LIMIT $3)`;

/**
 * Makes queues of an endpoint due, and begins the schedule of their first deliveries anew. By the index of due times, so
 * that a step does not read again what earlier ones have resumed. It holds locks in no common order, but waits for none.
 */
export const RESUME_QUEUES = `
  UPDATE webhook_queues SET due_at = statement_timestamp(), failures = 0
  WHERE (tenant_id, endpoint_id, profile_id) IN (
    SELECT tenant_id, endpoint_id, profile_id FROM webhook_queues
    WHERE tenant_id = $1 AND endpoint_id = $2 AND due_at > statement_timestamp() AND due_at > '-infinity'
      AND claim_id IS NULL
    ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)`;
export const RESUME_LOCKED_QUEUES = withoutSkipping(RESUME_QUEUES);

/**
 * Makes queues of an endpoint due that wait for a later time than any rule lets them: the database's clock was set back since.
 * Without a failed attempt a queue waits for 30 seconds at most, a claim ends after as many, and attempts are 29 hours apart at
 * most. A call may be under way: its claim goes on for 30 seconds.
 */
export const PULL_BACK_QUEUES = `
  UPDATE webhook_queues
  SET due_at = statement_timestamp() + CASE WHEN claim_id IS NULL THEN interval '0' ELSE interval '30 seconds' END
  WHERE (tenant_id, endpoint_id, profile_id) IN (
    SELECT tenant_id, endpoint_id, profile_id FROM webhook_queues
    WHERE tenant_id = $1 AND endpoint_id = $2 AND due_at > statement_timestamp() + interval '1 minute' AND due_at > '-infinity'
      AND (failures = 0 OR claim_id IS NOT NULL OR due_at > statement_timestamp() + interval '29 hours')
    ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)`;

export const NEXT_ENDPOINT = `
  SELECT d.tenant_id, d.endpoint_id, e.id IS NULL AS is_deleted
  FROM (
    SELECT tenant_id, endpoint_id FROM webhook_deliveries
    WHERE (tenant_id, endpoint_id) > ($1, $2) AND created_at > '-infinity' ORDER BY tenant_id, endpoint_id LIMIT 1
  ) d
  LEFT JOIN webhook_endpoints e ON e.tenant_id = d.tenant_id AND e.id = d.endpoint_id`;
/**
 * A page of an endpoint's deliveries in the state $3 that were added over $6 days ago, behind the position ($4, $5). Many
 * may have one `seq`. By statement_timestamp(), because PostgreSQL compares with the volatile clock_timestamp() row by row,
 * and would read all deliveries that are kept.
 */
export const FIND_OLD = `
  SELECT seq, event_id FROM webhook_deliveries
  WHERE tenant_id = $1 AND endpoint_id = $2 AND state = $3 AND created_at > '-infinity' AND (seq, event_id) > ($4, $5)
    AND seq < (extract(epoch FROM statement_timestamp() - $6 * interval '1 day') * 1000000)::bigint
  ORDER BY seq, event_id LIMIT $7`;
/** These deliveries ($3) of the endpoint, each of which is found by its key then (docs/adr/0092). */
const THESE = `
  WITH these AS MATERIALIZED (
    SELECT $1::uuid AS tenant_id, $2::uuid AS endpoint_id, event_id FROM unnest($3::uuid[]) AS each (event_id)
  )`;
const IS_ONE = 'd.tenant_id = t.tenant_id AND d.event_id = t.event_id AND d.endpoint_id = t.endpoint_id';
/**
 * Removes those of these deliveries that were done over $4 days ago: after a long outage, many of those that were added
 * earlier were not. One that is asked for again at this moment stays.
 */
export const REMOVE_OLD: Statement = {
  name: 'webhooks_remove_old',
  text: `${THESE}
  DELETE FROM webhook_deliveries d USING these t
  WHERE ${IS_ONE} AND d.state IN ('delivered', 'failed') AND d.done_at < statement_timestamp() - $4 * interval '1 day'`,
};
/** Ends those of these deliveries that are about a change, and were added over $4 days ago. */
export const END_CHANGES: Statement = {
  name: 'webhooks_end_changes',
  text: `${THESE}
  UPDATE webhook_deliveries d SET state = 'failed', reason = 'change_expired', done_at = statement_timestamp()
  FROM these t
  WHERE ${IS_ONE} AND d.state = 'pending' AND d.is_change
    AND d.seq < (extract(epoch FROM statement_timestamp() - $4 * interval '1 day') * 1000000)::bigint`,
};

/** Whether the endpoint `e` has no queue. */
const NOTHING_WAITS = `NOT EXISTS (
    SELECT FROM webhook_queues q WHERE q.tenant_id = e.tenant_id AND q.endpoint_id = e.id AND q.due_at > '-infinity'
  )`;
/** Endpoints behind ($1, $2) that fail and for which nothing waits. */
export const IDLE_ENDPOINTS = `
  SELECT tenant_id, id AS endpoint_id FROM webhook_endpoints e
  WHERE (tenant_id, id) > ($1, $2) AND enabled AND failing_since IS NOT NULL AND ${NOTHING_WAITS}
  ORDER BY tenant_id, id LIMIT $3`;
/**
 * While something waits for an endpoint, an attempt is made within 29 hours. If nothing waits, the failing delivery ended
 * otherwise, and the next failure may come after weeks without any attempt.
 */
export const END_FAILING = `
  UPDATE webhook_endpoints e SET failing_since = NULL
  WHERE tenant_id = $1 AND id = $2 AND enabled AND failing_since IS NOT NULL AND ${NOTHING_WAITS}`;

export const NEXT_CHANGED_WORKSPACE = `
  SELECT tenant_id FROM webhook_changes WHERE tenant_id > $1 ORDER BY tenant_id LIMIT 1`;
/**
 * Removes changes between the ids $2 and $3 whose deliveries are gone. Returns the page that was looked at. Each change, and
 * its deliveries, are found by their keys (docs/adr/0092).
 */
export const EXPIRE_CHANGES: Statement = {
  name: 'webhooks_expire_changes',
  text: `
    WITH page AS MATERIALIZED (
      SELECT tenant_id, id, endpoint_ids FROM webhook_changes
      WHERE tenant_id = $1::uuid AND id > $2 AND id < $3 ORDER BY id LIMIT $4
    ), over AS MATERIALIZED (
      SELECT p.tenant_id, p.id FROM page p
      LEFT JOIN LATERAL (
        SELECT event_id FROM webhook_deliveries WHERE tenant_id = $1::uuid AND event_id = p.id LIMIT 1
      ) d ON true
      WHERE p.endpoint_ids IS NULL AND d.event_id IS NULL
    ), expired AS (
      DELETE FROM webhook_changes c USING over o WHERE c.tenant_id = o.tenant_id AND c.id = o.id
    )
    SELECT id FROM page ORDER BY id`,
};

/**
 * The same for queues that a transaction locked at that moment: one at a time, and waiting for it. So this holds no lock
 * that it could wait for in another order than others do. A queue that is left out here would stay as it is for a day,
 * or for ever.
 */
function withoutSkipping(statement: string): string {
  return statement.replace('LIMIT $3 FOR UPDATE SKIP LOCKED', 'LIMIT least($3, 1) FOR UPDATE');
}
