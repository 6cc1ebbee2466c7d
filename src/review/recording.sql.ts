import type { Statement } from '../platform/postgres/statement';
import { ROW_BYTES } from './domain/review-entry';

/** The columns of an entry that is written. `seen_at` becomes the first and the last time at which it was seen. */
export const WRITTEN_COLUMNS = {
  tenant_id: 'uuid',
  id: 'uuid',
  severity: 'text',
  stage: 'text',
  reason: 'text',
  message: 'text',
  details: 'jsonb',
  family: 'text',
  source: 'text',
  external_event_id: 'text',
  event_type: 'text',
  event_id: 'uuid',
  payload: 'text',
  payload_form: 'text',
  payload_state: 'text',
  occurrences: 'int',
  seen_at: 'timestamptz',
} as const;

const NAMES = Object.keys(WRITTEN_COLUMNS);
const TYPED = Object.entries(WRITTEN_COLUMNS).map(([name, type]) => `${name} ${type}`);
/** Those that are stored under their own names. */
const STORED = NAMES.filter((name) => name !== 'seen_at');

/** What a row of `weighEntries` says of an entry: by how many bytes it grows, and whether these fit the limit of the day. */
export interface EntryWeight {
  readonly id: string;
  /** By the database's clock, UTC. */
  readonly day: string;
  readonly is_known: boolean;
  readonly growth: number;
  readonly fits: boolean;
}

/**
 * Weighs entries ($1 to $3: workspace, id, bytes) against the limit of their workspace for the day ($4, bytes). Bytes that
 * other connections have not committed are not counted, so that no connection waits for another; the limit may be exceeded
 * by these.
 */
function weighEntries(name: string, growth: string): Statement {
  return {
    name,
    text: `
    WITH received AS MATERIALIZED (
      SELECT u.tenant_id, u.id, (clock_timestamp() AT TIME ZONE 'UTC')::date AS day, known.id IS NOT NULL AS is_known,
        ${growth} AS growth
      FROM unnest($1::uuid[], $2::uuid[], $3::int[]) AS u (tenant_id, id, bytes)
      LEFT JOIN LATERAL (
        SELECT r.id, ${ROW_BYTES} + octet_length(r.message) + octet_length(r.details::text)
          + coalesce(octet_length(r.payload), 0) AS bytes
        FROM review_entries r WHERE r.tenant_id = u.tenant_id AND r.id = u.id LIMIT 1
      ) known ON true
    )
    SELECT r.id, r.day::text AS day, r.is_known, r.growth::int AS growth, r.growth = 0 OR coalesce(used.bytes, 0)
      + sum(r.growth) OVER (PARTITION BY r.tenant_id ORDER BY r.id) <= $4::bigint AS fits
    FROM received r
    LEFT JOIN LATERAL (
      SELECT sum(b.bytes) AS bytes FROM review_bytes b WHERE b.tenant_id = r.tenant_id AND b.day = r.day
    ) used ON true`,
  };
}

export const WEIGH_ENTRIES = weighEntries('review_weigh_entries', 'greatest(0, u.bytes - coalesce(known.bytes, 0))');

/** Of entries that are written once: a stored one does not grow. */
export const WEIGH_ENTRIES_ONCE = weighEntries(
  'review_weigh_entries_once',
  'CASE WHEN known.id IS NULL THEN u.bytes ELSE 0 END',
);

/** Adds bytes to what this connection has written for each workspace and day. */
export const CHARGE_BYTES: Statement = {
  name: 'review_charge_bytes',
  text: `
    INSERT INTO review_bytes AS b (tenant_id, day, backend, bytes)
    SELECT u.tenant_id, u.day, pg_backend_pid(), u.bytes
    FROM unnest($1::uuid[], $2::date[], $3::bigint[]) AS u (tenant_id, day, bytes)
    ON CONFLICT ON CONSTRAINT review_bytes_pkey DO UPDATE SET bytes = b.bytes + excluded.bytes`,
};

/** $1: rows of `WRITTEN_COLUMNS` as JSON. */
const INSERT_ENTRIES = `
    INSERT INTO review_entries AS stored (${STORED.join(', ')}, first_seen_at, last_seen_at, status)
    SELECT ${STORED.map((name) => `w.${name}`).join(', ')}, w.seen_at, w.seen_at, 'open'
    FROM json_to_recordset($1::json) AS w (${TYPED.join(', ')})
    ORDER BY w.tenant_id, w.id
    ON CONFLICT ON CONSTRAINT review_entries_pkey`;

/**
 * Sets a column of a stored entry to the new value, or leaves it if the new one exceeds the limit. A failure of processing
 * has no payload, and its event is replayed in another way than a refused one.
 */
const ifItFits = (column: string): string => `${column} = CASE
        WHEN excluded.payload_state = 'not_kept' AND excluded.stage <> 'processing' THEN stored.${column}
        ELSE excluded.${column}
      END`;

/** What the last occurrence says. The stage and the family may differ from those of the ones before it. */
const OF_LAST_OCCURRENCE = [
  ...['stage', 'message', 'details', 'family', 'event_type'],
  ...['payload', 'payload_form', 'payload_state'],
];

/** Inserts entries, or counts further occurrences; a closed entry whose problem occurs again is reopened. */
export const WRITE_ENTRIES: Statement = {
  name: 'review_write_entries',
  text: `${INSERT_ENTRIES} DO UPDATE SET
      ${OF_LAST_OCCURRENCE.map(ifItFits).join(',\n      ')},
      occurrences = stored.occurrences + excluded.occurrences,
      last_seen_at = greatest(stored.last_seen_at, excluded.last_seen_at),
      status = 'open', resolution = NULL, closed_at = NULL`,
};

/** Inserts entries of problems that are recorded once: of concurrent writers one inserts, and further ones do not count. */
export const WRITE_ENTRIES_ONCE: Statement = {
  name: 'review_write_entries_once',
  text: `${INSERT_ENTRIES} DO NOTHING`,
};
