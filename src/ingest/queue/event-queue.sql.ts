import type { Statement } from '../../platform/postgres/statement';
import { textOfTime } from '../../platform/postgres/time-text';
import { loggedColumns } from '../store/event-columns';

const TEXT_OF_QUEUED_AT = `${textOfTime('q.queued_at')} AS queued_at`;

const EVENT = loggedColumns('e');

/** The partitions that have entries, behind a given one: one probe of the key's index each, however long the queue is. */
export const FIND_PARTITIONS: Statement = {
  name: 'queue_find_partitions',
  text: `
    WITH RECURSIVE partitions AS (
      (SELECT tenant_id, shard, 1 AS number FROM event_queue WHERE (tenant_id, shard) > ($1::uuid, $2::smallint)
       ORDER BY tenant_id, shard LIMIT 1)
      UNION ALL
      SELECT next.tenant_id, next.shard, p.number + 1
      FROM partitions p CROSS JOIN LATERAL (
        SELECT tenant_id, shard FROM event_queue WHERE (tenant_id, shard) > (p.tenant_id, p.shard)
        ORDER BY tenant_id, shard LIMIT 1
      ) next
      WHERE p.number < $3
    )
    SELECT tenant_id, shard FROM partitions`,
};

/** The next entries of a partition with their events, in the order of arrival, without those for the profiles $7. */
export const READ_ENTRIES: Statement = {
  name: 'queue_read_entries',
  text: `
    SELECT ${TEXT_OF_QUEUED_AT}, q.position, q.queued_for, ${EVENT}
    FROM (
      SELECT queued_at, position, event_id, profile_id AS queued_for FROM event_queue
      WHERE tenant_id = $1::uuid AND shard = $2::smallint
        AND (queued_at, position, event_id) > ($3::timestamptz, $4::int, $5::uuid) AND profile_id <> ALL ($7::uuid[])
      ORDER BY queued_at, position, event_id LIMIT $6
    ) q
    CROSS JOIN LATERAL (
      SELECT * FROM events WHERE tenant_id = $1::uuid AND event_id = q.event_id LIMIT 1
    ) e
    ORDER BY q.queued_at, q.position, q.event_id`,
};

/**
 * The first entry of each of these profiles. Looks at a bounded number of entries; where these are not the profile's, the last
 * of them stands for it: nothing of the profile is earlier than that one.
 */
export const FIRST_ENTRIES: Statement = {
  name: 'queue_first_entries',
  text: `
    SELECT u.profile_id, first.queued_at, first.position
    FROM unnest($2::smallint[], $3::uuid[]) AS u (shard, profile_id)
    CROSS JOIN LATERAL (
      SELECT ${TEXT_OF_QUEUED_AT}, q.position
      FROM (
        SELECT *, row_number() OVER () AS number FROM (
          SELECT queued_at, position, profile_id FROM event_queue
          WHERE tenant_id = $1::uuid AND shard = u.shard
          ORDER BY queued_at, position, event_id LIMIT $4
        ) looked_at
      ) q
      WHERE q.profile_id = u.profile_id OR q.number = $4
      ORDER BY q.number LIMIT 1
    ) first`,
};

/**
 * The partition comes with each row. Given once, it alone would select the range of the index, and every row of the partition
 * would be compared.
 */
export const REMOVE_ENTRIES: Statement = {
  name: 'queue_remove_entries',
  text: `
    WITH gone AS MATERIALIZED (
      SELECT $1::uuid AS tenant_id, $2::smallint AS shard, u.queued_at, u.position, u.event_id
      FROM unnest($3::timestamptz[], $4::int[], $5::uuid[]) AS u (queued_at, position, event_id)
    )
    DELETE FROM event_queue q USING gone g
    WHERE q.tenant_id = g.tenant_id AND q.shard = g.shard AND q.queued_at = g.queued_at AND q.position = g.position
      AND q.event_id = g.event_id`,
};

