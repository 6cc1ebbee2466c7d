import type { Statement } from '../platform/postgres/pipelined-connection';
import { EVENTS_IN_WINDOW } from './domain/events-in-window';

/* Times go as text, which keeps microseconds. */

/** The concerned events of the window, $9 at most, and the last event of a full window. */
export const READ_WINDOW: Statement = {
  name: 'window_read',
  text: `
    SELECT event_id, received_at::text AS received_at, occurred_at::text AS occurred_at, concerned,
      queue_bundle_id IS NOT NULL AS is_bundled, number = $6 AS is_end
    FROM (
      SELECT *, row_number() OVER (ORDER BY received_at, occurred_at, event_id) AS number FROM (${EVENTS_IN_WINDOW}) e
    ) numbered
    WHERE concerned OR number = $6 ORDER BY number LIMIT $9`,
};

/** The last event of the window, how many it has, and how many concerned ones came before $9. */
export const COUNT_WINDOW: Statement = {
  name: 'window_count',
  text: `
    WITH looked_at AS MATERIALIZED (${EVENTS_IN_WINDOW})
    SELECT event_id, received_at::text AS received_at, occurred_at::text AS occurred_at,
      (SELECT count(*)::int FROM looked_at) AS looked,
      (SELECT count(*)::int FROM looked_at WHERE concerned AND received_at < $9::timestamptz) AS concerned
    FROM looked_at ORDER BY received_at DESC, occurred_at DESC, event_id DESC LIMIT 1`,
};

/**
 * Whether every transaction that may have stored or processed something before $1 has ended. One that has written
 * nothing for half a minute is a backup or the like.
 */
export const IS_SETTLED: Statement = {
  name: 'window_is_settled',
  text: `
    SELECT NOT EXISTS (
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start <= $1::timestamptz
        AND (backend_xid IS NOT NULL OR xact_start > clock_timestamp() - interval '30 seconds')
    ) AS is_settled`,
};
