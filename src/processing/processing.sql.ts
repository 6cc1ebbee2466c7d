import type { QueuedKey } from '../ingest/queue/event-queue';
import type { QueuePartition } from '../ingest/queue/queue-partition';
import { oneWorkspaceForm } from '../platform/postgres/one-workspace';
import type { Statement } from '../platform/postgres/statement';
import { textOfTime } from '../platform/postgres/time-text';
import { firstOfProfiles, IMMUTABLE_TEXT_OF_QUEUED_AT, TEXT_OF_QUEUED_AT } from './queue-key.sql';

/** An entry to be parked. */
export interface EntryToPark extends QueuedKey {
  readonly attempts: number;
  /** Null: it waits for an earlier parked entry of its profile. */
  readonly delayMs: number | null;
}

/** Inserts the row that workers lock. */
export const INSERT_LEASE: Statement = {
  name: 'processing_insert_lease',
  text: `
    INSERT INTO queue_leases (tenant_id, shard) VALUES ($1::uuid, $2::smallint)
    ON CONFLICT ON CONSTRAINT queue_leases_pkey DO NOTHING`,
};

/** Takes a lease that is free. Statements after this one see what its last holder committed. */
export const TAKE_LEASE: Statement = {
  name: 'processing_take_lease',
  text: `
    SELECT 1 AS taken FROM queue_leases WHERE tenant_id = $1::uuid AND shard = $2::smallint FOR UPDATE SKIP LOCKED`,
};

/** Takes a lease as soon as it is free. */
export const AWAIT_LEASE: Statement = {
  name: 'processing_await_lease',
  text: `
    SELECT 1 AS taken FROM queue_leases WHERE tenant_id = $1::uuid AND shard = $2::smallint FOR UPDATE`,
};

/**
 * The started turn of a partition, if it has not ended; to be read in a statement after the one that takes the lease.
 */
export const READ_TURN: Statement = {
  name: 'processing_read_turn',
  text: `SELECT entries, event_id FROM queue_turns WHERE tenant_id = $1::uuid AND shard = $2::smallint`,
};

export const BEGIN_TURN: Statement = {
  name: 'processing_begin_turn',
  text: `
    INSERT INTO queue_turns (tenant_id, shard, turn_id, entries, event_id)
    VALUES ($1::uuid, $2::smallint, $3::uuid, $4::int, $5::uuid)
    ON CONFLICT ON CONSTRAINT queue_turns_pkey DO UPDATE SET
      turn_id = excluded.turn_id, entries = excluded.entries, event_id = excluded.event_id`,
};

export const END_TURN: Statement = {
  name: 'processing_end_turn',
  text: `
    UPDATE queue_turns SET entries = $3::int, event_id = NULL WHERE tenant_id = $1::uuid AND shard = $2::smallint`,
};

/** Does not touch a turn that another worker started since. */
export const FORGET_TURN: Statement = {
  name: 'processing_forget_turn',
  text: `
    UPDATE queue_turns SET entries = 0, event_id = NULL
    WHERE tenant_id = $1::uuid AND shard = $2::smallint AND turn_id = $3::uuid`,
};

/** The first parked entry of each of these profiles that has one. */
export const FIRST_PARKED = firstOfProfiles('processing_first_parked', 'parked_events');

/** Parks entries: failed ones with a delay, later ones of their profiles without. */
export const PARK_ENTRIES: Statement = {
  name: 'processing_park_entries',
  text: `
    INSERT INTO parked_events (tenant_id, profile_id, queued_at, position, event_id, shard, attempts, retry_at)
    SELECT $1::uuid, u.profile_id, u.queued_at, u.position, u.event_id, $2::smallint, u.attempts,
      clock_timestamp() + u.delay_ms * interval '1 millisecond'
    FROM unnest($3::timestamptz[], $4::int[], $5::uuid[], $6::uuid[], $7::int[], $8::int[])
      AS u (queued_at, position, event_id, profile_id, attempts, delay_ms)`,
};

export function parkEntriesParameters(
  { tenantId, shard }: QueuePartition,
  entries: readonly EntryToPark[],
): readonly unknown[] {
  return [
    tenantId,
    shard,
    entries.map((entry) => entry.queuedAt),
    entries.map((entry) => entry.position),
    entries.map((entry) => entry.eventId),
    entries.map((entry) => entry.queuedFor),
    entries.map((entry) => entry.attempts),
    entries.map((entry) => entry.delayMs),
  ];
}

