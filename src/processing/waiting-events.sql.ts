import type { QueuedKey } from '../ingest/queue/event-queue';
import type { Statement } from '../platform/postgres/statement';
import { firstOfProfiles, TEXT_OF_QUEUED_AT } from './queue-key.sql';

/* Events whose reactions wait until their customer has an EXTERNAL identifier (docs/adr/0051). */

/** An event to wait at its own profile. */
export interface EntryToWait extends QueuedKey {
  readonly profileId: string;
}

/** The first waiting event of each of these profiles that has one. */
export const FIRST_WAITING = firstOfProfiles('processing_first_waiting', 'waiting_events');

export const ADD_WAITING: Statement = {
  name: 'processing_add_waiting',
  text: `
    INSERT INTO waiting_events (tenant_id, profile_id, queued_at, position, event_id, queued_for)
    SELECT $1::uuid, u.profile_id, u.queued_at, u.position, u.event_id, u.queued_for
    FROM unnest($2::timestamptz[], $3::int[], $4::uuid[], $5::uuid[], $6::uuid[])
      AS u (queued_at, position, event_id, profile_id, queued_for)
    ON CONFLICT ON CONSTRAINT waiting_events_pkey DO NOTHING`,
};

export function addWaitingParameters(tenantId: string, entries: readonly EntryToWait[]): readonly unknown[] {
  return [
    tenantId,
    entries.map((entry) => entry.queuedAt),
    entries.map((entry) => entry.position),
    entries.map((entry) => entry.eventId),
    entries.map((entry) => entry.profileId),
    entries.map((entry) => entry.queuedFor),
  ];
}

/**
 * The oldest events that wait at any of these profiles, $3 at most; without those that another transaction has locked.
 */
export const LOCK_OLDEST_WAITING: Statement = {
  name: 'processing_lock_oldest_waiting',
  text: `
    WITH oldest AS MATERIALIZED (
      SELECT first.* FROM unnest($2::uuid[]) AS u (profile_id)
      CROSS JOIN LATERAL (
        SELECT profile_id, queued_at, position, event_id FROM waiting_events
        WHERE tenant_id = $1::uuid AND profile_id = u.profile_id
        ORDER BY queued_at, position, event_id LIMIT $3
      ) first
      ORDER BY first.queued_at, first.position, first.event_id LIMIT $3
    )
    SELECT locked.* FROM oldest o
    CROSS JOIN LATERAL (
      SELECT w.profile_id, ${TEXT_OF_QUEUED_AT}, w.position, w.event_id, w.queued_for FROM waiting_events w
      WHERE w.tenant_id = $1::uuid AND w.profile_id = o.profile_id AND w.queued_at = o.queued_at
        AND w.position = o.position AND w.event_id = o.event_id
      LIMIT 1 FOR UPDATE SKIP LOCKED
    ) locked`,
};

/** The next workspace with waiting events after $1: one index probe. */
export const NEXT_WAITING_TENANT: Statement = {
  name: 'processing_next_waiting_tenant',
  text: `
    SELECT tenant_id FROM waiting_events WHERE tenant_id > $1::uuid AND queued_at > '-infinity'
    ORDER BY tenant_id, queued_at LIMIT 1`,
};

/**
 * The oldest events of a workspace that have waited for $2 days; $3 at most. Comparing with clock_timestamp(), which is
 * volatile, PostgreSQL would read all that wait.
 */
export const LOCK_EXPIRED_WAITING: Statement = {
  name: 'processing_lock_expired_waiting',
  text: `
    SELECT w.profile_id, ${TEXT_OF_QUEUED_AT}, w.position, w.event_id, w.queued_for FROM waiting_events w
    WHERE w.tenant_id = $1::uuid AND w.queued_at > '-infinity'
      AND w.queued_at < statement_timestamp() - make_interval(days => $2::int)
    ORDER BY w.queued_at LIMIT $3 FOR UPDATE SKIP LOCKED`,
};

/** Removes some events that wait at these profiles, also those that another transaction reads. */
export const REMOVE_WAITING_OF_PROFILES: Statement = {
  name: 'processing_remove_waiting_of_profiles',
  text: `
    WITH few AS MATERIALIZED (
      SELECT found.* FROM unnest($2::uuid[]) AS u (profile_id)
      CROSS JOIN LATERAL (
        SELECT tenant_id, profile_id, queued_at, position, event_id FROM waiting_events
        WHERE tenant_id = $1::uuid AND profile_id = u.profile_id LIMIT $3
      ) found
      LIMIT $3
    )
    DELETE FROM waiting_events w USING few f
    WHERE w.tenant_id = f.tenant_id AND w.profile_id = f.profile_id AND w.queued_at = f.queued_at
      AND w.position = f.position AND w.event_id = f.event_id
    RETURNING w.event_id`,
};

/** Each row has its profile, as in `REMOVE_ENTRIES` of the queue. */
export const REMOVE_WAITING: Statement = {
  name: 'processing_remove_waiting',
  text: `
    WITH gone AS MATERIALIZED (
      SELECT $1::uuid AS tenant_id, u.profile_id, u.queued_at, u.position, u.event_id
      FROM unnest($2::timestamptz[], $3::int[], $4::uuid[], $5::uuid[]) AS u (queued_at, position, event_id, profile_id)
    )
    DELETE FROM waiting_events w USING gone g
    WHERE w.tenant_id = g.tenant_id AND w.profile_id = g.profile_id AND w.queued_at = g.queued_at
      AND w.position = g.position AND w.event_id = g.event_id`,
};
