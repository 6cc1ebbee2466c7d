import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The secret before the previous one signs too, until its own end. */
export class OlderWebhookSecret1764000000034 implements MigrationInterface {
  readonly name = 'OlderWebhookSecret1764000000034';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    await runner.query(`ALTER TABLE webhook_endpoints ADD COLUMN older_secret bytea`);
    await runner.query(`ALTER TABLE webhook_endpoints ADD COLUMN older_secret_until timestamptz`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE webhook_endpoints DROP COLUMN older_secret_until, DROP COLUMN older_secret`);
  }
}
