import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replays: events of a time range that are delivered to a webhook again. */
export class WebhookReplays1764000000028 implements MigrationInterface {
  readonly name = 'WebhookReplays1764000000028';

  async up(runner: QueryRunner): Promise<void> {
    // The progress is rewritten in place with each step. The key is also the order of an endpoint's list.
    await runner.query(`CREATE TABLE webhook_replays (
      tenant_id uuid NOT NULL,
      endpoint_id uuid NOT NULL,
      id uuid NOT NULL,
      rules_hash text NOT NULL,
      received_from timestamptz NOT NULL,
      received_to timestamptz NOT NULL,
      state text NOT NULL,
      reason text,
      phase text NOT NULL,
      attempts integer NOT NULL,
      total integer NOT NULL,
      scanned integer NOT NULL,
      queued integer NOT NULL,
      already_queued integer NOT NULL,
      skipped integer NOT NULL,
      failed integer NOT NULL,
      expired integer NOT NULL,
      cursor_received_at timestamptz NOT NULL,
      cursor_occurred_at timestamptz NOT NULL,
      cursor_event_id uuid NOT NULL,
      requested_at timestamptz NOT NULL,
      requested_by text NOT NULL,
      started_at timestamptz,
      finished_at timestamptz,
      CONSTRAINT webhook_replays_pkey PRIMARY KEY (tenant_id, endpoint_id, id)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE webhook_replays`);
  }
}
