import { withClient } from './server.mjs';

const CHUNK = 250_000;
const EVENTS_PER_CUSTOMER = 10;
/** Rows are put in by as many connections as there are cores on a small machine. */
const CONNECTIONS = 2;
const TABLES = ['profiles', 'profile_identifiers', 'events'];

/**
 * Puts stored events of many customers into the database, as the service would have left them: valid rows, none queued. The
 * indexes are built behind the rows, which takes a third of the time.
 */
export async function fillEvents(server, database, events) {
  const customers = Math.ceil(events / EVENTS_PER_CUSTOMER);
  const restoreIndexes = await dropIndexes(server, database);
  await inChunks(customers, (first, last) => server.query(database, CUSTOMERS, [first, last]));
  await inChunks(events, (first, last) => server.query(database, EVENTS, [first, last, customers]));
  await restoreIndexes();
  await server.query(database, 'VACUUM (ANALYZE)');
}

async function inChunks(count, work) {
  let next = 0;
  const run = async () => {
    for (let from = next; from < count; from = next) {
      next = from + CHUNK;
      await work(from, Math.min(next, count) - 1);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, run));
}

/** The returned function makes them again. */
async function dropIndexes(server, database) {
  const { rows } = await server.query(database, FIND_INDEXES, [TABLES]);
  for (const { drop } of rows) await server.query(database, drop);
  return () =>
    withClient(server.urlOf(database), async (client) => {
      await client.query("SET maintenance_work_mem = '512MB'");
      for (const { make } of rows) await client.query(make);
    });
}

const FIND_INDEXES = `
  SELECT CASE WHEN con.oid IS NULL THEN format('DROP INDEX %I', ind.relname)
      ELSE format('ALTER TABLE %I DROP CONSTRAINT %I', tab.relname, con.conname) END AS drop,
    CASE WHEN con.oid IS NULL THEN pg_get_indexdef(ind.oid)
      ELSE format('ALTER TABLE %I ADD CONSTRAINT %I %s', tab.relname, con.conname, pg_get_constraintdef(con.oid)) END AS make
  FROM pg_index i JOIN pg_class ind ON ind.oid = i.indexrelid JOIN pg_class tab ON tab.oid = i.indrelid
    LEFT JOIN pg_constraint con ON con.conindid = i.indexrelid
  WHERE tab.relname = ANY ($1)`;

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
