import type { Statement } from '../../platform/postgres/pipelined-connection';
import { PRECONDITION_HOLDS } from '../../platform/postgres/precondition';
import { INSERTED_NAMES, insertedValues } from './event-columns';

/** Which of these events are stored, and what tells a repetition from another fact under the same id. */
export const FIND_EVENTS: Statement = {
  name: 'ingest_find_events',
  text: `
    SELECT u.position, e.source, e.external_event_id, e.content_hash, e.batch_id
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS u (tenant_id, event_id, position)
    CROSS JOIN LATERAL (
      SELECT source, external_event_id, content_hash, batch_id FROM events
      WHERE tenant_id = u.tenant_id AND event_id = u.event_id LIMIT 1
    ) e`,
};

/** An event without a time of receipt is received now, by the clock that all nodes share, to the millisecond that views show. */
const INSERT = `
    WITH now AS MATERIALIZED (SELECT date_trunc('milliseconds', clock_timestamp()) AS at)
    INSERT INTO events (${INSERTED_NAMES})
    SELECT ${insertedValues('(SELECT at FROM now)')}`;

/**
 * Stores events (`insertParameters`). Of any number of concurrent senders of one event exactly one gets its id back; the
 * others wait for that commit first.
 */
export const INSERT_EVENTS: Statement = {
  name: 'ingest_insert_events',
  text: `${INSERT}
    ON CONFLICT ON CONSTRAINT events_pkey DO NOTHING
    RETURNING event_id`,
};

/**
 * The same, with the bundles that they are queued in, for a commit that does not wait for the answer. Stores nothing unless
 * the transaction's precondition holds; answers how many it has stored.
 */
export const STORE_EVENTS: Statement = {
  name: 'ingest_store_events',
  text: `
    WITH stored AS (${INSERT}
      WHERE ${PRECONDITION_HOLDS}
      ON CONFLICT ON CONSTRAINT events_pkey DO NOTHING
      RETURNING tenant_id, queue_bundle_id
    ), bundled AS (
      INSERT INTO queued_bundles (tenant_id, id, queued_at, events)
      SELECT tenant_id, queue_bundle_id, clock_timestamp(), count(*) FROM stored
      WHERE queue_bundle_id IS NOT NULL GROUP BY tenant_id, queue_bundle_id
    )
    SELECT count(*)::int AS events FROM stored`,
};

/** The last entry of a workspace that was stamped by a clock which has been set back since; nearly always there is none. */
const lastAhead = (table: 'event_queue' | 'parked_events' | 'waiting_events'): string => `(
          SELECT queued_at FROM ${table}
          WHERE tenant_id = w.tenant_id AND queued_at > now.at AND queued_at > '-infinity'
          ORDER BY queued_at DESC LIMIT 1
        ) + interval '1 microsecond'`;

/**
 * Queues those of these events that a batch has stored for the workers, stamped with the database's clock: nodes' clocks differ,
 * and this is the order. It never falls within a workspace, also where that clock is set back (docs/adr/0049): what was
 * committed before this statement began is seen by it, and stands before these. $6: workspaces; $5: which of them each is of.
 */
export const INSERT_QUEUE_ENTRIES: Statement = {
  name: 'ingest_insert_queue_entries',
  text: `
    WITH now AS MATERIALIZED (SELECT clock_timestamp() AS at), stamps AS MATERIALIZED (
      SELECT array_agg(
        greatest(
          now.at, ${lastAhead('event_queue')}, ${lastAhead('parked_events')}, ${lastAhead('waiting_events')}
        ) ORDER BY w.number
      ) AS at
      FROM now, unnest($6::uuid[]) WITH ORDINALITY AS w (tenant_id, number)
    )
    INSERT INTO event_queue (tenant_id, shard, queued_at, position, event_id, profile_id)
    SELECT u.tenant_id, u.shard, (SELECT at FROM stamps)[u.workspace], u.position, u.event_id, u.profile_id
    FROM unnest($1::uuid[], $2::smallint[], $3::uuid[], $4::uuid[], $5::int[])
      WITH ORDINALITY AS u (tenant_id, shard, event_id, profile_id, workspace, position)
    CROSS JOIN LATERAL (
      SELECT batch_id FROM events WHERE tenant_id = u.tenant_id AND event_id = u.event_id LIMIT 1
    ) e
    WHERE e.batch_id = $7::uuid`,
};

/** Queues stored events that nothing is done with, all those of a workspace by one entry. */
export const INSERT_QUEUED_BUNDLES: Statement = {
  name: 'ingest_insert_queued_bundles',
  text: `
    INSERT INTO queued_bundles (tenant_id, id, queued_at, events)
    SELECT u.tenant_id, $1::uuid, clock_timestamp(), u.events
    FROM unnest($2::uuid[], $3::int[]) AS u (tenant_id, events)`,
};
