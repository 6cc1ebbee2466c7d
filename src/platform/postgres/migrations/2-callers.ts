import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who may call beside API keys: the issuers of participants' tokens, and credentials that sign requests. */
export class Callers1764000000001 implements MigrationInterface {
  readonly name = 'Callers1764000000001';

  async up(runner: QueryRunner): Promise<void> {
    // (issuer, audience) is unique by itself: a token names its workspace by the two, before the workspace is known.
    await runner.query(`CREATE TABLE jwt_issuers (
      tenant_id uuid NOT NULL,
      id uuid NOT NULL,
      issuer text NOT NULL,
      audience text NOT NULL,
      algorithms text[] NOT NULL,
      jwks_uri text,
      jwks jsonb,
      secret bytea,
      campaign_claim text NOT NULL,
      app_claim text NOT NULL,
      default_campaign_id text,
      allowed_campaign_ids text[],
      clock_tolerance_seconds integer NOT NULL,
      origin text NOT NULL,
      created_at timestamptz NOT NULL,
      created_by text NOT NULL,
      CONSTRAINT jwt_issuers_pkey PRIMARY KEY (tenant_id, id),
      CONSTRAINT jwt_issuers_issuer_audience_key UNIQUE (issuer, audience)
    )`);
    // id is unique by itself: a signature names its credential before the workspace is known.
    await runner.query(`CREATE TABLE service_credentials (
      tenant_id uuid NOT NULL,
      id uuid NOT NULL,
      name text NOT NULL,
      algorithm text NOT NULL,
      public_key text,
      secret bytea,
      created_at timestamptz NOT NULL,
      created_by text NOT NULL,
      last_used_at timestamptz,
      revoked_at timestamptz,
      CONSTRAINT service_credentials_pkey PRIMARY KEY (tenant_id, id),
      CONSTRAINT service_credentials_id_key UNIQUE (id)
    ) WITH (fillfactor = 85)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE service_credentials');
    await runner.query('DROP TABLE jwt_issuers');
  }
}
