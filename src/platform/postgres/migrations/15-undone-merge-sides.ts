import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Everybody whom an undone merge parted, and on which side they were. */
export class UndoneMergeSides1764000000014 implements MigrationInterface {
  readonly name = 'UndoneMergeSides1764000000014';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE TABLE undone_merge_sides (
      tenant_id uuid NOT NULL,
      profile_id uuid NOT NULL,
      merge_id uuid NOT NULL,
      side text NOT NULL,
      CONSTRAINT undone_merge_sides_pkey PRIMARY KEY (tenant_id, profile_id, merge_id)
    )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE undone_merge_sides`);
  }
}
