import type { MigrationInterface, QueryRunner } from 'typeorm';

const INDEX = 'review_entries_fields_idx';

/** Review entries of a stage are counted by an index, too. */
export class ReviewStages1764000000037 implements MigrationInterface {
  readonly name = 'ReviewStages1764000000037';
  /** An index that is built CONCURRENTLY cannot be in a transaction. Every step may be repeated. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // A build that was interrupted leaves an index that is not valid.
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${INDEX}`);
    // Both wait for older transactions, and delay nobody meanwhile.
    await runner.query(`SET lock_timeout = 0`);
    await runner.query(`CREATE INDEX CONCURRENTLY ${INDEX}
      ON review_entries (tenant_id, status, reason, source, event_type, stage) WHERE first_seen_at > '-infinity'`);
    // It begins with the columns of this one.
    await runner.query('DROP INDEX CONCURRENTLY IF EXISTS review_entries_counts_idx');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX IF NOT EXISTS review_entries_counts_idx
      ON review_entries (tenant_id, status, reason, source, event_type) WHERE first_seen_at > '-infinity'`);
    await runner.query(`DROP INDEX ${INDEX}`);
  }
}
