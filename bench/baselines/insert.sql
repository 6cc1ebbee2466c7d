-- One deduplicated event in a transaction of its own; the database makes the id, which costs the client nothing.
\set n random(1, 1000000000)
\set customer random(0, 9999)
INSERT INTO bench_events VALUES ('0190a000-0000-7000-8000-000000000001', gen_random_uuid(), 'shop.orders', 'order-' || :n::int,
  'order.paid', '2026-01-05T10:00:00Z', now(), jsonb_build_object('type', 'EXTERNAL', 'value', 'customer-' || :customer::int),
  '{"amount": 49.9, "currency": "EUR", "items": 3, "campaign": "spring"}') ON CONFLICT DO NOTHING;
