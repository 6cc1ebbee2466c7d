import { oneWorkspaceForm } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/statement';

const OPEN_ERRORS = `FROM review_entries
      WHERE status = 'open' AND severity = 'error' AND event_id IS NOT NULL`;
const IS_REFUSAL = `stage <> 'processing'`;
const IS_FAILURE = `stage = 'processing'`;

/** The open refusals of events, without failures of their processing: receiving an event again does not resolve those. */
export const OPEN_REFUSALS = `${OPEN_ERRORS} AND ${IS_REFUSAL}`;

const OF_EVENT = 'AND tenant_id = u.tenant_id AND event_id = u.event_id';
const OPEN_REFUSALS_OF_EVENT = `${OPEN_REFUSALS} ${OF_EVENT}`;

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
 * Replaces the payloads of entries ($2) of a workspace by JSON ($3), their messages ($4) and their faults ($5) by ones without
 * the erased person whom they named, unless the event has been refused again since, with another payload than $6. Each is found
 * by its key (docs/adr/0092).
 */
export const REPLACE_PROBLEMS: Statement = {
  name: 'review_replace_problems',
  text: `
    UPDATE review_entries e SET
      payload = u.payload, payload_form = 'json', payload_state = 'removed', message = u.message, details = u.details
    FROM (
      SELECT r.tenant_id, r.id, w.payload, w.message, w.details
      FROM (
        SELECT * FROM unnest($2::uuid[], $3::text[], $4::text[], $5::jsonb[], $6::text[])
          AS each (id, payload, message, details, recorded)
        ORDER BY id
      ) w
      CROSS JOIN LATERAL (
        SELECT tenant_id, id FROM review_entries
        WHERE tenant_id = $1::uuid AND id = w.id AND (payload IS NULL OR payload = w.recorded) LIMIT 1 FOR NO KEY UPDATE
      ) r
      OFFSET 0
    ) u
    WHERE e.tenant_id = u.tenant_id AND e.id = u.id`,
};

/** As `Date.toISOString` writes it. A distributed database takes it beside columns, because it has none in it. */
const CLOSED_AT = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Closes the open refusals of events that are stored now. An event has one entry for each reason, so that the LIMIT is
 * never reached; it keeps the plan stable.
 */
export const SUPERSEDE_ENTRIES: Statement = supersedes('review_supersede_entries', IS_REFUSAL, 'accepted');

/** Closes the open failures of events that are processed now. */
export const SUPERSEDE_FAILURES: Statement = supersedes('review_supersede_failures', IS_FAILURE, 'processed');

/** Closes the open failures of events whose retention has ended: nobody can process them again. */
export const SUPERSEDE_EXPIRED: Statement = supersedes('review_supersede_expired', IS_FAILURE, 'expired');

function supersedes(name: string, kind: string, outcome: 'accepted' | 'processed' | 'expired'): Statement {
  return {
    name,
    text: superseding(
      kind,
      `jsonb_build_object('action', 'superseded', 'outcome', '${outcome}', 'at', ${CLOSED_AT}, 'eventId', e.event_id)`,
    ),
    // Of functions with columns a distributed database takes immutable ones only.
    oneWorkspace: oneWorkspaceForm(
      superseding(
        kind,
        `('{"action":"superseded","outcome":"${outcome}","at":"' || ${CLOSED_AT}
          || '","eventId":"' || e.event_id::text || '"}')::jsonb`,
      ),
    ),
  };
}

/**
 * `kind`: a condition on entries, also as they are once they are locked: a refusal may have become a failure of processing with
 * the same reason since.
 */
function superseding(kind: string, resolution: string): string {
  return `
    WITH closing AS MATERIALIZED (
      SELECT r.tenant_id, r.id
      FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, event_id)
      CROSS JOIN LATERAL (
        SELECT tenant_id, id ${OPEN_ERRORS} AND ${kind} ${OF_EVENT}
        LIMIT 100
      ) r
      ORDER BY r.tenant_id, r.id
    )
    UPDATE review_entries e
    SET status = 'superseded', closed_at = clock_timestamp(),
      resolution = ${resolution}
    FROM closing c
    WHERE e.tenant_id = c.tenant_id AND e.id = c.id AND e.status = 'open' AND e.${kind}`;
}

/**
 * Closes entries whose events a replay stored or processed. A replayed or superseded entry stays as it is. So does a refusal
 * that has become a failure of processing since the replay read it: the event was stored, and failed, meanwhile.
 */
export const CLOSE_REPLAYED_ENTRIES: Statement = {
  name: 'review_close_replayed_entries',
  text: `
    WITH closing AS MATERIALIZED (
      SELECT u.tenant_id, u.id, u.event_id, u.resolution
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[]) AS u (tenant_id, id, event_id, resolution)
      ORDER BY u.tenant_id, u.id
    )
    UPDATE review_entries e
    SET status = 'replayed', closed_at = clock_timestamp(), resolution = c.resolution::jsonb, event_id = c.event_id
    FROM closing c
    WHERE e.tenant_id = c.tenant_id AND e.id = c.id AND e.status IN ('open', 'dismissed')
      AND (e.stage <> 'processing' OR c.resolution::jsonb ->> 'outcome' = 'processed')`,
};
