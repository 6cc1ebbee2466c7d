import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The time by which outcomes age, when periodic jobs were last due, and which entry of a workspace's queue is the last one. */
export class OneClock1764000000016 implements MigrationInterface {
  readonly name = 'OneClock1764000000016';
  /** An index that is built CONCURRENTLY cannot be in a transaction. Every statement may be repeated. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // One row, for the whole installation: tenant_id is the nil UUID, which no workspace has.
    await runner.query(`CREATE TABLE IF NOT EXISTS outcome_clock (
      tenant_id uuid NOT NULL,
      at timestamptz NOT NULL,
      seen_at timestamptz NOT NULL,
      CONSTRAINT outcome_clock_pkey PRIMARY KEY (tenant_id)
    ) WITH (fillfactor = 50)`);
    // A row for each periodic job, of the whole installation too.
    await runner.query(`CREATE TABLE IF NOT EXISTS job_schedules (
      tenant_id uuid NOT NULL,
      job text NOT NULL,
      due_at timestamptz NOT NULL,
      CONSTRAINT job_schedules_pkey PRIMARY KEY (tenant_id, job)
    ) WITH (fillfactor = 50)`);
    await runner.query(`SET lock_timeout = '2s'`);
    // A build that was interrupted leaves an index that is not valid.
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS event_queue_queued_idx`);
    await runner.query(`SET lock_timeout = 0`);
    await runner.query(`CREATE INDEX CONCURRENTLY event_queue_queued_idx ON event_queue (tenant_id, queued_at)
      WHERE queued_at > '-infinity'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX event_queue_queued_idx`);
    for (const table of ['job_schedules', 'outcome_clock']) await runner.query(`DROP TABLE ${table}`);
  }
}
