import { UNFINISHED_LIST } from '../../platform/jobs/work-states';
import type { Statement } from '../../platform/postgres/statement';

/* Times go as text, which keeps microseconds. */

/** A replay and its endpoint; missing after the endpoint was deleted. */
export const LOCK_REPLAY: Statement = {
  name: 'webhook_replay_lock',
  text: `
    SELECT r.rules_hash AS "rulesHash", r.state, r.phase, r.attempts, r.total, r.scanned, r.queued,
      r.already_queued AS "alreadyQueued", r.skipped, r.failed, r.expired,
      r.received_from::text AS "receivedFrom", r.received_to::text AS "receivedTo",
      r.started_at::text AS "startedAt", r.cursor_received_at::text AS "cursorReceivedAt",
      r.cursor_occurred_at::text AS "cursorOccurredAt", r.cursor_event_id AS "cursorEventId", e.enabled AS "isEnabled"
    FROM (
      SELECT * FROM webhook_replays
      WHERE tenant_id = $1::uuid AND endpoint_id = $2::uuid AND id = $3::uuid LIMIT 1 FOR UPDATE
    ) r
    CROSS JOIN LATERAL (
      SELECT enabled FROM webhook_endpoints WHERE tenant_id = $1::uuid AND id = $2::uuid LIMIT 1
    ) e`,
};

/** The rules of an endpoint for events, in their order. */
export const READ_RULES_OF_ENDPOINT: Statement = {
  name: 'webhook_replay_rules',
  text: `
    SELECT event_type AS "eventType", source, condition FROM webhook_rules
    WHERE tenant_id = $1::uuid AND endpoint_id = $2::uuid AND event_type IS NOT NULL ORDER BY position`,
};

/** By the database's clock, after the request was committed; again where that was set back during the survey. */
export const START_REPLAY: Statement = {
  name: 'webhook_replay_start',
  text: `
    UPDATE webhook_replays SET state = 'running', started_at = clock_timestamp(), total = 0,
      cursor_received_at = received_from, cursor_occurred_at = '-infinity'
    WHERE tenant_id = $1::uuid AND endpoint_id = $2::uuid AND id = $3::uuid`,
};

/** How many deliveries of an endpoint wait, counted up to $3. */
export const COUNT_PENDING: Statement = {
  name: 'webhook_replay_pending',
  text: `
    SELECT count(*)::int AS pending FROM (
      SELECT FROM webhook_deliveries
      WHERE tenant_id = $1::uuid AND endpoint_id = $2::uuid AND state = 'pending' AND created_at > '-infinity'
      LIMIT $3
    ) d`,
};

/** The progress after a step. */
export const SAVE_REPLAY: Statement = {
  name: 'webhook_replay_save',
  text: `
    UPDATE webhook_replays SET phase = $4, attempts = $5::int, total = $6::int, scanned = $7::int, queued = $8::int,
      already_queued = $9::int, skipped = $10::int, failed = $11::int, expired = $12::int,
      cursor_received_at = $13::timestamptz, cursor_occurred_at = $14::timestamptz, cursor_event_id = $15::uuid
    WHERE tenant_id = $1::uuid AND endpoint_id = $2::uuid AND id = $3::uuid`,
};

/** Ends a replay that is not over yet. */
export const END_REPLAY: Statement = {
  name: 'webhook_replay_end',
  text: `
    UPDATE webhook_replays SET state = $4, reason = $5, finished_at = clock_timestamp()
    WHERE tenant_id = $1::uuid AND endpoint_id = $2::uuid AND id = $3::uuid AND state IN ${UNFINISHED_LIST}`,
};
