import { oneWorkspaceForm } from '../../platform/postgres/one-workspace';
import type { Statement } from '../../platform/postgres/statement';

/** The key of a queue, in a FROM list `u`. */
const IS_QUEUE = `q.tenant_id = u.tenant_id AND q.endpoint_id = u.endpoint_id AND q.profile_id = u.profile_id`;

/**
 * Adds deliveries to their queues, in the order of the arrays; an event that the endpoint has a delivery of is left out.
 * The row of a queue is locked until the transaction ends, so that positions follow each other in the order of the
 * commits. They are microseconds of the database's clock, and never go back while the queue has a row. All queues count
 * from one time by the place in the arrays, so that the events of a merged customer keep their order across queues.
 */
function addDeliveries(name: string, onConflict: string, isChange = false): Statement {
  const text = (tenant: string, isQueue: string): string => `
    WITH u AS MATERIALIZED (
      SELECT a.tenant_id, endpoint_id, profile_id, event_id, number,
        row_number() OVER (PARTITION BY a.tenant_id, endpoint_id, profile_id ORDER BY number) = 1 AS is_first,
        count(*) OVER () AS numbers
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) WITH ORDINALITY
        AS a (tenant_id, endpoint_id, profile_id, event_id, number)
    ), clock AS MATERIALIZED (
      SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
    ), queues AS (
      INSERT INTO webhook_queues AS q (tenant_id, endpoint_id, profile_id, last_seq, done_seq, failures, due_at)
      SELECT ${tenant}, endpoint_id, profile_id, now + numbers, now, 0, clock_timestamp()
      FROM u, clock WHERE is_first
      ORDER BY tenant_id, endpoint_id, profile_id
      ON CONFLICT ON CONSTRAINT webhook_queues_pkey DO UPDATE
        SET last_seq = greatest(q.last_seq, excluded.done_seq) + (excluded.last_seq - excluded.done_seq)
      RETURNING q.tenant_id, q.endpoint_id, q.profile_id, q.last_seq
    )
    INSERT INTO webhook_deliveries AS d
      (tenant_id, event_id, endpoint_id, profile_id, seq, state, attempt_count, attempts, created_at, is_change)
    SELECT ${tenant}, u.event_id, u.endpoint_id, u.profile_id, q.last_seq - u.numbers + u.number, 'pending', 0, '[]',
      clock_timestamp(), ${isChange}
    FROM u JOIN queues q ON ${isQueue}
    ORDER BY u.number
    ON CONFLICT ON CONSTRAINT webhook_deliveries_pkey ${onConflict}`;
  // The coordinator of a distributed database joins these rows, which are of one workspace.
  const ofOne = text('$1::uuid', 'q.endpoint_id = u.endpoint_id AND q.profile_id = u.profile_id');
  return { name, text: text('u.tenant_id', IS_QUEUE), oneWorkspace: oneWorkspaceForm(ofOne) };
}

export const ADD_DELIVERIES = addDeliveries('webhooks_add_deliveries', 'DO NOTHING');

/** The same for changes of values: their ids ($4) and queues ($3). */
export const ADD_CHANGES = addDeliveries('webhooks_add_changes', 'DO NOTHING', true);

/**
 * The same for events that are asked for again; those that are pending keep their place. Returns those that it added.
 * Their attempts stay listed, and count as none when the delivery is about to be given up.
 */
export const ADD_AGAIN = addDeliveries(
  'webhooks_add_again',
  `DO UPDATE
      SET state = 'pending', seq = excluded.seq, reason = NULL, done_at = NULL, first_attempt_at = NULL
      WHERE d.state <> 'pending'
    RETURNING d.event_id AS "eventId"`,
);

/** The columns of a `DueEndpoint`, except its key. */
const ENDPOINT_COLUMNS = `
      e.url, e.unmask, e.secret, e.failing_since AS "failingSince", e.enabled_at AS "enabledAt",
      CASE WHEN e.previous_secret_until > clock_timestamp() THEN e.previous_secret END AS "previousSecret",
      CASE WHEN e.older_secret_until > clock_timestamp() THEN e.older_secret END AS "olderSecret"`;

/**
 * The endpoints behind ($1, $2) that have a queue, at most $3, in the order of their keys. `isDue`: the endpoint is
 * enabled and a queue is due; null: it was deleted.
 */
