import { UNFINISHED_LIST } from '../../platform/jobs/work-states';
import type { Statement } from '../../platform/postgres/statement';
import { EVENTS_IN_WINDOW } from '../../processing/events-in-window';

/* Times go as text, which keeps microseconds. */

/** Excludes other steps and every change of a reaction, in this workspace; workers read this row without a lock. */
export const LOCK_REACTIONS: Statement = {
  name: 'backfill_lock_reactions',
  text: `SELECT version FROM reaction_sets WHERE tenant_id = $1::uuid FOR UPDATE`,
};

/** A backfill; `is_current`: its reaction is still the one that it was requested for. */
export const LOCK_BACKFILL: Statement = {
  name: 'backfill_lock',
  text: `
    SELECT b.*, b.cursor_received_at::text AS cursor_received_at, b.cursor_occurred_at::text AS cursor_occurred_at,
      b.received_from::text AS received_from, b.received_to::text AS received_to, b.started_at::text AS started_at,
      greatest(b.received_to, b.started_at, ahead.received_at)::text AS marked_to,
      r.tenant_id IS NOT NULL AS is_current
    FROM (
      SELECT * FROM reaction_backfills
      WHERE tenant_id = $1::uuid AND campaign_id = $2 AND name = $3 AND id = $4::uuid LIMIT 1 FOR UPDATE
    ) b
    CROSS JOIN LATERAL (
      SELECT max(received_at) + interval '1 millisecond' AS received_at FROM events
      WHERE tenant_id = $1::uuid AND received_at > '-infinity' AND received_at > statement_timestamp()
    ) ahead
    LEFT JOIN LATERAL (
      SELECT tenant_id FROM reactions
      WHERE tenant_id = b.tenant_id AND campaign_id = b.campaign_id AND name = b.name AND id = b.reaction_id
        AND updated_at = b.reaction_updated_at AND enabled LIMIT 1
    ) r ON true`,
};

/** By the database's clock, after the request was committed; again where that was set back during the survey. */
export const START: Statement = {
  name: 'backfill_start',
  text: `
    UPDATE reaction_backfills SET state = 'running', started_at = clock_timestamp(), total = 0,
      cursor_received_at = received_from, cursor_occurred_at = '-infinity'
    WHERE tenant_id = $1::uuid AND campaign_id = $2 AND name = $3 AND id = $4::uuid`,
};

const KEEP_LATER = `
    ON CONFLICT ON CONSTRAINT reaction_backfill_marks_pkey DO UPDATE SET
      received_at = excluded.received_at, occurred_at = excluded.occurred_at, event_id = excluded.event_id
    WHERE (excluded.received_at, excluded.occurred_at, excluded.event_id) > (m.received_at, m.occurred_at, m.event_id)`;

/**
 * Marks the events of the window that the reaction was applied to: $10 is the record that says so, $9 the backfill,
 * $11 further profiles to mark.
 */
export const MARK_WINDOW: Statement = {
  name: 'backfill_mark_window',
  text: `
    WITH latest AS MATERIALIZED (
      SELECT DISTINCT ON (marked.profile_id) marked.profile_id, e.received_at, e.occurred_at, e.event_id
      FROM (${EVENTS_IN_WINDOW}) e
      CROSS JOIN LATERAL (
        SELECT 1 FROM event_processing
        WHERE tenant_id = $1::uuid AND event_id = e.event_id AND reactions @> $10::jsonb LIMIT 1
      ) p
      CROSS JOIN LATERAL unnest($11::uuid[] || e.profile_id) AS marked (profile_id)
      WHERE e.concerned
      ORDER BY marked.profile_id, e.received_at DESC, e.occurred_at DESC, e.event_id DESC
    )
    INSERT INTO reaction_backfill_marks AS m (tenant_id, backfill_id, profile_id, received_at, occurred_at, event_id)
    SELECT $1::uuid, $9::uuid, profile_id, received_at, occurred_at, event_id FROM latest${KEEP_LATER}`,
};

/** Marks events, sorted by profile. */
export const MARK: Statement = {
  name: 'backfill_mark',
  text: `
    INSERT INTO reaction_backfill_marks AS m (tenant_id, backfill_id, profile_id, received_at, occurred_at, event_id)
    SELECT u.* FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::timestamptz[], $5::timestamptz[], $6::uuid[])
      AS u (tenant_id, backfill_id, profile_id, received_at, occurred_at, event_id)${KEEP_LATER}`,
};

/** Which of these profiles have a mark later than an event. */
export const FIND_LATER: Statement = {
  name: 'backfill_find_later',
  text: `
    SELECT u.position, u.profile_id
    FROM unnest($3::int[], $4::uuid[], $5::uuid[]) AS u (position, profile_id, event_id)
    CROSS JOIN LATERAL (
      SELECT received_at, occurred_at FROM events WHERE tenant_id = $1::uuid AND event_id = u.event_id LIMIT 1
    ) e
    CROSS JOIN LATERAL (
      SELECT 1 FROM reaction_backfill_marks m
      WHERE m.tenant_id = $1::uuid AND m.backfill_id = $2::uuid AND m.profile_id = u.profile_id
        AND (m.received_at, m.occurred_at, m.event_id) > (e.received_at, e.occurred_at, u.event_id) LIMIT 1
    ) m`,
};

/** Removes some marks of a backfill that has ended. */
export const REMOVE_MARKS: Statement = {
  name: 'backfill_remove_marks',
  text: `
    WITH few AS MATERIALIZED (
      SELECT tenant_id, backfill_id, profile_id FROM reaction_backfill_marks
      WHERE tenant_id = $1::uuid AND backfill_id = $2::uuid ORDER BY profile_id LIMIT $3
    )
    DELETE FROM reaction_backfill_marks m USING few f
    WHERE m.tenant_id = f.tenant_id AND m.backfill_id = f.backfill_id AND m.profile_id = f.profile_id
    RETURNING m.profile_id`,
};

/** The progress after a step. */
export const SAVE_PROGRESS: Statement = {
  name: 'backfill_save_progress',
  text: `
    UPDATE reaction_backfills SET phase = $5, attempts = $6::int, total = $7::int, scanned = $8::int,
      matched = $9::int, applied = $10::int, waiting = $11::int, skipped = $12::int, failed = $13::int,
      sums = $14::jsonb, cursor_received_at = $15::timestamptz, cursor_occurred_at = $16::timestamptz,
      cursor_event_id = $17::uuid
    WHERE tenant_id = $1::uuid AND campaign_id = $2 AND name = $3 AND id = $4::uuid`,
};

/** Ends a backfill that is not over yet. */
export const END: Statement = {
  name: 'backfill_end',
  text: `
    UPDATE reaction_backfills SET state = $5, reason = $6, finished_at = clock_timestamp()
    WHERE tenant_id = $1::uuid AND campaign_id = $2 AND name = $3 AND id = $4::uuid
      AND state IN ${UNFINISHED_LIST}`,
};

/** Workers need to report no more events to the backfill; those that do are ignored. */
export const RELEASE_REACTION: Statement = {
  name: 'backfill_release_reaction',
  text: `
    WITH released AS (
      UPDATE reactions SET backfill_id = NULL
      WHERE tenant_id = $1::uuid AND campaign_id = $2 AND name = $3 AND backfill_id = $4::uuid
      RETURNING tenant_id
    )
    UPDATE reaction_sets s SET version = $5::bigint FROM released r WHERE s.tenant_id = r.tenant_id`,
};
