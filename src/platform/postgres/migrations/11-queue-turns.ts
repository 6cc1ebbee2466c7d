import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What workers write down before they begin, so that a turn that is cut off counts as an attempt. */
export class QueueTurns1764000000010 implements MigrationInterface {
  readonly name = 'QueueTurns1764000000010';

  async up(runner: QueryRunner): Promise<void> {
    // One row a shard of a workspace, rewritten in place by each turn. entries is 0 where the last turn has ended.
    await runner.query(`CREATE TABLE queue_turns (
      tenant_id uuid NOT NULL,
      shard smallint NOT NULL,
      turn_id uuid NOT NULL,
      entries integer NOT NULL,
      event_id uuid,
      CONSTRAINT queue_turns_pkey PRIMARY KEY (tenant_id, shard)
    ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE queue_turns');
  }
}
