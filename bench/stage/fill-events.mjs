const CHUNK = 250_000;
/** Five events a customer, about. */
const EVENTS_PER_CUSTOMER = 5;

/** Puts stored events of many customers into the database, as the service would have left them: valid rows, none queued. */
export async function fillEvents(server, database, events) {
  const customers = Math.ceil(events / EVENTS_PER_CUSTOMER);
  for (let from = 0; from < customers; from += CHUNK) {
    await server.query(database, CUSTOMERS, [from, Math.min(from + CHUNK, customers) - 1]);
  }
  for (let from = 0; from < events; from += CHUNK) {
    await server.query(database, EVENTS, [from, Math.min(from + CHUNK, events) - 1, customers]);
  }
  await server.query(database, 'VACUUM (ANALYZE)');
}

/** The id of the n-th customer, which sorts by age as the service's own ids do. */
const PROFILE_ID = (n) => `('0190a000-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;

const CUSTOMERS = `
  WITH customer AS MATERIALIZED (
    SELECT tenant_id, 'stored-customer-' || n AS value, ${PROFILE_ID('n')} AS profile_id
    FROM (SELECT tenant_id FROM workspaces LIMIT 1) w, generate_series($1::bigint, $2::bigint) n
  ), identifiers AS (
    INSERT INTO profile_identifiers (tenant_id, kind, value, profile_id)
    SELECT tenant_id, 'EXTERNAL', value, profile_id FROM customer
  )
  INSERT INTO profiles (tenant_id, profile_id, root_id, external_id, email_count, phone_count, device_count, version, created_at)
  SELECT tenant_id, profile_id, profile_id, value, 0, 0, 0, 1, now() FROM customer`;

const EVENTS = `
  INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
    profile_id, identity, properties, content_hash, batch_id)
  SELECT tenant_id, overlay(gen_random_uuid()::text placing '8' from 15 for 1)::uuid, 'external', 'shop.orders',
    'stored-' || n, 'order.paid', at, at, ${PROFILE_ID('n % $3::bigint')},
    jsonb_build_object('type', 'EXTERNAL', 'value', 'stored-customer-' || n % $3::bigint),
    '{"amount": 49.9, "currency": "EUR", "items": 3, "campaign": "spring"}',
    decode(left(md5(n::text), 36), 'hex'), gen_random_uuid()
  FROM (SELECT tenant_id FROM workspaces LIMIT 1) w, generate_series($1::bigint, $2::bigint) n,
    LATERAL (SELECT now() - interval '90 days' + n * interval '1 second' AS at) times`;
