import { replacing } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/statement';

/*
 * What counts the log: it adds events and changes to `ingest_statistics`. `read-statistics.sql.ts` adds up the same parts.
 */

const IS_LATE = `occurred_at < received_at - interval '24 hours'`;
const IS_CLOCK_SKEWED = `occurred_at > received_at + interval '24 hours'`;
/** Steps begin at full minutes, hours and days in UTC. */
export const stepOf = (length: string, time: string): string => `date_bin(${length}, ${time}, '2000-01-01T00:00:00Z')`;

const FROM_LOG = ['accepted', 'late', 'clock_skewed'] as const;
const COUNTS = [...FROM_LOG, 'duplicate', 'refused'] as const;
/** A list with an entry for each count; `ofLog` for those of accepted events. */
export function listCounts(form: (count: string) => string, ofLog = form): string {
  return COUNTS.map((count) => (FROM_LOG.some((each) => each === count) ? ofLog(count) : form(count))).join(', ');
}
export const LOG_COUNTS = `count(*) AS accepted, count(*) FILTER (WHERE ${IS_LATE}) AS late,
        count(*) FILTER (WHERE ${IS_CLOCK_SKEWED}) AS clock_skewed, 0::bigint AS duplicate, 0::bigint AS refused`;

const INSERT_CHANGES = `
    INSERT INTO ingest_statistics_changes (tenant_id, at, id, family, source, event_type, ${COUNTS.join(', ')})`;

/**
 * Adds the replayed events of this transaction, by workspaces $1 and ids $2: they are stored under an earlier time of receipt,
 * which may be counted already.
 */
export const COUNT_REPLAYED: Statement = {
  name: 'statistics_count_replayed',
  text: `${INSERT_CHANGES}
    SELECT u.tenant_id, e.received_at, u.event_id, e.family, e.source, e.event_type, 1, e.late, e.clock_skewed, 0, 0
    FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, event_id)
    CROSS JOIN LATERAL (
      SELECT received_at, family, source, event_type, (${IS_LATE})::int AS late, (${IS_CLOCK_SKEWED})::int AS clock_skewed
      FROM events WHERE tenant_id = u.tenant_id AND event_id = u.event_id LIMIT 1
    ) e`,
  oneWorkspace: {
    text: `${INSERT_CHANGES}
    SELECT tenant_id, received_at, event_id, family, source, event_type, 1, (${IS_LATE})::int, (${IS_CLOCK_SKEWED})::int, 0, 0
    FROM events WHERE tenant_id = $1::uuid AND event_id = ANY ($2::uuid[])`,
    values: replacing(0),
  },
};

/** The id of the transaction that this is sent in. */
export const READ_TRANSACTION = `SELECT pg_current_xact_id()::text AS id`;

/** What became of the transaction $1: `committed`, `aborted` or `in progress`; null: it is too long ago. */
export const READ_TRANSACTION_STATE = `SELECT pg_xact_status($1::xid8) AS state`;

/** Adds duplicates and refusals of the time $2. Sent again with the same ids, it adds nothing. */
export const ADD_OUTCOMES = `${INSERT_CHANGES}
    SELECT u.tenant_id, $2::timestamptz, u.id, u.family, u.source, u.event_type, 0, 0, 0, u.duplicate, u.refused
    FROM unnest($1::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::int[], $8::int[])
      AS u (tenant_id, id, family, source, event_type, duplicate, refused)
    ON CONFLICT ON CONSTRAINT ingest_statistics_changes_pkey DO NOTHING`;

/** Begins to count the events of workspaces that are new. */
export const ADD_WORKSPACES = `
    INSERT INTO ingest_statistics_progress (tenant_id, counted_until)
    SELECT tenant_id, '-infinity' FROM workspaces ORDER BY tenant_id
    ON CONFLICT ON CONSTRAINT ingest_statistics_progress_pkey DO NOTHING`;

/** The time $1 milliseconds ago. */
export const TIME_AGO = `
    SELECT date_trunc('milliseconds', clock_timestamp() - $1 * interval '1 millisecond')::text AS at`;

/** The next workspaces behind $1 that have something to count before $2, $3 of them at most. */
export const WORKSPACES_TO_COUNT = `
    SELECT p.tenant_id FROM ingest_statistics_progress p
    WHERE p.tenant_id > $1 AND (
      EXISTS (
        SELECT FROM events WHERE tenant_id = p.tenant_id AND received_at >= p.counted_until
          AND received_at < $2::timestamptz AND received_at > '-infinity'
      )
      OR EXISTS (SELECT FROM ingest_statistics_changes WHERE tenant_id = p.tenant_id AND at < $2::timestamptz)
      OR p.counted_until > clock_timestamp()
    )
    ORDER BY p.tenant_id LIMIT $3`;

/** A row if the log of a workspace is counted up to $2. */
export const FIND_COUNTED = `
    SELECT 1 FROM ingest_statistics_progress WHERE tenant_id = $1 AND counted_until >= $2::timestamptz`;

/** Workspaces whose log is counted. */
export const FIND_WORKSPACES = `
    SELECT tenant_id FROM ingest_statistics_progress ORDER BY tenant_id`;

/** Locks the progress of the workspace $1, and says whether it is counted beyond $2: by a piece that was waited for, too. */
export const HOLD_PROGRESS = `
    SELECT counted_until > $2::timestamptz AS "isBeyond" FROM ingest_statistics_progress WHERE tenant_id = $1 FOR UPDATE`;

