import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Endpoints that events are sent to, and what is to be sent. */
export class Webhooks1764000000025 implements MigrationInterface {
  readonly name = 'Webhooks1764000000025';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES.toReversed()) await runner.query(`DROP TABLE ${table}`);
  }
}

const TABLES = ['webhook_endpoints', 'webhook_rules', 'webhook_sets', 'webhook_deliveries', 'webhook_queues'];

const UP = [
  `CREATE TABLE webhook_endpoints (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    url text NOT NULL,
    description text,
    unmask boolean NOT NULL,
    algorithm text NOT NULL,
    secret bytea NOT NULL,
    previous_secret bytea,
    previous_secret_until timestamptz,
    enabled boolean NOT NULL,
    disabled_reason text,
    disabled_at timestamptz,
    failing_since timestamptz,
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (tenant_id, id)
  ) WITH (fillfactor = 70)`,
  // json and not jsonb: a condition is answered in the order in which it was written.
  `CREATE TABLE webhook_rules (
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    position smallint NOT NULL,
    event_type text NOT NULL,
    source text,
    condition json,
    applies_from timestamptz NOT NULL,
    CONSTRAINT webhook_rules_pkey PRIMARY KEY (tenant_id, endpoint_id, position)
  )`,
  // How workers find those that an event is for.
  `CREATE INDEX webhook_rules_event_type_idx ON webhook_rules (tenant_id, event_type, endpoint_id, position)
    WHERE applies_from > '-infinity'`,
  // One row a workspace, rewritten in place with every change of rules; workers read it with every batch.
  `CREATE TABLE webhook_sets (
    tenant_id uuid NOT NULL,
    version bigint NOT NULL,
    CONSTRAINT webhook_sets_pkey PRIMARY KEY (tenant_id)
  ) WITH (fillfactor = 50)`,
  // One row for each event and endpoint. The profile is the event's own, so that a merge changes nothing.
  `CREATE TABLE webhook_deliveries (
    tenant_id uuid NOT NULL,
    event_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    profile_id uuid NOT NULL,
    seq bigint NOT NULL,
    state text NOT NULL,
    reason text,
    attempt_count integer NOT NULL,
    attempts jsonb NOT NULL,
    first_attempt_at timestamptz,
    created_at timestamptz NOT NULL,
    done_at timestamptz,
    CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (tenant_id, event_id, endpoint_id)
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_insert_scale_factor = 0.05)`,
  `CREATE INDEX webhook_deliveries_profile_idx ON webhook_deliveries (tenant_id, profile_id, endpoint_id, seq)
    WHERE seq > 0`,
  `CREATE INDEX webhook_deliveries_state_idx ON webhook_deliveries (tenant_id, endpoint_id, state, seq)
    WHERE created_at > '-infinity'`,
  // One row for each endpoint and profile with pending deliveries. Until due_at nobody sends any of them: an attempt
  // is under way (claim_id) or has failed.
  `CREATE TABLE webhook_queues (
    tenant_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    profile_id uuid NOT NULL,
    last_seq bigint NOT NULL,
    done_seq bigint NOT NULL,
    failures integer NOT NULL,
    due_at timestamptz NOT NULL,
    claim_id uuid,
    CONSTRAINT webhook_queues_pkey PRIMARY KEY (tenant_id, endpoint_id, profile_id)
  ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  `CREATE INDEX webhook_queues_due_idx ON webhook_queues (tenant_id, endpoint_id, due_at) WHERE due_at > '-infinity'`,
];
