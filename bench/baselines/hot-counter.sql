-- Everybody adds to one number in one document, and writes down that it did, once.
BEGIN;
INSERT INTO bench_idempotency VALUES (gen_random_uuid(), '{"previous": 1, "current": 2}', now()) ON CONFLICT DO NOTHING;
UPDATE bench_counter SET document = jsonb_set(document, '{counter}', to_jsonb((document->>'counter')::numeric + 1)) WHERE id = 1;
COMMIT;