/** The parked entries of a partition whose next attempt is due. */
export const DUE_ENTRIES: Statement = {
  name: 'processing_due_entries',
  text: `
    SELECT profile_id, ${TEXT_OF_QUEUED_AT}, position, event_id, attempts FROM parked_events p
    WHERE tenant_id = $1::uuid AND shard = $2::smallint AND retry_at IS NOT NULL AND retry_at <= statement_timestamp()
    ORDER BY retry_at LIMIT $3`,
};

/** One entry, if it is still parked, and whether its next attempt is due. */
export const DUE_ENTRY: Statement = {
  name: 'processing_due_entry',
  text: `
    SELECT attempts, retry_at <= clock_timestamp() AS is_due FROM parked_events
    WHERE tenant_id = $1::uuid AND profile_id = $2::uuid AND queued_at = $3::timestamptz AND position = $4::int
      AND event_id = $5::uuid`,
};

export function parkedEntryParameters(tenantId: string, entry: QueuedKey): readonly unknown[] {
  return [tenantId, entry.queuedFor, entry.queuedAt, entry.position, entry.eventId];
}

/** Schedules the next attempt at a parked entry. */
export const POSTPONE_ENTRY: Statement = {
  name: 'processing_postpone_entry',
  text: `
    UPDATE parked_events
    SET attempts = $6::int, retry_at = clock_timestamp() + $7::int * interval '1 millisecond'
    WHERE tenant_id = $1::uuid AND profile_id = $2::uuid AND queued_at = $3::timestamptz AND position = $4::int
      AND event_id = $5::uuid`,
};

export function postponeEntryParameters(
  tenantId: string,
  entry: QueuedKey,
  attempts: number,
  delayMs: number,
): readonly unknown[] {
  return [...parkedEntryParameters(tenantId, entry), attempts, delayMs];
}

/** Removes the first parked entries of a profile, and returns them in order. */
export const RELEASE_ENTRIES: Statement = {
  name: 'processing_release_entries',
  text: `
    WITH released AS MATERIALIZED (
      SELECT tenant_id, profile_id, queued_at, position, event_id FROM parked_events
      WHERE tenant_id = $1::uuid AND profile_id = $2::uuid
      ORDER BY queued_at, position, event_id LIMIT $3
    )
    DELETE FROM parked_events p USING released r
    WHERE p.tenant_id = r.tenant_id AND p.profile_id = r.profile_id AND p.queued_at = r.queued_at AND p.position = r.position
      AND p.event_id = r.event_id
    RETURNING ${textOfTime('p.queued_at')} AS queued_at, p.position, p.event_id`,
  oneWorkspace: oneWorkspaceForm(`
    DELETE FROM parked_events p USING (
      SELECT queued_at, position, event_id FROM parked_events
      WHERE tenant_id = $1::uuid AND profile_id = $2::uuid
      ORDER BY queued_at, position, event_id LIMIT $3
    ) r
    WHERE p.tenant_id = $1::uuid AND p.profile_id = $2::uuid AND p.queued_at = r.queued_at AND p.position = r.position
      AND p.event_id = r.event_id
    RETURNING ${IMMUTABLE_TEXT_OF_QUEUED_AT} AS queued_at, p.position, p.event_id`),
};

/** Makes the first parked entry of a profile due now, if there is one. */
export const WAKE_FIRST: Statement = {
  name: 'processing_wake_first',
  text: `
    WITH first AS MATERIALIZED (
      SELECT tenant_id, profile_id, queued_at, position, event_id FROM parked_events
      WHERE tenant_id = $1::uuid AND profile_id = $2::uuid
      ORDER BY queued_at, position, event_id LIMIT 1
    )
    UPDATE parked_events p SET retry_at = clock_timestamp() FROM first f
    WHERE p.tenant_id = f.tenant_id AND p.profile_id = f.profile_id AND p.queued_at = f.queued_at AND p.position = f.position
      AND p.event_id = f.event_id AND p.retry_at IS NULL`,
};

/** Adds to the counters of partitions for the current ten seconds. */
export const COUNT_PROCESSED: Statement = {
  name: 'processing_count_processed',
  text: `
    INSERT INTO processing_counts AS stored (tenant_id, shard, slot, started_at, processed)
    SELECT u.tenant_id, u.shard, (extract(epoch FROM n.started_at)::bigint / 10) % 7, n.started_at, u.processed
    FROM (SELECT date_bin('10 seconds', clock_timestamp(), 'epoch') AS started_at) n
    CROSS JOIN unnest($1::uuid[], $2::smallint[], $3::int[]) AS u (tenant_id, shard, processed)
    ON CONFLICT ON CONSTRAINT processing_counts_pkey DO UPDATE SET
      processed = excluded.processed + CASE WHEN stored.started_at = excluded.started_at THEN stored.processed ELSE 0 END,
      started_at = excluded.started_at`,
};
