import { oneWorkspaceForm } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/pipelined-connection';
import { ROW_BYTES } from './domain/review-entry';

/**
 * The bytes that an entry adds to its workspace: its growth, or with `…_ONCE`, which changes no stored row, all or
 * nothing.
 */
const GROWTH = 'greatest(0, e.bytes - coalesce(known.bytes, 0))';
const GROWTH_ONCE = 'CASE WHEN known.id IS NULL THEN e.bytes ELSE 0 END';

export const COUNTED_MESSAGE =
  'The review area of this workspace has reached its limit of bytes for this day (REVIEW_BYTES_PER_DAY_MAX). Until the ' +
  'day ends (UTC), problems with this reason are counted here without payloads. Correct the sender, or ask the operator ' +
  'to raise the limit.';

/**
 * The entries to write, and whether each fits the limit of its workspace for the day, by the database's clock.
 * Uncommitted bytes of other connections are not counted, so that no connection waits for another; the limit may be
 * exceeded by these. `charged` adds the bytes to a row of this connection.
 */
const weighed = (growth: string): string => `
    WITH received AS MATERIALIZED (
      SELECT e.*, (clock_timestamp() AT TIME ZONE 'UTC')::date AS day, known.id IS NOT NULL AS is_known, ${growth} AS growth
      FROM json_to_recordset($1::json) AS e (tenant_id uuid, id uuid, severity text, stage text, reason text,
        message text, details jsonb, family text, source text, external_event_id text, event_type text, event_id uuid,
        payload text, payload_form text, payload_state text, bytes int, keeps_row boolean, occurrences int,
        seen_at timestamptz)
      LEFT JOIN LATERAL (
        SELECT r.id, ${ROW_BYTES} + octet_length(r.message) + octet_length(r.details::text)
          + coalesce(octet_length(r.payload), 0) AS bytes
        FROM review_entries r WHERE r.tenant_id = e.tenant_id AND r.id = e.id LIMIT 1
      ) known ON true
    ), weighed AS MATERIALIZED (
      SELECT r.*, r.growth = 0 OR coalesce(used.bytes, 0)
        + sum(r.growth) OVER (PARTITION BY r.tenant_id ORDER BY r.id) <= $2::bigint AS fits
      FROM received r
      LEFT JOIN LATERAL (
        SELECT sum(b.bytes) AS bytes FROM review_bytes b WHERE b.tenant_id = r.tenant_id AND b.day = r.day
      ) used ON true
    )`;

const charged = (growth: string): string => `${weighed(growth)}, charged AS (
      INSERT INTO review_bytes AS b (tenant_id, day, backend, bytes)
      SELECT tenant_id, day, pg_backend_pid(), sum(growth) FROM weighed
      WHERE fits AND growth > 0 GROUP BY tenant_id, day
      ON CONFLICT ON CONSTRAINT review_bytes_pkey DO UPDATE SET bytes = b.bytes + excluded.bytes
    )`;

const INSERT_WRITTEN = `INSERT INTO review_entries AS stored (tenant_id, id, severity, stage, reason, message, details, family, source,
      external_event_id, event_type, event_id, payload, payload_form, payload_state, occurrences, first_seen_at,
      last_seen_at, status)
    SELECT w.tenant_id, w.id, w.severity, w.stage, w.reason, w.message, w.details, w.family, w.source,
      w.external_event_id, w.event_type, w.event_id, w.payload, w.payload_form, w.payload_state, w.occurrences, w.seen_at,
      w.seen_at, 'open'`;

/**
 * Writes the entries. Beyond the limit, a stored entry is counted but keeps its texts; an entry that needs its own row
 * (`keeps_row`) gets one without a payload; the others share one row for each day and reason. The id of that row is
 * derived from nothing that a client sent.
 */
const insertEntries = (growth: string): string => `${charged(growth)}, written AS (
      SELECT tenant_id, id, severity, stage, reason, message, details, family, source, external_event_id, event_type,
        event_id, CASE WHEN fits THEN payload END AS payload, payload_form,
        CASE WHEN fits THEN payload_state ELSE 'not_kept' END AS payload_state, occurrences, seen_at
      FROM weighed WHERE fits OR is_known OR keeps_row
      UNION ALL
      SELECT tenant_id, overlay(overlay(left(encode(sha256(convert_to(
          concat_ws('/', 'counted', tenant_id, day, severity, stage, reason, family), 'UTF8')), 'hex'), 32)
          placing '8' from 13) placing '8' from 17)::uuid,
        severity, stage, reason, '${COUNTED_MESSAGE}', '[]', family, NULL, NULL, NULL, NULL, NULL, 'text', 'not_kept',
        sum(occurrences)::int, max(seen_at)
      FROM weighed WHERE NOT (fits OR is_known OR keeps_row)
      GROUP BY tenant_id, day, severity, stage, reason, family
    )
    ${INSERT_WRITTEN}
    FROM written w ORDER BY w.tenant_id, w.id`;