export const FIND_ENDPOINTS: Statement = {
  name: 'webhooks_find_endpoints',
  text: `
    WITH RECURSIVE found AS (
      (
        SELECT tenant_id, endpoint_id, due_at FROM webhook_queues
        WHERE (tenant_id, endpoint_id) > ($1::uuid, $2::uuid) AND due_at > '-infinity'
        ORDER BY tenant_id, endpoint_id, due_at LIMIT 1
      )
      UNION ALL
      SELECT n.tenant_id, n.endpoint_id, n.due_at
      FROM found f
      CROSS JOIN LATERAL (
        SELECT tenant_id, endpoint_id, due_at FROM webhook_queues
        WHERE (tenant_id, endpoint_id) > (f.tenant_id, f.endpoint_id) AND due_at > '-infinity'
        ORDER BY tenant_id, endpoint_id, due_at LIMIT 1
      ) n
    )
    SELECT f.tenant_id AS "tenantId", f.endpoint_id AS "endpointId", e.enabled AND f.due_at <= clock_timestamp() AS "isDue",
      ${ENDPOINT_COLUMNS}
    FROM (SELECT * FROM found LIMIT $3) f
    LEFT JOIN LATERAL (
      SELECT * FROM webhook_endpoints WHERE tenant_id = f.tenant_id AND id = f.endpoint_id LIMIT 1
    ) e ON true
    ORDER BY 1, 2`,
};

/** Claims the due queues of endpoints that are enabled, up to $3 of each, as $4 for $5 milliseconds. */
export const CLAIM_QUEUES: Statement = {
  name: 'webhooks_claim',
  text: `
    WITH taken AS MATERIALIZED (
      SELECT q.tenant_id, q.endpoint_id, q.profile_id
      FROM unnest($1::uuid[], $2::uuid[], $3::int[]) AS u (tenant_id, endpoint_id, most)
      CROSS JOIN LATERAL (
        SELECT 1 FROM webhook_endpoints WHERE tenant_id = u.tenant_id AND id = u.endpoint_id AND enabled LIMIT 1
      ) e
      CROSS JOIN LATERAL (
        SELECT tenant_id, endpoint_id, profile_id FROM webhook_queues
        WHERE tenant_id = u.tenant_id AND endpoint_id = u.endpoint_id AND due_at > '-infinity'
          AND due_at <= statement_timestamp()
        ORDER BY due_at LIMIT u.most FOR UPDATE SKIP LOCKED
      ) q
    )
    UPDATE webhook_queues q SET claim_id = $4, due_at = clock_timestamp() + $5::int * interval '1 millisecond'
    FROM taken u WHERE ${IS_QUEUE}
    RETURNING q.tenant_id AS "tenantId", q.endpoint_id AS "endpointId", q.profile_id AS "queueId",
      q.done_seq AS "doneSeq", q.failures`,
};

/**
 * Those of these endpoints that are enabled. `isEnabledLater`: the clock was set back since the endpoint was enabled; null: it
 * never was.
 */
export const READ_ENDPOINTS: Statement = {
  name: 'webhooks_read_endpoints',
  text: `
    SELECT e.tenant_id AS "tenantId", e.id AS "endpointId", ${ENDPOINT_COLUMNS},
      e.enabled_at > clock_timestamp() + interval '1 minute' AS "isEnabledLater"
    FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, endpoint_id)
    CROSS JOIN LATERAL (
      SELECT * FROM webhook_endpoints WHERE tenant_id = u.tenant_id AND id = u.endpoint_id AND enabled LIMIT 1
    ) e`,
};

/** The first pending delivery of each queue behind the position $4; missing for a queue without one. */
export const FIRST_DELIVERIES: Statement = {
  name: 'webhooks_first_deliveries',
  text: `
    SELECT u.number, d.event_id AS "eventId", d.seq, d.first_attempt_at AS "firstAttemptAt", d.is_change AS "isChange"
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[]) WITH ORDINALITY
      AS u (tenant_id, endpoint_id, profile_id, done_seq, number)
    CROSS JOIN LATERAL (
      SELECT event_id, seq, first_attempt_at, is_change FROM webhook_deliveries
      WHERE tenant_id = u.tenant_id AND profile_id = u.profile_id AND endpoint_id = u.endpoint_id
        AND seq > u.done_seq AND seq > 0 AND state = 'pending'
      ORDER BY seq LIMIT 1
    ) d`,
};