/**
 * Locks the progress of a workspace, so that one process counts it; without a row another one does. `isAhead`: the database's
 * clock was set back behind what is counted; `isTooLate`: behind $2, which was read before.
 */
export const LOCK_PROGRESS = `
    SELECT counted_until::text AS "countedUntil", counted_until > clock_timestamp() AS "isAhead",
      counted_until >= $2::timestamptz AS "isDone", $2::timestamptz > clock_timestamp() AS "isTooLate"
    FROM ingest_statistics_progress WHERE tenant_id = $1 FOR UPDATE SKIP LOCKED`;

/** Where a piece ends that begins at $2: at $3 at the latest, behind $4 events or $5 changes, and a millisecond on at least. */
export const FIND_PIECE = `
    SELECT least($3::timestamptz, greatest($2::timestamptz + interval '1 millisecond', least(
      (SELECT received_at FROM events
       WHERE tenant_id = $1 AND received_at >= $2::timestamptz AND received_at < $3::timestamptz AND received_at > '-infinity'
       ORDER BY received_at OFFSET $4 LIMIT 1),
      (SELECT at FROM ingest_statistics_changes
       WHERE tenant_id = $1 AND at >= $2::timestamptz AND at < $3::timestamptz ORDER BY at OFFSET $5 LIMIT 1),
      $3::timestamptz
    )))::text AS "until"`;

/**
 * Adds the events of the log that were received from $2 on and before $3, and the changes before $3, to minutes, hours and days:
 * of the changes before $2 at most $4. A change between the two is of an event that the log has. Answers the events by family.
 */
export const COUNT_PIECE = `
    WITH counted AS (
      SELECT ${stepOf(`interval '1 minute'`, 'received_at')} AS minute, family, source, event_type, ${LOG_COUNTS}
      FROM events
      WHERE tenant_id = $1 AND received_at >= $2::timestamptz AND received_at < $3::timestamptz AND received_at > '-infinity'
      GROUP BY 1, 2, 3, 4
    ), chosen AS MATERIALIZED (
      (SELECT at, id FROM ingest_statistics_changes WHERE tenant_id = $1 AND at < $2::timestamptz ORDER BY at, id LIMIT $4)
      UNION ALL
      SELECT at, id FROM ingest_statistics_changes
      WHERE tenant_id = $1 AND at >= $2::timestamptz AND at < $3::timestamptz
    ), taken AS (
      DELETE FROM ingest_statistics_changes c USING chosen
      WHERE c.tenant_id = $1 AND c.at = chosen.at AND c.id = chosen.id
      RETURNING c.*
    ), parts AS (
      SELECT * FROM counted
      UNION ALL
      SELECT ${stepOf(`interval '1 minute'`, 'at')}, family, source, event_type,
        ${listCounts(
          (count) => count,
          (count) => `CASE WHEN at < $2::timestamptz THEN ${count} ELSE 0 END`,
        )}
      FROM taken
    ), added AS (
      INSERT INTO ingest_statistics AS s (tenant_id, step, at, family, source, event_type, ${COUNTS.join(', ')})
      SELECT $1, l.step, ${stepOf('l.length', 'minute')} AS at, family, source, event_type,
        ${listCounts((count) => `sum(${count})`)}
      FROM parts
      CROSS JOIN (
        VALUES ('minute', interval '1 minute'), ('hour', interval '1 hour'), ('day', interval '1 day')
      ) AS l (step, length)
      GROUP BY l.step, ${stepOf('l.length', 'minute')}, family, source, event_type
      HAVING sum(accepted + duplicate + refused) > 0
      ON CONFLICT ON CONSTRAINT ingest_statistics_pkey DO UPDATE
      SET ${listCounts((count) => `${count} = s.${count} + excluded.${count}`)}
    ), moved AS (
      UPDATE ingest_statistics_progress SET counted_until = $3::timestamptz WHERE tenant_id = $1
    )
    SELECT family, sum(accepted)::int AS accepted, sum(late)::int AS late, sum(clock_skewed)::int AS "clockSkewed",
      (SELECT count(*) FROM taken WHERE at < $2::timestamptz)::int AS changes
    FROM parts GROUP BY family`;

/**
 * Takes back what was counted from the log from $2, a full minute, on; it will be counted again. Duplicates and refusals stay.
 */
export const UNCOUNT = `
    WITH minutes AS MATERIALIZED (
      SELECT at, family, source, event_type, accepted, late, clock_skewed FROM ingest_statistics
      WHERE tenant_id = $1 AND step = 'minute' AND at >= $2::timestamptz
    ), less AS (
      SELECT l.step, ${stepOf('l.length', 'at')} AS at, family, source, event_type, sum(accepted) AS accepted,
        sum(late) AS late, sum(clock_skewed) AS clock_skewed
      FROM minutes
      CROSS JOIN (
        VALUES ('minute', interval '1 minute'), ('hour', interval '1 hour'), ('day', interval '1 day')
      ) AS l (step, length)
      GROUP BY l.step, ${stepOf('l.length', 'at')}, family, source, event_type
    ), subtracted AS (
      UPDATE ingest_statistics s
      SET accepted = s.accepted - less.accepted, late = s.late - less.late,
        clock_skewed = s.clock_skewed - less.clock_skewed
      FROM less
      WHERE s.tenant_id = $1 AND s.step = less.step AND s.at = less.at AND s.family = less.family
        AND s.source = less.source AND s.event_type = less.event_type
    )
    UPDATE ingest_statistics_progress SET counted_until = $2::timestamptz WHERE tenant_id = $1`;
