/**
 * The next $6 events of the workspace $1 behind the cursor ($2 to $4) that were received before $5, in order: that of
 * receipt, and within one transaction of ingest that of occurrence. `concerned`: of one of the types $7, and of the
 * source $8 unless that is null. For a FROM list; backfills of reactions read the same window in a statement of theirs.
 */
export const EVENTS_IN_WINDOW = `
      SELECT event_id, received_at, occurred_at, profile_id, queue_bundle_id,
        event_type = ANY($7::text[]) AND ($8::text IS NULL OR source = $8) AS concerned
      FROM events
      WHERE tenant_id = $1::uuid AND received_at > '-infinity' AND received_at >= $2::timestamptz
        AND received_at < $5::timestamptz
        AND (received_at, occurred_at, event_id) > ($2::timestamptz, $3::timestamptz, $4::uuid)
      ORDER BY received_at, occurred_at, event_id LIMIT $6`;
