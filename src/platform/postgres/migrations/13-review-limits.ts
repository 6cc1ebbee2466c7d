import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What bounds the review area, the key under which its ids are made, and how far an erasure has got. */
export class ReviewLimits1764000000012 implements MigrationInterface {
  readonly name = 'ReviewLimits1764000000012';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // Null: the payload is kept whole, or was kept before there was a limit.
    await runner.query(`ALTER TABLE review_entries ADD COLUMN payload_state text`);
    // One row for each connection that writes, so that none of them ever waits for another one's lock.
    await runner.query(`CREATE TABLE review_bytes (
      tenant_id uuid NOT NULL,
      day date NOT NULL,
      backend integer NOT NULL,
      bytes bigint NOT NULL,
      CONSTRAINT review_bytes_pkey PRIMARY KEY (tenant_id, day, backend)
    ) WITH (fillfactor = 50)`);
    // Of the whole installation: the same for all of its processes, and in no answer of the API.
    await runner.query(`CREATE TABLE installation_keys (
      purpose text NOT NULL,
      key bytea NOT NULL,
      CONSTRAINT installation_keys_pkey PRIMARY KEY (purpose)
    )`);
    await runner.query(`ALTER TABLE erasures ADD COLUMN progress jsonb, ADD COLUMN worked_at timestamptz`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE erasures DROP COLUMN worked_at, DROP COLUMN progress`);
    for (const table of ['installation_keys', 'review_bytes']) await runner.query(`DROP TABLE ${table}`);
    await runner.query(`ALTER TABLE review_entries DROP COLUMN payload_state`);
  }
}