/** The same for queues that may not exist, with how long until they are due. */
export const FIRST_OF_OTHERS: Statement = {
  name: 'webhooks_first_of_others',
  text: `
    SELECT u.number, d.seq, q.claim_id IS NOT NULL AS "isClaimed",
      greatest(0, extract(epoch FROM q.due_at - clock_timestamp()) * 1000)::float8 AS "untilDueMs"
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS u (tenant_id, endpoint_id, profile_id, number)
    CROSS JOIN LATERAL (
      SELECT done_seq, claim_id, due_at FROM webhook_queues q WHERE ${IS_QUEUE} LIMIT 1
    ) q
    CROSS JOIN LATERAL (
      SELECT seq FROM webhook_deliveries
      WHERE tenant_id = u.tenant_id AND profile_id = u.profile_id AND endpoint_id = u.endpoint_id
        AND seq > q.done_seq AND seq > 0 AND state = 'pending'
      ORDER BY seq LIMIT 1
    ) d`,
};

/**
 * Which of these queues are still claimed as $4; they stay locked until the transaction ends. It waits for none that another
 * transaction has locked: a worker locks those of a customer while it adds many deliveries, and results of all workspaces are
 * stored together.
 */
export const HOLD_CLAIMS: Statement = {
  name: 'webhooks_hold_claims',
  text: claimedQueues('FOR UPDATE SKIP LOCKED'),
};

/** The same without locking them: those that another transaction has locked, too. */
export const FIND_CLAIMS: Statement = { name: 'webhooks_find_claims', text: claimedQueues('') };

function claimedQueues(lock: string): string {
  return `
    SELECT u.number
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) WITH ORDINALITY
      AS u (tenant_id, endpoint_id, profile_id, claim_id, number)
    CROSS JOIN LATERAL (
      SELECT 1 FROM webhook_queues q WHERE ${IS_QUEUE} AND q.claim_id = u.claim_id LIMIT 1 ${lock}
    ) q`;
}

/**
 * Which of these endpoints were enabled, or got another address, since they had $3. None is enabled or moved from now
 * on until the transaction ends, so that its queues are made due afterwards.
 */
export const FIND_ENABLED_SINCE: Statement = {
  name: 'webhooks_find_enabled_since',
  text: `
    SELECT u.number
    FROM unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) WITH ORDINALITY AS u (tenant_id, endpoint_id, enabled_at, number)
    CROSS JOIN LATERAL (
      SELECT enabled_at FROM webhook_endpoints
      WHERE tenant_id = u.tenant_id AND id = u.endpoint_id LIMIT 1 FOR KEY SHARE
    ) e
    WHERE e.enabled_at IS DISTINCT FROM u.enabled_at`,
};

/** Stores attempts ($5, null: there was none) and the new states of deliveries. The last 20 attempts are kept. */
export const RECORD_ATTEMPTS: Statement = {
  name: 'webhooks_record_attempts',
  text: `
    UPDATE webhook_deliveries d SET
      state = u.state, reason = u.reason,
      attempt_count = d.attempt_count + CASE WHEN u.attempt IS NULL THEN 0 ELSE 1 END,
      attempts = CASE
        WHEN u.attempt IS NULL THEN d.attempts
        WHEN jsonb_array_length(d.attempts) >= 20 THEN (d.attempts - 0) || u.attempt
        ELSE d.attempts || u.attempt
      END,
      first_attempt_at = CASE WHEN u.is_first THEN u.now ELSE coalesce(d.first_attempt_at, u.now) END,
      done_at = CASE WHEN u.state = 'pending' THEN NULL ELSE u.now END
    FROM (
      SELECT a.tenant_id, a.endpoint_id, a.event_id, a.state, a.attempt::jsonb AS attempt, a.reason, a.is_first,
        clock_timestamp() AS now
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::boolean[])
        AS a (tenant_id, endpoint_id, event_id, state, attempt, reason, is_first) OFFSET 0
    ) u
    WHERE d.tenant_id = u.tenant_id AND d.event_id = u.event_id AND d.endpoint_id = u.endpoint_id`,
};

/**
 * Ends claims: what is done ($4), failures at the next delivery ($5), and its delay in milliseconds ($6). Returns the
 * endpoints of queues that are due at once.
 */
export const RELEASE_QUEUES: Statement = {
  name: 'webhooks_release',
  text: `
    UPDATE webhook_queues q SET
      done_seq = greatest(q.done_seq, u.done_seq), failures = u.failures, claim_id = NULL,
      due_at = u.due_at
    FROM (
      SELECT *, clock_timestamp() + delay_ms * interval '1 millisecond' AS due_at
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::int[], $6::bigint[])
        AS a (tenant_id, endpoint_id, profile_id, done_seq, failures, delay_ms) OFFSET 0
    ) u
    WHERE ${IS_QUEUE}
    RETURNING CASE WHEN u.delay_ms = 0 THEN q.endpoint_id END AS "endpointId", q.tenant_id AS "tenantId"`,
};

