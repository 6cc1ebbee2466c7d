-- The leanest tables that could do the same: one row with a primary key that deduplicates, nothing else.
CREATE TABLE bench_events (
  tenant_id uuid NOT NULL,
  event_id uuid NOT NULL,
  source text NOT NULL,
  external_event_id text NOT NULL,
  event_type text NOT NULL,
  occurred_at timestamptz NOT NULL,
  received_at timestamptz NOT NULL,
  identity jsonb NOT NULL,
  properties jsonb NOT NULL,
  PRIMARY KEY (tenant_id, event_id)
);
CREATE TABLE bench_counter (id int PRIMARY KEY, document jsonb NOT NULL) WITH (fillfactor = 50);
INSERT INTO bench_counter VALUES (1, '{"counter": 0}');
CREATE TABLE bench_idempotency (mutation_id uuid PRIMARY KEY, outcome jsonb NOT NULL, at timestamptz NOT NULL);
