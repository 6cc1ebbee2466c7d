// node bench/queue-baseline.mjs
//
// What queueing an event costs the transaction that stores it (docs/adr/0027): an event's insert alone, with an entry in our
// queue, with the same and a NOTIFY, and with a job of graphile-worker. 32 clients, one transaction an event, pipelined. The
// ways take turns, so that a machine whose speed varies slows all of them; read the ratios. Then the summary over a full queue.
// Needs a build. Takes about a minute.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';

const require = createRequire(import.meta.url);
const { startEmbeddedPostgres } = require('../dist/src/platform/postgres/embedded/embedded-postgres.js');
const { migrate } = require('../dist/src/platform/postgres/schema/migrate.js');
const { QueueStatistics } = require('../dist/src/processing/queue-statistics.js');

const CLIENTS = 32;
const ROUNDS = 4;
const ROUND_MS = 2_000;
const QUEUED = 1_000_000;
const TENANT = randomUUID();

const EVENT = {
  name: 'event',
  text: `INSERT INTO events (tenant_id, event_id, family, source, external_event_id, event_type, occurred_at, received_at,
      profile_id, identity, properties, content_hash, batch_id)
    VALUES ($1, $2::uuid, 'external', 'shop', $2::uuid::text, 'purchase', now(), now(), $3, '{"type":"EXTERNAL","value":"customer"}',
      '{"amount":29.33,"currency":"EUR"}', '\\x01', $2::uuid) ON CONFLICT ON CONSTRAINT events_pkey DO NOTHING`,
};
const ENTRY = {
  name: 'entry',
  text: `INSERT INTO event_queue (tenant_id, shard, queued_at, position, event_id, profile_id)
    VALUES ($1, $4, clock_timestamp(), 1, $2, $3)`,
};
const JOB = { name: 'job', text: `SELECT FROM cds_jobs.add_job('event', json_build_object('id', $1::text))` };
const NOTIFY = { name: 'notify', text: `SELECT pg_notify('queued', $1)` };

const entryOf = (ids) => ({ ...ENTRY, values: [...ids, Math.floor(Math.random() * 64)] });
const WAYS = {
  'the event alone': () => [],
  'and an entry in our queue': (ids) => [entryOf(ids)],
  'and an entry and a NOTIFY': (ids) => [entryOf(ids), { ...NOTIFY, values: [ids[1]] }],
  'and a job of graphile-worker': (ids) => [{ ...JOB, values: [ids[1]] }],
};

async function store(client, further) {
  const ids = [TENANT, randomUUID(), randomUUID()];
  const answers = ['BEGIN', { ...EVENT, values: ids }, ...further(ids), 'COMMIT'].map((query) => client.query(query));
  await Promise.all(answers);
}

async function rate(clients, further) {
  let stored = 0;
  const until = performance.now() + ROUND_MS;
  await Promise.all(
    clients.map(async (client) => {
      for (; performance.now() < until; stored += 1) await store(client, further);
    }),
  );
  return (stored * 1_000) / ROUND_MS;
}

async function compare(url) {
  const clients = Array.from({ length: CLIENTS }, () => new pg.Client({ connectionString: url, pipeline: true }));
  // A failure is reported by its query.
  for (const client of clients) client.on('error', () => undefined);
  await Promise.all(clients.map((client) => client.connect()));
  const rates = new Map(Object.keys(WAYS).map((way) => [way, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [way, further] of Object.entries(WAYS)) {
      const perSecond = await rate(clients, further);
      // The first round warms up.
      if (round > 0) rates.get(way).push(perSecond);
    }
  }
  await Promise.all(clients.map((client) => client.end()));
  return rates;
}

async function summary(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('TRUNCATE event_queue');
  await client.query(
    `INSERT INTO event_queue SELECT $1, n % 64, clock_timestamp(), n, gen_random_uuid(), gen_random_uuid()
     FROM generate_series(1, ${QUEUED}) n`,
    [TENANT],
  );
  await client.query('VACUUM (ANALYZE) event_queue');
  const figures = new QueueStatistics({ query: async (...query) => (await client.query(...query)).rows });
  const times = [];
  for (let round = 0; round < 5; round += 1) {
    const startedAt = performance.now();
    await figures.summary(TENANT);
    times.push(performance.now() - startedAt);
    await wait(50);
  }
  await client.end();
  return median(times);
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const dataDir = await mkdtemp(join(tmpdir(), 'cds-bench-'));
const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
try {
  await migrate({ url: server.url });
  const rates = await compare(server.url);
  const alone = median(rates.get('the event alone'));
  for (const [way, perSecond] of rates) {
    const middle = median(perSecond);
    process.stdout.write(`${way.padEnd(30)} ${middle.toFixed(0).padStart(6)} /s  ${(middle / alone).toFixed(2)}\n`);
  }
  const ms = await summary(server.url);
  process.stdout.write(`${'the summary of 1,000,000'.padEnd(30)} ${ms.toFixed(0).padStart(6)} ms\n`);
} finally {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
