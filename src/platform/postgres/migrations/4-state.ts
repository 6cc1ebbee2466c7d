import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * What participants read and change. A participant's own values are one document; each value of a campaign or an app is a
 * row, so that a counter everybody adds to costs one small row version a batch. Room is left on the pages for new versions
 * beside the old ones, and vacuuming comes after few of them.
 */
export class State1764000000003 implements MigrationInterface {
  readonly name = 'State1764000000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE participant_states (
      tenant_id uuid NOT NULL,
      subject text NOT NULL,
      campaign_id text NOT NULL,
      values jsonb NOT NULL,
      system jsonb NOT NULL,
      updated_at timestamptz NOT NULL,
      CONSTRAINT participant_states_pkey PRIMARY KEY (tenant_id, subject, campaign_id)
    ) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500)`);
    // owner_id is the campaign or the app. The value is null between the first look at it and the first write.
    await runner.query(`CREATE TABLE shared_values (
      tenant_id uuid NOT NULL,
      scope text NOT NULL,
      owner_id text NOT NULL,
      name text NOT NULL,
      value jsonb,
      updated_at timestamptz NOT NULL,
      CONSTRAINT shared_values_pkey PRIMARY KEY (tenant_id, scope, owner_id, name)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200)`);
    // In weekly partitions, which the runtime makes ahead and drops when they are old (outcome-partitions.ts). mutations is
    // json and not jsonb: a repetition is answered with the text of the first answer.
    await runner.query(`CREATE TABLE mutation_outcomes (
      tenant_id uuid NOT NULL,
      subject text NOT NULL,
      campaign_id text NOT NULL,
      mutation_key text NOT NULL,
      created_at timestamptz NOT NULL,
      fingerprint bytea NOT NULL,
      mutations json NOT NULL,
      work_id uuid NOT NULL,
      CONSTRAINT mutation_outcomes_pkey PRIMARY KEY (tenant_id, subject, campaign_id, mutation_key, created_at)
    ) PARTITION BY RANGE (created_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['mutation_outcomes', 'shared_values', 'participant_states']) {
      await runner.query(`DROP TABLE ${table}`);
    }
  }
}