/**
 * Takes up to $1 bundles out, except those that another worker is taking, and records that they are processed. No effect is
 * subscribed to their events, so that they need no order and cannot fail.
 */
export const PROCESS_BUNDLES: Statement = {
  name: 'queue_process_bundles',
  text: `
    WITH taken AS MATERIALIZED (
      SELECT tenant_id, id FROM queued_bundles ORDER BY tenant_id, id LIMIT $1 FOR UPDATE SKIP LOCKED
    ), gone AS (
      DELETE FROM queued_bundles q USING taken t WHERE q.tenant_id = t.tenant_id AND q.id = t.id
      RETURNING q.tenant_id, q.id, q.events
    ), written AS (
      INSERT INTO processed_bundles (tenant_id, id, processed_at) SELECT tenant_id, id, clock_timestamp() FROM gone
    )
    SELECT tenant_id, count(*)::int AS bundles, sum(events)::int AS events FROM gone GROUP BY tenant_id`,
};

/** Workspaces with bundles, where a transaction takes those of one workspace. */
export const FIND_WORKSPACES_WITH_BUNDLES: Statement = {
  name: 'queue_find_workspaces_with_bundles',
  text: `
    SELECT tenant_id FROM queued_bundles GROUP BY tenant_id ORDER BY tenant_id LIMIT $1`,
};

/** `PROCESS_BUNDLES` for one workspace, in three statements. */
export const TAKE_BUNDLES: Statement = {
  name: 'queue_take_bundles',
  text: `
    SELECT id, events FROM queued_bundles WHERE tenant_id = $1::uuid ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED`,
};

export const REMOVE_BUNDLES: Statement = {
  name: 'queue_remove_bundles',
  text: `
    WITH gone AS MATERIALIZED (SELECT $1::uuid AS tenant_id, u.id FROM unnest($2::uuid[]) AS u (id))
    DELETE FROM queued_bundles q USING gone g
    WHERE q.tenant_id = $1::uuid AND q.tenant_id = g.tenant_id AND q.id = g.id`,
};

export const RECORD_BUNDLES: Statement = {
  name: 'queue_record_bundles',
  text: `
    INSERT INTO processed_bundles (tenant_id, id, processed_at)
    VALUES ($1::uuid, unnest($2::uuid[]), clock_timestamp())`,
};

/** Puts entries back where they were, before all later ones; $7: they count as queued from now on. */
export const RESTORE_ENTRIES: Statement = {
  name: 'queue_restore_entries',
  text: `
    INSERT INTO event_queue (tenant_id, shard, queued_at, position, event_id, profile_id, released_at)
    SELECT $1::uuid, $2::smallint, u.queued_at, u.position, u.event_id, u.profile_id,
      CASE WHEN $7::boolean THEN clock_timestamp() END
    FROM unnest($3::timestamptz[], $4::int[], $5::uuid[], $6::uuid[]) AS u (queued_at, position, event_id, profile_id)`,
};

/** Events by id. */
export const READ_EVENTS: Statement = {
  name: 'queue_read_events',
  text: `
    SELECT ${EVENT}
    FROM unnest($2::uuid[]) AS u (event_id)
    CROSS JOIN LATERAL (SELECT * FROM events WHERE tenant_id = $1::uuid AND event_id = u.event_id LIMIT 1) e`,
};

/** Holds events until the transaction ends: those that are there do not expire. */
export const HOLD_EVENTS: Statement = {
  name: 'queue_hold_events',
  text: `
    SELECT e.event_id FROM unnest($2::uuid[]) AS u (event_id)
    CROSS JOIN LATERAL (
      SELECT event_id FROM events WHERE tenant_id = $1::uuid AND event_id = u.event_id LIMIT 1 FOR KEY SHARE
    ) e`,
};

