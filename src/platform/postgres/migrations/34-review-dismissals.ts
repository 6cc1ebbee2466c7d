import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Bulk dismissals of review entries. */
export class ReviewDismissals1764000000033 implements MigrationInterface {
  readonly name = 'ReviewDismissals1764000000033';

  async up(runner: QueryRunner): Promise<void> {
    // The progress is rewritten in place with each step.
    await runner.query(`CREATE TABLE review_dismissals (
      tenant_id uuid NOT NULL,
      id uuid NOT NULL,
      filter jsonb NOT NULL,
      note text,
      state text NOT NULL,
      total integer NOT NULL,
      dismissed integer NOT NULL,
      position uuid NOT NULL,
      created_at timestamptz NOT NULL,
      created_by text NOT NULL,
      finished_at timestamptz,
      CONSTRAINT review_dismissals_pkey PRIMARY KEY (tenant_id, id)
    ) WITH (fillfactor = 50)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE review_dismissals`);
  }
}
