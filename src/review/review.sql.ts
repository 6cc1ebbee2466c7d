import type { Statement } from '../platform/database/pipelined-connection';

const INSERT_ENTRIES = `
    INSERT INTO review_entries AS stored (tenant_id, id, severity, stage, reason, message, details, family, source,
      external_event_id, event_type, event_id, payload, payload_form, occurrences, first_seen_at, last_seen_at, status)
    SELECT e.tenant_id, e.id, e.severity, e.stage, e.reason, e.message, e.details, e.family, e.source,
      e.external_event_id, e.event_type, e.event_id, e.payload, e.payload_form, e.occurrences, e.seen_at, e.seen_at,
      'open'
    FROM json_to_recordset($1::json) AS e (tenant_id uuid, id uuid, severity text, stage text, reason text,
      message text, details jsonb, family text, source text, external_event_id text, event_type text, event_id uuid,
      payload text, payload_form text, occurrences int, seen_at timestamptz)`;

/** Counts a problem up or writes it down; one that was closed and happens again is open again. Rows come sorted by id. */
export const RECORD_ENTRIES: Statement = {
  name: 'review_record_entries',
  text: `${INSERT_ENTRIES}
    ON CONFLICT ON CONSTRAINT review_entries_pkey DO UPDATE SET
      message = excluded.message, details = excluded.details, event_type = excluded.event_type,
      payload = excluded.payload, payload_form = excluded.payload_form,
      occurrences = stored.occurrences + excluded.occurrences,
      last_seen_at = greatest(stored.last_seen_at, excluded.last_seen_at),
      status = 'open', resolution = NULL`,
};

/** Writes a problem down that is told once: of any number of simultaneous writers one does, and nothing is counted. */
export const RECORD_ENTRIES_ONCE: Statement = {
  name: 'review_record_entries_once',
  text: `${INSERT_ENTRIES}
    ON CONFLICT ON CONSTRAINT review_entries_pkey DO NOTHING`,
};

/** Refusals of an event `u` that nobody has settled; those of its processing are not settled by its coming in again. */
const OPEN_REFUSALS_OF_EVENT = `FROM review_entries
      WHERE tenant_id = u.tenant_id AND event_id = u.event_id AND status = 'open' AND severity = 'error'
        AND event_id IS NOT NULL AND stage <> 'processing'`;

/** Which of these events have refusals that SUPERSEDE_ENTRIES would close. */
export const FIND_SUPERSEDED: Statement = {
  name: 'review_find_superseded',
  text: `
    SELECT u.event_id
    FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, event_id)
    CROSS JOIN LATERAL (
      SELECT 1 ${OPEN_REFUSALS_OF_EVENT}
      LIMIT 1
    ) r`,
};

/**
 * Closes the refusals of events that have now come in right: one entry a reason, so the limit only holds the plan in place. That a
 * stored event could not be processed is not mended by its coming in again.
 */
export const SUPERSEDE_ENTRIES: Statement = {
  name: 'review_supersede_entries',
  text: `
    WITH closing AS MATERIALIZED (
      SELECT r.tenant_id, r.id
      FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, event_id)
      CROSS JOIN LATERAL (
        SELECT tenant_id, id ${OPEN_REFUSALS_OF_EVENT}
        LIMIT 100
      ) r
      ORDER BY r.tenant_id, r.id
    )
    UPDATE review_entries e
    SET status = 'superseded', resolution = jsonb_build_object('action', 'superseded', 'outcome', 'accepted', 'eventId', e.event_id)
    FROM closing c
    WHERE e.tenant_id = c.tenant_id AND e.id = c.id AND e.status = 'open'`,
};

/** Closes entries whose events were sent again from the review area and are stored; what is closed already stays as it is. */
export const CLOSE_REPLAYED_ENTRIES: Statement = {
  name: 'review_close_replayed_entries',
  text: `
    WITH closing AS MATERIALIZED (
      SELECT u.tenant_id, u.id, u.event_id, u.resolution
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) AS u (tenant_id, id, event_id, resolution)
      ORDER BY u.tenant_id, u.id
    )
    UPDATE review_entries e
    SET status = 'replayed', resolution = c.resolution::jsonb, event_id = c.event_id
    FROM closing c
    WHERE e.tenant_id = c.tenant_id AND e.id = c.id AND e.status IN ('open', 'dismissed')`,
};
