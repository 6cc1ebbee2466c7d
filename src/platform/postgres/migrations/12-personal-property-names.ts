import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The names of a version's personal properties beside its definition: a page of views asks for those of all types. */
export class PersonalPropertyNames1764000000011 implements MigrationInterface {
  readonly name = 'PersonalPropertyNames1764000000011';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`SET lock_timeout = '2s'`);
    // Null: written by a version of the service that did not know it; they stand in the definition.
    await runner.query(`ALTER TABLE event_type_versions ADD COLUMN personal_properties text[]`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE event_type_versions DROP COLUMN personal_properties`);
  }
}