/** Sets a column of a stored entry to the new value, or leaves it if the new one exceeds the limit. */
const ifItFits = (column: string): string =>
  `${column} = CASE WHEN excluded.payload_state = 'not_kept' THEN stored.${column} ELSE excluded.${column} END`;

const COUNT_OCCURRENCES = `ON CONFLICT ON CONSTRAINT review_entries_pkey DO UPDATE SET
      ${['message', 'details', 'event_type', 'payload', 'payload_form', 'payload_state'].map(ifItFits).join(',\n      ')},
      occurrences = stored.occurrences + excluded.occurrences,
      last_seen_at = greatest(stored.last_seen_at, excluded.last_seen_at),
      status = 'open', resolution = NULL, closed_at = NULL`;

/**
 * Inserts entries, or counts further occurrences; a closed entry whose problem occurs again is reopened. `$1`: rows as
 * JSON, sorted by id; `$2`: the limit in bytes of a workspace for a day.
 */
export const RECORD_ENTRIES: Statement = {
  name: 'review_record_entries',
  text: `${insertEntries(GROWTH)}
    ${COUNT_OCCURRENCES}`,
};

/**
 * Inserts entries of problems that are recorded once. Of concurrent writers one inserts; further occurrences do not
 * count.
 */
export const RECORD_ENTRIES_ONCE: Statement = {
  name: 'review_record_entries_once',
  text: `${insertEntries(GROWTH_ONCE)}
    ON CONFLICT ON CONSTRAINT review_entries_pkey DO NOTHING`,
};

/*
 * The same in steps, for one workspace (`recording-of-one.ts`): a distributed database takes no statement that changes two
 * tables. $1 and $2 as above.
 */

export const WEIGH_ENTRIES: Statement = { name: 'review_weigh_entries', text: weighing(GROWTH) };
export const WEIGH_ENTRIES_ONCE: Statement = { name: 'review_weigh_entries_once', text: weighing(GROWTH_ONCE) };

function weighing(growth: string): string {
  return `${weighed(growth)}
    SELECT id, day::text AS day, fits, is_known, growth::int AS growth FROM weighed`;
}

export const CHARGE_BYTES: Statement = {
  name: 'review_charge_bytes',
  text: `
    INSERT INTO review_bytes AS b (tenant_id, day, backend, bytes)
    VALUES ($1::uuid, $2::date, pg_backend_pid(), $3::bigint)
    ON CONFLICT ON CONSTRAINT review_bytes_pkey DO UPDATE SET bytes = b.bytes + excluded.bytes`,
};

const WRITE_WEIGHED = `
    ${INSERT_WRITTEN}
    FROM json_to_recordset($1::json) AS w (tenant_id uuid, id uuid, severity text, stage text, reason text,
      message text, details jsonb, family text, source text, external_event_id text, event_type text, event_id uuid,
      payload text, payload_form text, payload_state text, occurrences int, seen_at timestamptz)
    ORDER BY w.tenant_id, w.id`;

export const WRITE_ENTRIES: Statement = {
  name: 'review_write_entries',
  text: `${WRITE_WEIGHED}
    ${COUNT_OCCURRENCES}`,
};

export const WRITE_ENTRIES_ONCE: Statement = {
  name: 'review_write_entries_once',
  text: `${WRITE_WEIGHED}
    ON CONFLICT ON CONSTRAINT review_entries_pkey DO NOTHING`,
};

/** The open refusals of events, without failures of their processing: receiving an event again does not resolve those. */
export const OPEN_REFUSALS = `FROM review_entries
      WHERE status = 'open' AND severity = 'error' AND event_id IS NOT NULL AND stage <> 'processing'`;

const OPEN_REFUSALS_OF_EVENT = `${OPEN_REFUSALS} AND tenant_id = u.tenant_id AND event_id = u.event_id`;

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

/** As `Date.toISOString` writes it. A distributed database takes it beside columns, because it has none in it. */
const CLOSED_AT = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Closes the open refusals of events that are stored now. An event has one entry for each reason, so that the LIMIT is
 * never reached; it keeps the plan stable.
 */
export const SUPERSEDE_ENTRIES: Statement = {
  name: 'review_supersede_entries',
  text: superseding(
    `jsonb_build_object('action', 'superseded', 'outcome', 'accepted', 'at', ${CLOSED_AT}, 'eventId', e.event_id)`,
  ),
  // Of functions with columns a distributed database takes immutable ones only.
  oneWorkspace: oneWorkspaceForm(
    superseding(
      `('{"action":"superseded","outcome":"accepted","at":"' || ${CLOSED_AT}
        || '","eventId":"' || e.event_id::text || '"}')::jsonb`,
    ),
  ),
};

function superseding(resolution: string): string {
  return `
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
    SET status = 'superseded', closed_at = clock_timestamp(),
      resolution = ${resolution}
    FROM closing c
    WHERE e.tenant_id = c.tenant_id AND e.id = c.id AND e.status = 'open'`;
}

/** Closes entries whose events a replay stored. A replayed or superseded entry stays as it is. */
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
    WHERE e.tenant_id = c.tenant_id AND e.id = c.id AND e.status IN ('open', 'dismissed')`,
};
