import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a declaration has replaced, until the stored values are known to keep to its limits. */
export class ConfirmedLimits1764000000030 implements MigrationInterface {
  readonly name = 'ConfirmedLimits1764000000030';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // Null: there is nothing to confirm.
    await runner.query(`ALTER TABLE variables ADD COLUMN replaced jsonb`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE variables DROP COLUMN replaced`);
  }
}
