import type { Statement } from '../../platform/postgres/statement';

/** Whether nothing is left to do with an event, by its record `p`. One that failed for good is settled. */
const IS_SETTLED = `p.state <> 'queued' AND NOT p.reactions @> '[{"outcome": "waiting_for_customer"}]'`;

/**
 * The oldest events of a workspace, in order of receipt: those behind the key $2, $3 that were received before $4, $5 of them
 * at most. `is_settled`: not queued, parked or waiting; a bundled event has a record, and may wait, if a backfill came to
 * it. `is_recorded`: in `expired_events` already. Looked up in joins: for EXISTS in a column PostgreSQL may read all rows of the
 * workspace instead, each time.
 */
export const FIND_OLD_EVENTS: Statement = {
  name: 'expiry_find_old_events',
  text: `
    SELECT e.event_id, e.received_at::text AS received_at, e.content_hash, e.bytes,
      e.queue_bundle_id IS NOT NULL AS is_bundled,
      CASE WHEN e.queue_bundle_id IS NULL THEN coalesce(record.is_settled, false)
        ELSE bundle.is_queued IS NULL AND coalesce(record.is_settled, true)
      END AS is_settled,
      recorded.is_recorded IS NOT NULL AS is_recorded
    FROM (
      SELECT event_id, received_at, content_hash, queue_bundle_id,
        pg_column_size(properties) + pg_column_size(identity) AS bytes
      FROM events
      WHERE tenant_id = $1::uuid AND (received_at, event_id) > ($2::timestamptz, $3::uuid)
        AND received_at < $4::timestamptz AND received_at > '-infinity'
      ORDER BY received_at, event_id LIMIT $5
    ) e
    LEFT JOIN LATERAL (
      SELECT ${IS_SETTLED} AS is_settled FROM event_processing p
      WHERE p.tenant_id = $1::uuid AND p.event_id = e.event_id LIMIT 1
    ) record ON true
    LEFT JOIN LATERAL (
      SELECT true AS is_queued FROM queued_bundles WHERE tenant_id = $1::uuid AND id = e.queue_bundle_id LIMIT 1
    ) bundle ON true
    LEFT JOIN LATERAL (
      SELECT true AS is_recorded FROM expired_events WHERE tenant_id = $1::uuid AND event_id = e.event_id
      UNION ALL
      SELECT true FROM expired_events WHERE tenant_id = $1::uuid AND other_event_id = e.event_id
      LIMIT 1
    ) recorded ON true
    ORDER BY e.received_at, e.event_id`,
};

/** Two events share a row; in the last one the second may be missing. */
export const RECORD_EXPIRED: Statement = {
  name: 'expiry_record_expired',
  text: `
    INSERT INTO expired_events (tenant_id, event_id, content_check, other_event_id, other_content_check)
    SELECT $1::uuid, u.* FROM unnest($2::uuid[], $3::bigint[], $4::uuid[], $5::bigint[]) AS u`,
};

/** Locks bundled events, so that no backfill gives them their first record. Skips those that one has come to now. */
export const LOCK_BUNDLED: Statement = {
  name: 'expiry_lock_bundled',
  text: `
    SELECT e.event_id FROM unnest($2::uuid[]) AS u (event_id)
    CROSS JOIN LATERAL (
      SELECT event_id FROM events WHERE tenant_id = $1::uuid AND event_id = u.event_id LIMIT 1 FOR UPDATE SKIP LOCKED
    ) e`,
};

/**
 * Those of the events $2 that are settled; their records are locked. $3: whether each is a bundled and locked event, which is
 * settled without a record, too. Skips those that a replay is working on.
 */
export const LOCK_SETTLED: Statement = {
  name: 'expiry_lock_settled',
  text: `
    SELECT u.event_id FROM unnest($2::uuid[], $3::boolean[]) AS u (event_id, is_bundled)
    LEFT JOIN LATERAL (
      SELECT true AS is_locked FROM event_processing p
      WHERE p.tenant_id = $1::uuid AND p.event_id = u.event_id AND ${IS_SETTLED} LIMIT 1 FOR UPDATE SKIP LOCKED
    ) settled ON true
    LEFT JOIN LATERAL (
      SELECT true AS is_there FROM event_processing p
      WHERE p.tenant_id = $1::uuid AND p.event_id = u.event_id LIMIT 1
    ) record ON true
    WHERE settled.is_locked OR (u.is_bundled AND record.is_there IS NULL)`,
};

/**
 * Removes events with their processing records, and counts them for their profiles. Skips those that an erasure has locked:
 * it never waits, so that it is in no deadlock. Returns the ids of those that it removed.
 */
export const REMOVE_EVENTS: Statement = {
  name: 'expiry_remove_events',
  text: `
    WITH gone AS MATERIALIZED (
      SELECT e.tenant_id, e.event_id, e.profile_id FROM unnest($2::uuid[]) AS u (event_id)
      CROSS JOIN LATERAL (
        SELECT tenant_id, event_id, profile_id FROM events
        WHERE tenant_id = $1::uuid AND event_id = u.event_id LIMIT 1 FOR UPDATE SKIP LOCKED
      ) e
    ), removed AS (
      DELETE FROM events e USING gone g WHERE e.tenant_id = g.tenant_id AND e.event_id = g.event_id
      RETURNING e.profile_id, e.event_id
    ), forgotten AS (
      DELETE FROM event_processing p USING gone g WHERE p.tenant_id = g.tenant_id AND p.event_id = g.event_id
    ), counted AS (
      INSERT INTO expired_event_counts AS c (tenant_id, profile_id, events)
      SELECT $1::uuid, profile_id, count(*) FROM removed GROUP BY profile_id ORDER BY profile_id
      ON CONFLICT ON CONSTRAINT expired_event_counts_pkey DO UPDATE SET events = c.events + excluded.events
    )
    SELECT event_id FROM removed`,
};

/** Whether an event has expired. */
export const FIND_EXPIRED: Statement = {
  name: 'expiry_find_expired',
  text: `
    SELECT 1 FROM expired_events WHERE tenant_id = $1::uuid AND event_id = $2::uuid
    UNION ALL
    SELECT 1 FROM expired_events WHERE tenant_id = $1::uuid AND other_event_id = $2::uuid
    LIMIT 1`,
};
