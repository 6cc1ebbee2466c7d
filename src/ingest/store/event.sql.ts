import { allInserted, PRECONDITION_HOLDS } from '../../platform/postgres/precondition';
import { replacing } from '../../platform/postgres/one-workspace';
import type { OneWorkspaceForm, Statement } from '../../platform/postgres/statement';
import { textOfTime } from '../../platform/postgres/time-text';
import { INSERTED_NAMES, insertedValues } from './event-columns';

/**
 * Which of these events are stored or have expired, and what tells a repetition from another fact under the same id. One
 * statement, because an event goes from one table to the other. An expired event has only a `content_check`, or null.
 */
export const FIND_EVENTS: Statement = {
  name: 'ingest_find_events',
  text: `
    SELECT u.position, e.source, e.external_event_id, e.content_hash, e.batch_id, e.profile_id, e.has_expired,
      e.content_check
    FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS u (tenant_id, event_id, position)
    CROSS JOIN LATERAL (
      SELECT source, external_event_id, content_hash, batch_id, profile_id, false AS has_expired,
        NULL::bigint AS content_check
      FROM events WHERE tenant_id = u.tenant_id AND event_id = u.event_id
      UNION ALL
      SELECT NULL, NULL, NULL, NULL, NULL, true, content_check FROM expired_events
      WHERE tenant_id = u.tenant_id AND event_id = u.event_id
      UNION ALL
      SELECT NULL, NULL, NULL, NULL, NULL, true, other_content_check FROM expired_events
      WHERE tenant_id = u.tenant_id AND other_event_id = u.event_id
      LIMIT 1
    ) e`,
};

/** A row of `FIND_EVENTS`. `position`: that of the event in the parameters, from 1. */
export type FoundEventRow = StoredEventRow | ExpiredEventRow;

export interface StoredEventRow {
  readonly position: string;
  readonly has_expired: false;
  readonly source: string;
  readonly external_event_id: string;
  /** Empty: what it said was erased, wholly or in part. */
  readonly content_hash: Buffer;
  readonly batch_id: string;
  readonly profile_id: string;
}

export interface ExpiredEventRow {
  readonly position: string;
  readonly has_expired: true;
  /** Null: what it said was erased, or it expired without a secrets key. */
  readonly content_check: string | null;
}

/**
 * An event without a time of receipt is received now, by the clock that all nodes share, to the millisecond that views show.
 * One that has expired is left out as if it were stored. Its row goes only when no statement is left that began before it was
 * in `expired_events` (`expiry/event-expiry.ts`), so that each statement finds it in one table at least.
 */
const insertWhere = (condition: string): string => `
    WITH now AS MATERIALIZED (SELECT date_trunc('milliseconds', clock_timestamp()) AS at)
    INSERT INTO events (${INSERTED_NAMES})
    SELECT u.* FROM (
      SELECT ${insertedValues('(SELECT at FROM now)')} WHERE ${condition}
    ) u (${INSERTED_NAMES})
    WHERE NOT EXISTS (SELECT FROM expired_events WHERE tenant_id = u.tenant_id AND event_id = u.event_id)
      AND NOT EXISTS (SELECT FROM expired_events WHERE tenant_id = u.tenant_id AND other_event_id = u.event_id)`;

/** A row for each of these events that has expired. */
export const FIND_EXPIRED_AMONG: Statement = {
  name: 'ingest_find_expired_among',
  text: `
    SELECT 1 FROM unnest($1::uuid[], $2::uuid[]) AS u (tenant_id, event_id)
    CROSS JOIN LATERAL (
      SELECT event_id FROM expired_events WHERE tenant_id = u.tenant_id AND event_id = u.event_id
      UNION ALL
      SELECT event_id FROM expired_events WHERE tenant_id = u.tenant_id AND other_event_id = u.event_id
      LIMIT 1
    ) e`,
};

/**
 * The same for one workspace, whose node is found by VALUES only. What has expired was looked for before by `FIND_EVENTS`, or
 * is looked for behind the insert (`FIND_EXPIRED_AMONG`). VALUES would read the clock for each column. A prepared statement is
 * received by Execute: behind Bind, by which its tables are locked (`EVENT_WRITERS`).
 */
