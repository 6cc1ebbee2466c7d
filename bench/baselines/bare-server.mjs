// The least that a Node.js service can do with an event: parse it, insert one deduplicated row, answer. Nothing is checked, nobody is
// asked for a key, and no customer is known. A process per core; what arrives during an insert shares the next one.
import { Buffer } from 'node:buffer';
import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';
import pg from 'pg';

const INSERT = {
  name: 'insert',
  text: `INSERT INTO bench_events
    SELECT '0190a000-0000-7000-8000-000000000001', id, source, external, type, at, now(), identity, properties
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::timestamptz[], $6::jsonb[], $7::jsonb[])
      AS event (id, source, external, type, at, identity, properties)
    ON CONFLICT DO NOTHING`,
};

if (cluster.isPrimary) startWorkers();
else await work();

function startWorkers() {
  const workers = Array.from({ length: availableParallelism() }, () => cluster.fork());
  let listening = 0;
  cluster.on('listening', (_worker, { port }) => {
    if (++listening === workers.length) process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
  });
  process.on('SIGTERM', () => {
    for (const worker of workers) worker.kill();
    process.exit();
  });
}

async function work() {
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  let waiting = [];
  let isRunning = false;
  const insertAll = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await client.query({ ...INSERT, values: columnsOf(batch.map(({ event }) => event)) });
      for (const { response, event } of batch) answer(response, event.id);
    }
    isRunning = false;
  };
  createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      const event = { ...JSON.parse(Buffer.concat(pieces)), id: randomUUID() };
      waiting.push({ event, response });
      if (!isRunning) void insertAll();
    });
  }).listen(0, '127.0.0.1');
}

function columnsOf(events) {
  return [
    events.map(({ id }) => id),
    events.map(({ source }) => source),
    events.map((event) => event.external_event_id),
    events.map(({ type }) => type),
    events.map((event) => event.occurred_at),
    events.map(({ identity }) => JSON.stringify(identity)),
    events.map(({ attributes }) => JSON.stringify(attributes)),
  ];
}

function answer(response, id) {
  const text = `{"event_id":"${id}","status":"accepted"}`;
  response.writeHead(202, { 'content-type': 'application/json', 'content-length': text.length }).end(text);
}
