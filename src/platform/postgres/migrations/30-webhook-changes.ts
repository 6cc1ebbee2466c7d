import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Changes of values that are sent to endpoints. */
export class WebhookChanges1764000000029 implements MigrationInterface {
  readonly name = 'WebhookChanges1764000000029';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // A rule is for a type of events, or for the changes of a variable.
    await runner.query(`ALTER TABLE webhook_rules ALTER COLUMN event_type DROP NOT NULL`);
    await runner.query(`ALTER TABLE webhook_rules ADD COLUMN change_scope text`);
    await runner.query(`ALTER TABLE webhook_rules ADD COLUMN change_name text`);
    await runner.query(`ALTER TABLE webhook_rules ADD COLUMN change_campaign_id text`);
    // True: event_id is the id of a change, and profile_id the queue of its participant or variable.
    await runner.query(`ALTER TABLE webhook_deliveries ADD COLUMN is_change boolean NOT NULL DEFAULT false`);
    // A row for each change that an endpoint gets, written in its transaction. endpoint_ids is set until the deliveries
    // are added. The subject is that of the participant whom the change is about; empty: nobody, or an erased person.
    await runner.query(`CREATE TABLE webhook_changes (
      tenant_id uuid NOT NULL,
      id uuid NOT NULL,
      at timestamptz NOT NULL,
      position integer NOT NULL,
      queue_id uuid NOT NULL,
      subject text NOT NULL,
      change json NOT NULL,
      endpoint_ids uuid[],
      CONSTRAINT webhook_changes_pkey PRIMARY KEY (tenant_id, id)
    ) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
      autovacuum_vacuum_insert_scale_factor = 0.05)`);
    // What is to be added, in the order of the changes of each value. Queries by key cannot use it.
    await runner.query(`CREATE INDEX webhook_changes_waiting_idx ON webhook_changes (tenant_id, at, position, id)
      WHERE endpoint_ids IS NOT NULL`);
    // How the export and the erasure of a person find them.
    await runner.query(`CREATE INDEX webhook_changes_subject_idx ON webhook_changes (tenant_id, subject, id)
      WHERE subject <> ''`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE webhook_changes`);
    await runner.query(`ALTER TABLE webhook_deliveries DROP COLUMN is_change`);
    for (const column of ['change_scope', 'change_name', 'change_campaign_id']) {
      await runner.query(`ALTER TABLE webhook_rules DROP COLUMN ${column}`);
    }
    await runner.query(`DELETE FROM webhook_rules WHERE event_type IS NULL`);
    await runner.query(`ALTER TABLE webhook_rules ALTER COLUMN event_type SET NOT NULL`);
  }
}
