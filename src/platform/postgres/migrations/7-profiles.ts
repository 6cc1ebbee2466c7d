import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The customer's timeline, merges that can be undone, who has seen what views mask, and persons who were erased. */
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
  // One row a customer who was erased, by its root: what a killed erasure is found again by.
  `CREATE TABLE erasures (
    tenant_id uuid NOT NULL,
    profile_id uuid NOT NULL,
    erased_at timestamptz NOT NULL,
    by text NOT NULL,
    address text,
    finished_at timestamptz,
    CONSTRAINT erasures_pkey PRIMARY KEY (tenant_id, profile_id)
  )`,
  `CREATE INDEX erasures_unfinished_idx ON erasures (tenant_id, profile_id) WHERE finished_at IS NULL`,
  // What is left of the identifiers: a hash under SECRETS_KEY each, and which of them were one person's.
  `CREATE TABLE erased_identifiers (
    tenant_id uuid NOT NULL,
    hash bytea NOT NULL,
    profile_id uuid NOT NULL,
    erased_at timestamptz NOT NULL,
    CONSTRAINT erased_identifiers_pkey PRIMARY KEY (tenant_id, hash)
  )`,
  `CREATE INDEX erased_identifiers_profile_idx ON erased_identifiers (tenant_id, profile_id)
    WHERE erased_at > '-infinity'`,
];

const DOWN = [
  `DROP TABLE erased_identifiers`,
  `DROP TABLE erasures`,
  `DROP TABLE unmask_audit`,
  `DROP INDEX profile_merges_into_idx`,
  `DROP INDEX profile_merges_from_idx`,
  `DROP INDEX profile_merges_undone_idx`,
  `CREATE INDEX profile_merges_undone_idx ON profile_merges (tenant_id, from_profile_id) WHERE undone_at IS NOT NULL`,
  `ALTER TABLE profile_merges DROP COLUMN from_evidence_id, DROP COLUMN into_evidence_id`,
  `DROP INDEX events_timeline_idx`,
];
