import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How long workspaces keep their events, and what is left of the events that have gone. */
export class EventRetention1764000000021 implements MigrationInterface {
  readonly name = 'EventRetention1764000000021';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // Null days: everything is kept. The position is that of the pass under way.
    await runner.query(`CREATE TABLE event_retention (
      tenant_id uuid NOT NULL,
      event_days integer,
      changed_at timestamptz NOT NULL,
      changed_by text NOT NULL,
      next_step_at timestamptz NOT NULL,
      position_at timestamptz,
      position_id uuid,
      expired_before timestamptz,
      CONSTRAINT event_retention_pkey PRIMARY KEY (tenant_id)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`);
    // Without a primary key: it would take as many bytes again as the rows. Two events share a row for the same reason, and
    // hash indexes are a third of others (docs/adr/0060). Rows are written once, and never go.
    await runner.query(`CREATE TABLE expired_events (
      tenant_id uuid NOT NULL,
      event_id uuid NOT NULL,
      content_check bigint,
      other_event_id uuid,
      other_content_check bigint
    ) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_freeze_min_age = 0)`);
    await runner.query(`CREATE INDEX expired_events_event_idx ON expired_events USING hash (event_id)`);
    await runner.query(`CREATE INDEX expired_events_other_event_idx ON expired_events USING hash (other_event_id)`);
    await runner.query(`CREATE TABLE expired_event_counts (
      tenant_id uuid NOT NULL,
      profile_id uuid NOT NULL,
      events integer NOT NULL,
      CONSTRAINT expired_event_counts_pkey PRIMARY KEY (tenant_id, profile_id)
    ) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000)`);
    // The space of removed events is used again after a vacuum; the default waits for a fifth of the table.
    for (const table of ['events', 'event_processing']) {
      await runner.query(
        `ALTER TABLE ${table} SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000)`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['events', 'event_processing']) {
      await runner.query(`ALTER TABLE ${table} RESET (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold)`);
    }
    for (const table of ['expired_event_counts', 'expired_events', 'event_retention']) {
      await runner.query(`DROP TABLE ${table}`);
    }
  }
}
