import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What campaigns declare; the values themselves come with the runtime. */
export class Variables1764000000002 implements MigrationInterface {
  readonly name = 'Variables1764000000002';

  async up(runner: QueryRunner): Promise<void> {
    // The parent row is what all changes of a campaign's declarations queue up behind, so that counting them is exact.
    await runner.query(`CREATE TABLE campaigns (
      tenant_id uuid NOT NULL,
      campaign_id text NOT NULL,
      created_at timestamptz NOT NULL,
      CONSTRAINT campaigns_pkey PRIMARY KEY (tenant_id, campaign_id)
    )`);
    await runner.query(`CREATE TABLE variables (
      tenant_id uuid NOT NULL,
      campaign_id text NOT NULL,
      scope text NOT NULL,
      name text NOT NULL,
      type text NOT NULL,
      default_value jsonb,
      description text,
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      archived_at timestamptz,
      CONSTRAINT variables_pkey PRIMARY KEY (tenant_id, campaign_id, scope, name)
    )`);
    // Counting and listing look at what is declared now, however much was archived before.
    await runner.query(
      `CREATE INDEX variables_active_idx ON variables (tenant_id, campaign_id, scope) WHERE archived_at IS NULL`,
    );
    // A row is never changed and never goes: the values of a name that all campaigns have archived are kept.
    await runner.query(`CREATE TABLE app_variables (
      tenant_id uuid NOT NULL,
      name text NOT NULL,
      type text NOT NULL,
      CONSTRAINT app_variables_pkey PRIMARY KEY (tenant_id, name)
    )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['app_variables', 'variables', 'campaigns']) await runner.query(`DROP TABLE ${table}`);
  }
}