const NEW_RECORDS = `
    SELECT $1::uuid, u.event_id, u.state, u.attempts,
      CASE WHEN u.state = 'queued' THEN NULL ELSE clock_timestamp() END, u.last_error, u.reactions
    FROM unnest($2::uuid[], $3::text[], $4::int[], $5::text[], $6::jsonb[])
      AS u (event_id, state, attempts, last_error, reactions)`;

/** The first records of events; fails if one has a record already. */
export const INSERT_PROCESSING: Statement = {
  name: 'queue_insert_processing',
  text: `
    INSERT INTO event_processing (tenant_id, event_id, state, attempts, processed_at, last_error, reactions)
    ${NEW_RECORDS}`,
};

/** Later records of events, each in place of the one before. */
export const UPDATE_PROCESSING: Statement = {
  name: 'queue_update_processing',
  text: `
    INSERT INTO event_processing (tenant_id, event_id, state, attempts, processed_at, last_error, reactions)
    ${NEW_RECORDS}
    ON CONFLICT ON CONSTRAINT event_processing_pkey DO UPDATE SET
      state = excluded.state, attempts = excluded.attempts, processed_at = excluded.processed_at,
      last_error = excluded.last_error, reactions = excluded.reactions`,
};

/** Counts an attempt at an event that failed for good, before it begins. */
export const COUNT_ATTEMPT: Statement = {
  name: 'queue_count_attempt',
  text: `
    UPDATE event_processing SET attempts = attempts + 1
    WHERE tenant_id = $1::uuid AND event_id = $2::uuid AND state = 'failed'
    RETURNING attempts`,
};

/** Skips the reactions to these events that wait for their customers, for the reason $3. */
export const SKIP_WAITING: Statement = {
  name: 'queue_skip_waiting',
  text: `
    UPDATE event_processing p
    SET reactions = coalesce((
      SELECT jsonb_agg(
        CASE WHEN r.value->>'outcome' = 'waiting_for_customer'
          THEN r.value || jsonb_build_object('outcome', 'skipped', 'reason', $3::text) ELSE r.value END
        ORDER BY r.number)
      FROM jsonb_array_elements(p.reactions) WITH ORDINALITY AS r (value, number)
    ), '[]')
    FROM (SELECT $1::uuid AS tenant_id, event_id FROM unnest($2::uuid[]) AS u (event_id) OFFSET 0) u
    WHERE p.tenant_id = u.tenant_id AND p.event_id = u.event_id`,
  // The list is made apart, from the rows as they are once they are locked: a change may call immutable functions only.
  oneWorkspace: {
    text: `
    UPDATE event_processing p SET reactions = u.reactions
    FROM (
      SELECT e.event_id, coalesce((
        SELECT jsonb_agg(
          CASE WHEN r.value->>'outcome' = 'waiting_for_customer'
            THEN r.value || jsonb_build_object('outcome', 'skipped', 'reason', $3::text) ELSE r.value END
          ORDER BY r.number)
        FROM jsonb_array_elements(e.reactions) WITH ORDINALITY AS r (value, number)
      ), '[]') AS reactions
      FROM event_processing e WHERE e.tenant_id = $1::uuid AND e.event_id = ANY ($2::uuid[]) FOR NO KEY UPDATE
    ) u
    WHERE p.tenant_id = $1::uuid AND p.event_id = u.event_id`,
    values: (values) => values,
  },
};

/** The processing records of events, locked until the transaction ends. */
export const LOCK_PROCESSING: Statement = {
  name: 'queue_lock_processing',
  text: `
    SELECT p.event_id, p.state, p.attempts, p.last_error, p.reactions
    FROM unnest($2::uuid[]) AS u (event_id)
    CROSS JOIN LATERAL (
      SELECT event_id, state, attempts, last_error, reactions FROM event_processing
      WHERE tenant_id = $1::uuid AND event_id = u.event_id LIMIT 1 FOR UPDATE
    ) p`,
};
