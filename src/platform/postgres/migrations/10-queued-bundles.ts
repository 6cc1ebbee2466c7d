import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One entry in the queue for all the events of a commit that nothing is done with. */
export class QueuedBundles1764000000009 implements MigrationInterface {
  readonly name = 'QueuedBundles1764000000009';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // Null: the event has an entry of its own.
    await runner.query(`ALTER TABLE events ADD COLUMN queue_bundle_id uuid`);
    await runner.query(`CREATE TABLE queued_bundles (
      tenant_id uuid NOT NULL,
      id uuid NOT NULL,
      queued_at timestamptz NOT NULL,
      events integer NOT NULL,
      CONSTRAINT queued_bundles_pkey PRIMARY KEY (tenant_id, id)
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`);
    // A row is written when a bundle leaves the queue, and never again.
    await runner.query(`CREATE TABLE processed_bundles (
      tenant_id uuid NOT NULL,
      id uuid NOT NULL,
      processed_at timestamptz NOT NULL,
      CONSTRAINT processed_bundles_pkey PRIMARY KEY (tenant_id, id)
    ) WITH (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_freeze_min_age = 0)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['processed_bundles', 'queued_bundles']) await runner.query(`DROP TABLE ${table}`);
    await runner.query(`ALTER TABLE events DROP COLUMN queue_bundle_id`);
  }
}
