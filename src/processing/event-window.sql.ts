import type { Statement } from '../platform/postgres/statement';
import { onEachNode } from '../platform/postgres/distribution/each-node';
import { EVENTS_IN_WINDOW } from './events-in-window';

/* Times go as text, which keeps microseconds. Lists are ordered by the times, not by the texts of the same name. */

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
    FROM looked_at l ORDER BY l.received_at DESC, l.occurred_at DESC, l.event_id DESC LIMIT 1`,
};

/** A transaction that seems to begin over a second later than now is from before the clock was set back. */
const noneOpenSince = (time: string): string => `
    SELECT NOT EXISTS (
      SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND (xact_start <= ${time} OR xact_start > clock_timestamp() + interval '1 second')
        AND (backend_xid IS NOT NULL OR xact_start BETWEEN clock_timestamp() - interval '30 seconds' AND clock_timestamp())
    )`;

/** Nodes may differ by some seconds, and so little is waited for. */
const IS_AHEAD = `$1::timestamptz > clock_timestamp() + interval '10 seconds' AS is_ahead`;

/**
 * Now, and the last time of receipt in the workspace $1 that is later, from when the clock was ahead; read by the index, into
 * the future only, where nearly always nothing is.
 */
export const READ_RECEIPT_END = `
  SELECT statement_timestamp() AS now, max(received_at) AS ahead FROM events
  WHERE tenant_id = $1::uuid AND received_at > '-infinity' AND received_at > statement_timestamp()`;

/**
 * Whether every transaction that may have stored or processed something before $1 has ended. One that has written
 * nothing for half a minute is a backup or the like. `is_ahead`: the clock was set back since.
 */
export const IS_SETTLED: Statement = {
  name: 'window_is_settled',
  text: `${noneOpenSince('$1::timestamptz')} AS is_settled, ${IS_AHEAD}`,
};

/** The same for a distributed database, where clocks of nodes may differ a little. */
export const IS_SETTLED_ON_NODES: Statement = {
  name: 'window_is_settled_on_nodes',
  text: `
    SELECT bool_and(success AND result = 't') AS is_settled, ${IS_AHEAD}
    FROM ${onEachNode(noneOpenSince('%L'), `$1::timestamptz + interval '5 seconds'`)}`,
};
