import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Several workspaces may register the same issuer and audience, each of them once (docs/adr/0043). Every step may be repeated:
 * what is done outside a transaction can stop half way.
 */
export class SharedIssuers1764000000013 implements MigrationInterface {
  readonly name = 'SharedIssuers1764000000013';
  /** Indexes that are built beside the traffic cannot be in one. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // Building an index waits for others without anybody waiting for it, so it may take its time.
    await runner.query(`SET lock_timeout = 0`);
    await this.addOwnKey(runner);
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS jwt_issuers_pair_idx`);
    await runner.query(`CREATE INDEX CONCURRENTLY jwt_issuers_pair_idx ON jwt_issuers (issuer, audience, created_at)
      WHERE created_at > '-infinity'`);
    await runner.query(`SET lock_timeout = '2s'`);
    await runner.query(`ALTER TABLE jwt_issuers DROP CONSTRAINT IF EXISTS jwt_issuers_issuer_audience_key`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE jwt_issuers ADD CONSTRAINT jwt_issuers_issuer_audience_key UNIQUE (issuer, audience)`,
    );
    await runner.query(`ALTER TABLE jwt_issuers DROP CONSTRAINT jwt_issuers_tenant_issuer_audience_key`);
    await runner.query(`DROP INDEX jwt_issuers_pair_idx`);
  }

  private async addOwnKey(runner: QueryRunner): Promise<void> {
    const found: unknown = await runner.query(
      `SELECT 1 FROM pg_constraint WHERE conname = 'jwt_issuers_tenant_issuer_audience_key'`,
    );
    if (Array.isArray(found) && found.length > 0) return;
    // What was left half built is of no use.
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS jwt_issuers_tenant_issuer_audience_key`);
    await runner.query(`CREATE UNIQUE INDEX CONCURRENTLY jwt_issuers_tenant_issuer_audience_key
      ON jwt_issuers (tenant_id, issuer, audience)`);
    await runner.query(`SET lock_timeout = '2s'`);
    await runner.query(`ALTER TABLE jwt_issuers ADD CONSTRAINT jwt_issuers_tenant_issuer_audience_key
      UNIQUE USING INDEX jwt_issuers_tenant_issuer_audience_key`);
    await runner.query(`SET lock_timeout = 0`);
  }
}
