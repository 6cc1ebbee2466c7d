import type { MigrationInterface, QueryRunner } from 'typeorm';

const SIDES_INDEX = 'undone_merge_sides_merge_idx';

/** How an erasure finds the events of other customers that name the person. */
export class UnlinkedIdentifiers1764000000036 implements MigrationInterface {
  readonly name = 'UnlinkedIdentifiers1764000000036';
  /** In steps: the version before serves meanwhile. Every step may be repeated. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    await runner.query(`CREATE TABLE IF NOT EXISTS unlinked_identifiers (
      tenant_id uuid NOT NULL,
      kind text NOT NULL,
      value text NOT NULL,
      event_id uuid NOT NULL,
      CONSTRAINT unlinked_identifiers_pkey PRIMARY KEY (tenant_id, kind, value, event_id)
    )`);
    // Rows go with their event.
    await runner.query(
      `CREATE INDEX IF NOT EXISTS unlinked_identifiers_event_idx ON unlinked_identifiers (tenant_id, event_id)
       WHERE kind <> ''`,
    );
    // The other side of an undone merge. A build that was interrupted leaves an index that is not valid.
    await runner.query(`DROP INDEX CONCURRENTLY IF EXISTS ${SIDES_INDEX}`);
    await runner.query(`SET lock_timeout = 0`);
    await runner.query(
      `CREATE INDEX CONCURRENTLY ${SIDES_INDEX} ON undone_merge_sides (tenant_id, merge_id) WHERE side <> ''`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX ${SIDES_INDEX}`);
    await runner.query(`DROP TABLE unlinked_identifiers`);
  }
}
