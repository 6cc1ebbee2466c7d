import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When an endpoint was last enabled by a request: the attempts at a delivery are counted from then on. */
export class WebhooksEnabledAt1764000000035 implements MigrationInterface {
  readonly name = 'WebhooksEnabledAt1764000000035';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    await runner.query(`ALTER TABLE webhook_endpoints ADD COLUMN enabled_at timestamptz`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE webhook_endpoints DROP COLUMN enabled_at`);
  }
}
