import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What makes campaigns react to events. */
export class Reactions1764000000008 implements MigrationInterface {
  readonly name = 'Reactions1764000000008';

  async up(runner: QueryRunner): Promise<void> {
    // json and not jsonb: a condition is answered in the order in which it was written.
    await runner.query(`CREATE TABLE reactions (
      tenant_id uuid NOT NULL,
      campaign_id text NOT NULL,
      name text NOT NULL,
      id uuid NOT NULL,
      event_type text NOT NULL,
      source text,
      condition json,
      operations json NOT NULL,
      enabled boolean NOT NULL,
      applies_from timestamptz NOT NULL,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      CONSTRAINT reactions_pkey PRIMARY KEY (tenant_id, campaign_id, name)
    )`);
    // How workers find those that an event is for.
    await runner.query(
      `CREATE INDEX reactions_event_type_idx ON reactions (tenant_id, event_type, id) WHERE created_at > '-infinity'`,
    );
    // One row a workspace, rewritten in place with every change; workers read it with every batch.
    await runner.query(`CREATE TABLE reaction_sets (
      tenant_id uuid NOT NULL,
      version bigint NOT NULL,
      CONSTRAINT reaction_sets_pkey PRIMARY KEY (tenant_id)
    ) WITH (fillfactor = 50)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['reaction_sets', 'reactions']) await runner.query(`DROP TABLE ${table}`);
  }
}
