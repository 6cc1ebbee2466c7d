import { OTHER_NAME } from './domain/group-names';
import { listCounts, LOG_COUNTS, stepOf } from './statistics.sql';

/** Stands for what `readStatisticsBy` reads the name of a group from. */
const GROUP = 'GROUP_COLUMN';

/**
 * The counts of a workspace ($1) in steps of $2, as one snapshot. Added up are rows of steps, from $4 on and before $5, each whole
 * or in part ($6); the log in parts of minutes, from $7 on and before $8, and in the whole minutes from $9 on and before $10 as
 * far as they are not counted yet; and the changes of the minutes from $11 on and before $12.
 *
 * The first row has the names of the $13 groups with the most events, as JSON, the others a step each: its groups as
 * `place accepted duplicate refused late clock_skewed`, between semicolons; the place behind the last name is that of the rest.
 */
const READ_STATISTICS = `
    WITH progress AS MATERIALIZED (
      SELECT coalesce(
        (SELECT counted_until FROM ingest_statistics_progress WHERE tenant_id = $1), '-infinity'
      ) AS counted_until
    ), log_parts AS (
      SELECT starts_at, ends_at FROM unnest($7::timestamptz[], $8::timestamptz[]) AS edge (starts_at, ends_at)
      UNION ALL
      SELECT greatest($9::timestamptz, counted_until), $10::timestamptz FROM progress
    ), parts AS MATERIALIZED (
      SELECT ${stepOf('$2::interval', 's.at')} AS at, ${GROUP} AS name,
        ${listCounts(
          (count) => count,
          (count) => `CASE WHEN r.is_whole THEN ${count} ELSE 0 END AS ${count}`,
        )}
      FROM unnest($3::text[], $4::timestamptz[], $5::timestamptz[], $6::boolean[]) AS r (step, starts_at, ends_at, is_whole)
      CROSS JOIN LATERAL (
        SELECT * FROM ingest_statistics
        WHERE tenant_id = $1 AND step = r.step AND at >= r.starts_at AND at < r.ends_at
        OFFSET 0 -- reads each range by its key; a join with the ranges would read all rows of the workspace
      ) s
      UNION ALL
      SELECT e.* FROM log_parts r
      CROSS JOIN LATERAL (
        SELECT ${stepOf('$2::interval', 'received_at')} AS at, ${GROUP} AS name, ${LOG_COUNTS}
        FROM events
        WHERE tenant_id = $1 AND received_at >= r.starts_at AND received_at < r.ends_at AND received_at > '-infinity'
        GROUP BY 1, 2
      ) e
      UNION ALL
      SELECT ${stepOf('$2::interval', 'c.at')}, ${GROUP},
        ${listCounts(
          (count) => count,
          (count) => `CASE WHEN is_counted THEN ${count} ELSE 0 END`,
        )}
      FROM progress p
      CROSS JOIN LATERAL (
        SELECT *, at < p.counted_until AND at >= $9::timestamptz AND at < $10::timestamptz AS is_counted
        FROM ingest_statistics_changes
        WHERE tenant_id = $1 AND at >= $11::timestamptz AND at < $12::timestamptz
      ) c
    ), places AS (
      SELECT name, row_number() OVER (ORDER BY sum(accepted + duplicate + refused) DESC, name COLLATE "C") AS place
      FROM parts WHERE name <> '${OTHER_NAME}' AND accepted + duplicate + refused > 0
      GROUP BY name ORDER BY place LIMIT $13::int
    ), place_of AS (
      -- Looked up by name. A join would be planned for one row, as nothing is known of how many there will be.
      SELECT coalesce(jsonb_object_agg(name, place), '{}') AS names FROM places
    ), items AS (
      SELECT at, coalesce(((SELECT names FROM place_of) -> name)::int, $13::int + 1) AS place,
        ${listCounts((count) => `sum(${count})::bigint AS ${count}`)}
      FROM parts WHERE accepted + duplicate + refused > 0 GROUP BY 1, 2
    )
    SELECT NULL::timestamptz AS at, (SELECT coalesce(json_agg(name ORDER BY place), '[]') FROM places)::text AS text
    UNION ALL
    SELECT at, string_agg(concat_ws(' ', place, accepted, duplicate, refused, late, clock_skewed), ';' ORDER BY place)
    FROM items GROUP BY at
    ORDER BY at NULLS FIRST`;

/** The statement for groups by this column, or for one group of all events. */
export function readStatisticsBy(column: 'family' | 'source' | 'event_type' | "''::text"): string {
  return READ_STATISTICS.replaceAll(GROUP, column);
}
