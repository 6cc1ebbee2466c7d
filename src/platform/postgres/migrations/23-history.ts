import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The history of stored values: an entry for each change, written in its transaction. */
export class History1764000000022 implements MigrationInterface {
  readonly name = 'History1764000000022';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // In weekly partitions by stored_at, the time of the outcome clock (weekly-partitions.ts). The order is that of at and
    // position. The subject is empty for values that participants share; changed_by is empty unless a participant
    // changed one of them.
    await runner.query(`CREATE TABLE value_changes (
      tenant_id uuid NOT NULL,
      subject text NOT NULL,
      scope text NOT NULL,
      owner_id text NOT NULL,
      name text NOT NULL,
      at timestamptz NOT NULL,
      position integer NOT NULL,
      stored_at timestamptz NOT NULL,
      op text NOT NULL,
      previous json,
      current json NOT NULL,
      cause json NOT NULL,
      changed_by text NOT NULL,
      period_start timestamptz,
      CONSTRAINT value_changes_pkey
        PRIMARY KEY (tenant_id, subject, scope, owner_id, name, at, position, stored_at)
    ) PARTITION BY RANGE (stored_at)`);
    // How the export and the erasure of a person find changes of shared values.
    await runner.query(
      `CREATE INDEX value_changes_changed_by_idx ON value_changes (tenant_id, changed_by, at) WHERE changed_by <> ''`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE value_changes`);
  }
}
