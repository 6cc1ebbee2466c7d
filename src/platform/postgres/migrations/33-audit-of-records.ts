import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which customers an unmasked read has shown, and the index by which the audit log lists what was done to one record.
 */
export class AuditOfRecords1764000000032 implements MigrationInterface {
  readonly name = 'AuditOfRecords1764000000032';
  /** In steps: the version before serves meanwhile. Every step may be repeated. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // Its key is the order in which the entries of a customer are listed.
    await runner.query(`CREATE TABLE IF NOT EXISTS unmasked_customers (
      tenant_id uuid NOT NULL,
      profile_id uuid NOT NULL,
      at timestamptz NOT NULL,
      id uuid NOT NULL,
      CONSTRAINT unmasked_customers_pkey PRIMARY KEY (tenant_id, profile_id, at, id)
    )`);
    // Requests for customers name them in their path or behind it. Those for events name events only.
    await runner.query(`
      INSERT INTO unmasked_customers (tenant_id, profile_id, at, id)
      SELECT tenant_id, named[1]::uuid, at, id
      FROM unmask_audit, regexp_matches(what, '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}', 'g') AS named
      WHERE what LIKE '% /v1/cdp/profiles%'
      ON CONFLICT DO NOTHING`);
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS audit_log_record_idx`);
    await runner.query(`SET lock_timeout = 0`);
    await runner.query(`CREATE INDEX CONCURRENTLY audit_log_record_idx
      ON audit_log (tenant_id, record_id, at, id) WHERE at > '-infinity'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX audit_log_record_idx`);
    await runner.query(`DROP TABLE unmasked_customers`);
  }
}
