import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What persons may do who have signed in at an identity provider. */
export class ConsoleOidcGrants1764000000027 implements MigrationInterface {
  readonly name = 'ConsoleOidcGrants1764000000027';

  async up(runner: QueryRunner): Promise<void> {
    // Rewritten in place each minute while somebody works.
    await runner.query(`CREATE TABLE console_oidc_grants (
      tenant_id uuid NOT NULL,
      id uuid NOT NULL,
      subject text NOT NULL,
      name text NOT NULL,
      scopes text[] NOT NULL,
      token bytea NOT NULL,
      renewed_at timestamptz NOT NULL,
      renewing_until timestamptz,
      CONSTRAINT console_oidc_grants_pkey PRIMARY KEY (tenant_id, id)
    ) WITH (fillfactor = 50)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE console_oidc_grants');
  }
}
