import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The orders of the list of campaigns and of the audit log: each has an index of its own. */
const INDEXES = [
  ['campaigns_created_idx', 'campaigns (tenant_id, created_at, campaign_id)', 'created_at'],
  ['api_key_audit_at_idx', 'api_key_audit (tenant_id, at, id)', 'at'],
  ['unmask_audit_at_idx', 'unmask_audit (tenant_id, at, id)', 'at'],
  ['erasures_erased_idx', 'erasures (tenant_id, erased_at, profile_id)', 'erased_at'],
] as const;

/** What lists campaigns and the audit log, and what was done to issuers and service credentials. */
export class CampaignListAndAuditLog1764000000031 implements MigrationInterface {
  readonly name = 'CampaignListAndAuditLog1764000000031';
  /** In steps: the version before serves meanwhile. Every step may be repeated. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // Of keys, unmasked reads and erasures there are tables already. Its own key is the order in which it is listed.
    await runner.query(`CREATE TABLE IF NOT EXISTS audit_log (
      tenant_id uuid NOT NULL,
      kind text NOT NULL,
      at timestamptz NOT NULL,
      id uuid NOT NULL,
      action text NOT NULL,
      record_id text NOT NULL,
      name text NOT NULL,
      by text NOT NULL,
      address text,
      CONSTRAINT audit_log_pkey PRIMARY KEY (tenant_id, kind, at, id)
    )`);
    for (const [name] of INDEXES) {
      // A build that was interrupted leaves an index that is not valid.
      await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    }
    await runner.query(`SET lock_timeout = 0`);
    for (const [name, columns, time] of INDEXES) {
      await runner.query(`CREATE INDEX CONCURRENTLY ${name} ON ${columns} WHERE ${time} > '-infinity'`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name] of INDEXES) await runner.query(`DROP INDEX ${name}`);
    await runner.query(`DROP TABLE audit_log`);
  }
}
