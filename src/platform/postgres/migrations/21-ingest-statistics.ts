import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Statistics of ingest: counts per minute, hour and day, and what they are brought up to date with. */
export class IngestStatistics1764000000020 implements MigrationInterface {
  readonly name = 'IngestStatistics1764000000020';

  async up(runner: QueryRunner): Promise<void> {
    // Rows of minutes are written once or twice, those of hours and days once a minute while they last.
    await runner.query(`CREATE TABLE ingest_statistics (
      tenant_id uuid NOT NULL,
      step text NOT NULL,
      at timestamptz NOT NULL,
      family text NOT NULL,
      source text NOT NULL,
      event_type text NOT NULL,
      accepted bigint NOT NULL,
      late bigint NOT NULL,
      clock_skewed bigint NOT NULL,
      duplicate bigint NOT NULL,
      refused bigint NOT NULL,
      CONSTRAINT ingest_statistics_pkey PRIMARY KEY (tenant_id, step, at, family, source, event_type)
    ) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.05)`);
    // Rows stay for about a minute.
    await runner.query(`CREATE TABLE ingest_statistics_changes (
      tenant_id uuid NOT NULL,
      at timestamptz NOT NULL,
      id uuid NOT NULL,
      family text NOT NULL,
      source text NOT NULL,
      event_type text NOT NULL,
      accepted integer NOT NULL,
      late integer NOT NULL,
      clock_skewed integer NOT NULL,
      duplicate integer NOT NULL,
      refused integer NOT NULL,
      CONSTRAINT ingest_statistics_changes_pkey PRIMARY KEY (tenant_id, at, id)
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`);
    await runner.query(`CREATE TABLE ingest_statistics_progress (
      tenant_id uuid NOT NULL,
      counted_until timestamptz NOT NULL,
      CONSTRAINT ingest_statistics_progress_pkey PRIMARY KEY (tenant_id)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`DROP TABLE ${table}`);
  }
}

const TABLES = ['ingest_statistics_progress', 'ingest_statistics_changes', 'ingest_statistics'];
