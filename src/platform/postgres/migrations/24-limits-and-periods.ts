import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the values of variables must keep to, and to which period a stored value belongs. */
export class LimitsAndPeriods1764000000023 implements MigrationInterface {
  readonly name = 'LimitsAndPeriods1764000000023';
  /** An index that is built CONCURRENTLY cannot be in a transaction. Every statement may be repeated. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    await runner.query(`ALTER TABLE variables
      ADD COLUMN IF NOT EXISTS min double precision,
      ADD COLUMN IF NOT EXISTS max double precision,
      ADD COLUMN IF NOT EXISTS period jsonb`);
    await runner.query(`ALTER TABLE campaigns ADD COLUMN IF NOT EXISTS version bigint NOT NULL DEFAULT 0`);
    // By name, the beginning of the period in epoch milliseconds; null: no value belongs to a period.
    await runner.query(`ALTER TABLE participant_states ADD COLUMN IF NOT EXISTS periods jsonb`);
    await runner.query(`ALTER TABLE shared_values ADD COLUMN IF NOT EXISTS period_start timestamptz`);
    // A build that was interrupted leaves an index that is not valid.
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS variables_app_idx`);
    await runner.query(`SET lock_timeout = 0`);
    await runner.query(
      `CREATE INDEX CONCURRENTLY variables_app_idx ON variables (tenant_id, name) WHERE scope = 'app'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX variables_app_idx`);
    await runner.query(`ALTER TABLE shared_values DROP COLUMN period_start`);
    await runner.query(`ALTER TABLE participant_states DROP COLUMN periods`);
    await runner.query(`ALTER TABLE campaigns DROP COLUMN version`);
    await runner.query(`ALTER TABLE variables DROP COLUMN min, DROP COLUMN max, DROP COLUMN period`);
  }
}