const INSERT_OF_ONE = `
    INSERT INTO events (${INSERTED_NAMES})
    VALUES (${insertedValues("date_trunc('milliseconds', statement_timestamp())", true)})`;

/** The first parameter is the workspace of each event, and in the form for one workspace this one. */
function ofOneWorkspace(text: string): OneWorkspaceForm {
  return { text, values: replacing(0) };
}

/**
 * Stores events (`insertParameters`). Of any number of concurrent senders of one event exactly one gets its id back; the
 * others wait for that commit first.
 */
export const INSERT_EVENTS: Statement = {
  name: 'ingest_insert_events',
  text: `${insertWhere('true')}
    ON CONFLICT ON CONSTRAINT events_pkey DO NOTHING
    RETURNING event_id`,
  oneWorkspace: ofOneWorkspace(`${INSERT_OF_ONE}
    ON CONFLICT ON CONSTRAINT events_pkey DO NOTHING
    RETURNING event_id`),
};

/**
 * The same, with the bundles that they are queued in, for a commit that does not wait for the answer. Fails (`isLostRace`) unless
 * the transaction's precondition holds and none of the events was there already or has expired: all or nothing is stored. Without
 * ON CONFLICT, which takes 3 µs for each event. The form for one workspace queues no bundle: `INSERT_QUEUED_BUNDLES` does.
 */
export const STORE_EVENTS: Statement = {
  name: 'ingest_store_events',
  text: `
    WITH stored AS (${insertWhere(PRECONDITION_HOLDS)}
      RETURNING tenant_id, queue_bundle_id
    ), bundled AS (
      INSERT INTO queued_bundles (tenant_id, id, queued_at, events)
      SELECT tenant_id, queue_bundle_id, clock_timestamp(), count(*) FROM stored
      WHERE queue_bundle_id IS NOT NULL GROUP BY tenant_id, queue_bundle_id
    )
    ${allInserted('stored', 'cardinality($1::uuid[])')}`,
  oneWorkspace: ofOneWorkspace(INSERT_OF_ONE),
};

/** Where events of a workspace wait, in an order. */
const QUEUE_TABLES = ['event_queue', 'parked_events', 'waiting_events'] as const;

/** The last entry of a workspace that was stamped by a clock which has been set back since; nearly always there is none. */
const lastAhead = (table: (typeof QUEUE_TABLES)[number]): string => `(
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
          now.at, ${QUEUE_TABLES.map(lastAhead).join(', ')}
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

/** `INSERT_QUEUE_ENTRIES` for one workspace in two statements, the first of which reads their stamp. */
export const READ_QUEUE_STAMP: Statement = {
  name: 'ingest_read_queue_stamp',
  text: `
    SELECT ${textOfTime("greatest(statement_timestamp(), max(queued_at) + interval '1 microsecond')")} AS at
    FROM (${QUEUE_TABLES.map(
      (table) => `
      SELECT queued_at FROM ${table}
      WHERE tenant_id = $1::uuid AND queued_at > statement_timestamp() AND queued_at > '-infinity'`,
    ).join(' UNION ALL')}
    ) ahead`,
};

export const INSERT_STAMPED_ENTRIES: Statement = {
  name: 'ingest_insert_stamped_entries',
  text: `
    INSERT INTO event_queue (tenant_id, shard, queued_at, position, event_id, profile_id)
    VALUES ($1::uuid, unnest($2::smallint[]), $6::timestamptz, unnest($3::int[]), unnest($4::uuid[]), unnest($5::uuid[]))`,
};

/** Queues stored events that nothing is done with, all those of a workspace by one entry. */
export const INSERT_QUEUED_BUNDLES: Statement = {
  name: 'ingest_insert_queued_bundles',
  text: `
    INSERT INTO queued_bundles (tenant_id, id, queued_at, events)
    SELECT u.tenant_id, $1::uuid, clock_timestamp(), u.events
    FROM unnest($2::uuid[], $3::int[]) AS u (tenant_id, events)`,
};
