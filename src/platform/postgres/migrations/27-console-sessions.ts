import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sessions of the console. */
export class ConsoleSessions1764000000026 implements MigrationInterface {
  readonly name = 'ConsoleSessions1764000000026';

  async up(runner: QueryRunner): Promise<void> {
    // `used_at` is rewritten in place while somebody works.
    await runner.query(`CREATE TABLE console_sessions (
      tenant_id uuid NOT NULL,
      id uuid NOT NULL,
      secret_hash bytea NOT NULL,
      via text NOT NULL,
      grant_id uuid NOT NULL,
      created_at timestamptz NOT NULL,
      used_at timestamptz NOT NULL,
      proven_at timestamptz,
      CONSTRAINT console_sessions_pkey PRIMARY KEY (tenant_id, id),
      CONSTRAINT console_sessions_secret_hash_key UNIQUE (secret_hash)
    ) WITH (fillfactor = 50)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE console_sessions');
  }
}
