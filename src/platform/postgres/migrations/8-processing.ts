import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What takes events out of the queue, and what became of them. */
export class Processing1764000000007 implements MigrationInterface {
  readonly name = 'Processing1764000000007';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES.toReversed()) await runner.query(`DROP TABLE ${table}`);
  }
}

const TABLES = ['queue_leases', 'event_processing', 'parked_events', 'processing_counts'];

const UP = [
  // A worker locks the row of the shard that it works on; the lock ends with its connection. Rows stay.
  `CREATE TABLE queue_leases (
    tenant_id uuid NOT NULL,
    shard smallint NOT NULL,
    CONSTRAINT queue_leases_pkey PRIMARY KEY (tenant_id, shard)
  ) WITH (fillfactor = 85)`,
  // One row an event that has left the queue or has failed in it; an event without one waits for its first attempt.
  `CREATE TABLE event_processing (
    tenant_id uuid NOT NULL,
    event_id uuid NOT NULL,
    state text NOT NULL,
    attempts integer NOT NULL,
    processed_at timestamptz,
    last_error text,
    reactions jsonb NOT NULL,
    CONSTRAINT event_processing_pkey PRIMARY KEY (tenant_id, event_id)
  ) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_freeze_min_age = 0)`,
  `CREATE INDEX event_processing_failed_idx ON event_processing (tenant_id, event_id) WHERE state = 'failed'`,
  // Entries that have failed and may succeed, and those behind them; retry_at is set on the first one of each profile.
  `CREATE TABLE parked_events (
    tenant_id uuid NOT NULL,
    profile_id uuid NOT NULL,
    queued_at timestamptz NOT NULL,
    position integer NOT NULL,
    event_id uuid NOT NULL,
    shard smallint NOT NULL,
    attempts integer NOT NULL,
    retry_at timestamptz,
    CONSTRAINT parked_events_pkey PRIMARY KEY (tenant_id, profile_id, queued_at, position, event_id)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
  `CREATE INDEX parked_events_due_idx ON parked_events (tenant_id, shard, retry_at) WHERE retry_at IS NOT NULL`,
  `CREATE INDEX parked_events_queued_idx ON parked_events (tenant_id, queued_at) WHERE queued_at > '-infinity'`,
  // A ring of ten seconds each: updated in place, never longer than the last minute.
  `CREATE TABLE processing_counts (
    tenant_id uuid NOT NULL,
    shard smallint NOT NULL,
    slot smallint NOT NULL,
    started_at timestamptz NOT NULL,
    processed integer NOT NULL,
    CONSTRAINT processing_counts_pkey PRIMARY KEY (tenant_id, shard, slot)
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
];
