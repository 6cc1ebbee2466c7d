import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The customer's timeline, merges that can be undone, and who has seen what views mask. */
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
  // Which identifiers met: of merges that were logged before, the roots of that time are as near as one can come.
  `ALTER TABLE profile_merges ADD COLUMN from_evidence_id uuid, ADD COLUMN into_evidence_id uuid`,
  `UPDATE profile_merges SET from_evidence_id = from_profile_id, into_evidence_id = into_profile_id`,
  `ALTER TABLE profile_merges ALTER COLUMN from_evidence_id SET NOT NULL, ALTER COLUMN into_evidence_id SET NOT NULL`,
  `DROP INDEX profile_merges_undone_idx`,
  `CREATE INDEX profile_merges_undone_idx ON profile_merges (tenant_id, from_evidence_id) WHERE undone_at IS NOT NULL`,
  `CREATE INDEX profile_merges_from_idx ON profile_merges (tenant_id, from_evidence_id) WHERE merged_at > '-infinity'`,
  `CREATE INDEX profile_merges_into_idx ON profile_merges (tenant_id, into_evidence_id) WHERE merged_at > '-infinity'`,
  `CREATE TABLE unmask_audit (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    at timestamptz NOT NULL,
    by text NOT NULL,
    address text,
    what text NOT NULL,
    CONSTRAINT unmask_audit_pkey PRIMARY KEY (tenant_id, id)
  )`,
];

const DOWN = [
  `DROP TABLE unmask_audit`,
  `DROP INDEX profile_merges_into_idx`,
  `DROP INDEX profile_merges_from_idx`,
  `DROP INDEX profile_merges_undone_idx`,
  `CREATE INDEX profile_merges_undone_idx ON profile_merges (tenant_id, from_profile_id) WHERE undone_at IS NOT NULL`,
  `ALTER TABLE profile_merges DROP COLUMN from_evidence_id, DROP COLUMN into_evidence_id`,
  `DROP INDEX events_timeline_idx`,
];
