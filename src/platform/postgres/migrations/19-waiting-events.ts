import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Events with a reaction that waits until their customer has an EXTERNAL identifier. */
export class WaitingEvents1764000000018 implements MigrationInterface {
  readonly name = 'WaitingEvents1764000000018';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // The profile is the event's own, so that a merge or its undoing changes nothing; the order is that of the queue.
    await runner.query(`CREATE TABLE waiting_events (
      tenant_id uuid NOT NULL,
      profile_id uuid NOT NULL,
      queued_at timestamptz NOT NULL,
      position integer NOT NULL,
      event_id uuid NOT NULL,
      queued_for uuid NOT NULL,
      CONSTRAINT waiting_events_pkey PRIMARY KEY (tenant_id, profile_id, queued_at, position, event_id)
    ) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`);
    // How those are found that have waited long enough.
    await runner.query(
      `CREATE INDEX waiting_events_queued_idx ON waiting_events (tenant_id, queued_at) WHERE queued_at > '-infinity'`,
    );
    // Null: the event has been in the queue since queued_at.
    await runner.query(`ALTER TABLE event_queue ADD COLUMN released_at timestamptz`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE event_queue DROP COLUMN released_at`);
    await runner.query(`DROP TABLE waiting_events`);
  }
}
