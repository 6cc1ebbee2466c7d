import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which key the database is used with, and when review entries were closed. */
export class SecretsKeyCheck1764000000015 implements MigrationInterface {
  readonly name = 'SecretsKeyCheck1764000000015';
  /** An index that is built CONCURRENTLY cannot be in a transaction. Every statement may be repeated. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    // One row, for the whole installation: tenant_id is the nil UUID, which no workspace has.
    await runner.query(`CREATE TABLE IF NOT EXISTS secrets_key_checks (
      tenant_id uuid NOT NULL,
      check_value bytea NOT NULL,
      created_at timestamptz NOT NULL,
      CONSTRAINT secrets_key_checks_pkey PRIMARY KEY (tenant_id)
    )`);
    await runner.query(`SET lock_timeout = '2s'`);
    // Null: the entry is open, or a version that does not know the column has closed it.
    await runner.query(`ALTER TABLE review_entries ADD COLUMN IF NOT EXISTS closed_at timestamptz`);
    await runner.query(`SET lock_timeout = 0`);
    // A build that was interrupted leaves an index that is not valid.
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS review_entries_closed_idx`);
    await runner.query(`CREATE INDEX CONCURRENTLY review_entries_closed_idx ON review_entries (tenant_id, closed_at)
      WHERE status <> 'open'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX review_entries_closed_idx`);
    await runner.query(`ALTER TABLE review_entries DROP COLUMN closed_at`);
    await runner.query(`DROP TABLE secrets_key_checks`);
  }
}
