import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The customer's timeline. */
export class Profiles1764000000006 implements MigrationInterface {
  readonly name = 'Profiles1764000000006';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}

const UP = [
  // A page of a timeline is a range of it, and so is the number of a customer's events.
  `CREATE INDEX events_timeline_idx ON events (tenant_id, profile_id, occurred_at, event_id)
    WHERE occurred_at > '-infinity'`,
];

const DOWN = [`DROP INDEX events_timeline_idx`];