/** Removes those of these queues that have no pending delivery behind $4. Their rows are locked by this transaction. */
export const REMOVE_EMPTY: Statement = {
  name: 'webhooks_remove_empty',
  text: `
    DELETE FROM webhook_queues q USING (
      SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[])
        AS a (tenant_id, endpoint_id, profile_id, done_seq) OFFSET 0
    ) u
    WHERE ${IS_QUEUE} AND NOT EXISTS (
      SELECT FROM webhook_deliveries d
      WHERE d.tenant_id = q.tenant_id AND d.profile_id = q.profile_id AND d.endpoint_id = q.endpoint_id
        AND d.seq > greatest(q.done_seq, u.done_seq) AND d.seq > 0 AND d.state = 'pending'
    )`,
};

/** Makes queues due that waited for an earlier delivery of their customer. Returns their endpoints. */
export const WAKE_QUEUES: Statement = {
  name: 'webhooks_wake',
  text: `
    UPDATE webhook_queues q SET due_at = clock_timestamp()
    FROM (
      SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS a (tenant_id, endpoint_id, profile_id) OFFSET 0
    ) u
    WHERE ${IS_QUEUE} AND q.claim_id IS NULL AND q.failures = 0 AND q.due_at > clock_timestamp()
    RETURNING q.tenant_id AS "tenantId", q.endpoint_id AS "endpointId"`,
};

/**
 * Makes queues of profiles ($2) due that waited for an earlier delivery of another profile. Returns their endpoints. It
 * waits for a claim of them that is about to end, and locks in the order of their keys as others do.
 */
export const WAKE_PROFILES = `
  UPDATE webhook_queues q SET due_at = statement_timestamp()
  FROM (
    SELECT endpoint_id, profile_id FROM webhook_queues
    WHERE tenant_id = $1 AND endpoint_id IN (SELECT id FROM webhook_endpoints WHERE tenant_id = $1)
      AND profile_id = ANY($2)
    ORDER BY endpoint_id, profile_id FOR UPDATE
  ) u
  WHERE q.tenant_id = $1 AND q.endpoint_id = u.endpoint_id AND q.profile_id = u.profile_id
    AND q.claim_id IS NULL AND q.failures = 0 AND q.due_at > statement_timestamp()
  RETURNING q.tenant_id AS "tenantId", q.endpoint_id AS "endpointId"`;

/** Records whether endpoints took anything ($3). Writes only what changes. */
export const RECORD_HEALTH: Statement = {
  name: 'webhooks_record_health',
  text: `
    UPDATE webhook_endpoints e SET failing_since = u.failing_since
    FROM (
      SELECT *, CASE WHEN works THEN NULL ELSE now() END AS failing_since
      FROM unnest($1::uuid[], $2::uuid[], $3::boolean[]) AS a (tenant_id, id, works) OFFSET 0
    ) u
    WHERE e.tenant_id = u.tenant_id AND e.id = u.id
      AND CASE WHEN u.works THEN e.failing_since IS NOT NULL
        ELSE e.failing_since IS NULL OR e.failing_since > u.failing_since END`,
};

/**
 * Disables endpoints that answered 410 ($3), unless the call was made before they got another address than $5 or were enabled
 * since $6, and those that took nothing for $4 days. Returns those that it disables.
 */
export const DISABLE_ENDPOINTS: Statement = {
  name: 'webhooks_disable',
  text: `
    UPDATE webhook_endpoints e SET
      enabled = false, disabled_reason = CASE WHEN u.gone THEN 'gone' ELSE 'failing' END,
      disabled_at = clock_timestamp(), updated_at = clock_timestamp()
    FROM (
      SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::boolean[], $5::text[], $6::timestamptz[])
        AS a (tenant_id, id, gone, url, enabled_at) OFFSET 0
    ) u
    WHERE e.tenant_id = u.tenant_id AND e.id = u.id AND e.enabled
      AND (u.gone AND e.url = u.url AND e.enabled_at IS NOT DISTINCT FROM u.enabled_at OR e.failing_since < clock_timestamp() - $4::int * interval '1 day')
    RETURNING e.tenant_id AS "tenantId", e.id AS "endpointId", e.disabled_reason AS reason`,
};
