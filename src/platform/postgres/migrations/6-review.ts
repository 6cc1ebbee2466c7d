import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Replay of what the review area keeps, and the jobs that carry it out. */
export class Review1764000000005 implements MigrationInterface {
  readonly name = 'Review1764000000005';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE cds_jobs.heartbeats');
    await runner.query('DROP TABLE review_replay_pieces');
    await runner.query('DROP TABLE review_replays');
    await runner.query('DROP INDEX review_entries_counts_idx');
  }
}

const STATEMENTS = [
  // Counted without touching the rows. The longest entry has 2,200 bytes, which a page of an index takes.
  `CREATE INDEX review_entries_counts_idx ON review_entries (tenant_id, status, reason, source, event_type)
    WHERE first_seen_at > '-infinity'`,
  // How far a replay has got; it goes on in the transactions that change the pieces.
  `CREATE TABLE review_replays (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    filter jsonb NOT NULL,
    sources text[],
    state text NOT NULL,
    total integer NOT NULL,
    accepted integer NOT NULL,
    duplicate integer NOT NULL,
    failed integer NOT NULL,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    finished_at timestamptz,
    CONSTRAINT review_replays_pkey PRIMARY KEY (tenant_id, id)
  ) WITH (fillfactor = 85)`,
  // What is left to do; a piece is gone once its entries are counted.
  `CREATE TABLE review_replay_pieces (
    tenant_id uuid NOT NULL,
    replay_id uuid NOT NULL,
    position integer NOT NULL,
    entry_ids uuid[] NOT NULL,
    CONSTRAINT review_replay_pieces_pkey PRIMARY KEY (tenant_id, replay_id, position)
  )`,
  // The job library makes its own tables in this schema; this one tells which of its workers are alive.
  `CREATE SCHEMA IF NOT EXISTS cds_jobs`,
  `CREATE TABLE cds_jobs.heartbeats (
    worker_id text NOT NULL,
    seen_at timestamptz NOT NULL,
    CONSTRAINT heartbeats_pkey PRIMARY KEY (worker_id)
  ) WITH (fillfactor = 50)`,
];
