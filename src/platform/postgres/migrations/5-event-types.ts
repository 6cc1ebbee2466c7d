import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Event types as people read them: listed newest first, and each version with its properties in the order in which they were
 * written, which jsonb forgets and json keeps. Nothing searches in definitions.
 */
export class EventTypes1764000000004 implements MigrationInterface {
  readonly name = 'EventTypes1764000000004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE event_type_versions ALTER COLUMN definition TYPE json USING definition::json');
    await runner.query(`CREATE INDEX event_types_created_idx ON event_types (tenant_id, created_at, event_type)
      WHERE created_at > '-infinity'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX event_types_created_idx');
    await runner.query('ALTER TABLE event_type_versions ALTER COLUMN definition TYPE jsonb USING definition::jsonb');
  }
}
