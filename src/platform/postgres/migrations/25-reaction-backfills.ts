import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Backfills: reactions that come to events received before them. */
export class ReactionBackfills1764000000024 implements MigrationInterface {
  readonly name = 'ReactionBackfills1764000000024';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE reactions DROP COLUMN backfill_id`);
    for (const table of ['reaction_backfill_marks', 'reaction_backfills']) await runner.query(`DROP TABLE ${table}`);
  }
}

const UP = [
  `SET lock_timeout = '2s'`,
  // The progress is rewritten in place with each step. The key is also the order of a reaction's list.
  `CREATE TABLE reaction_backfills (
    tenant_id uuid NOT NULL,
    campaign_id text NOT NULL,
    name text NOT NULL,
    id uuid NOT NULL,
    reaction_id uuid NOT NULL,
    reaction_updated_at timestamptz NOT NULL,
    event_type text NOT NULL,
    source text,
    sets_values boolean NOT NULL,
    received_from timestamptz NOT NULL,
    received_to timestamptz NOT NULL,
    is_dry_run boolean NOT NULL,
    events_per_second_max integer,
    state text NOT NULL,
    reason text,
    phase text NOT NULL,
    attempts integer NOT NULL,
    total integer NOT NULL,
    scanned integer NOT NULL,
    matched integer NOT NULL,
    applied integer NOT NULL,
    waiting integer NOT NULL,
    skipped integer NOT NULL,
    failed integer NOT NULL,
    sums jsonb NOT NULL,
    cursor_received_at timestamptz NOT NULL,
    cursor_occurred_at timestamptz NOT NULL,
    cursor_event_id uuid NOT NULL,
    requested_at timestamptz NOT NULL,
    requested_by text NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    CONSTRAINT reaction_backfills_pkey PRIMARY KEY (tenant_id, campaign_id, name, id)
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
  // The last event by which a customer's values were set (nil: values of the campaign or the app); gone at the end.
  `CREATE TABLE reaction_backfill_marks (
    tenant_id uuid NOT NULL,
    backfill_id uuid NOT NULL,
    profile_id uuid NOT NULL,
    received_at timestamptz NOT NULL,
    occurred_at timestamptz NOT NULL,
    event_id uuid NOT NULL,
    CONSTRAINT reaction_backfill_marks_pkey PRIMARY KEY (tenant_id, backfill_id, profile_id)
  ) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  // Null: no backfill needs to know of later events.
  `ALTER TABLE reactions ADD COLUMN backfill_id uuid`,
];
