import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { statisticsOf, sumOf } from '../support/statistics';
import { until } from '../support/until';

const ADMIN_KEY = 'statistics-kills-admin-key-statistics-kills';
const SENDERS = 4;
const BATCH_EVENTS = 20;

let databaseUrl: string;
const start = (): Promise<ServiceProcess> =>
  startServiceProcess({ DATABASE_URL: databaseUrl, BOOTSTRAP_ADMIN_KEY: ADMIN_KEY });

beforeAll(async () => {
  databaseUrl = await freshDatabaseUrl('statistics_kills');
});

const aBatch = () => ({ items: Array.from({ length: BATCH_EVENTS }, () => anExternalEvent({ source: 'shop' })) });
const storedCounts = async () => {
  const [row] = await rowsOf<{ events: number; duplicate: number }>(
    databaseUrl,
    `SELECT (SELECT count(*)::int FROM events) AS events,
       (SELECT coalesce(sum(duplicate), 0)::int FROM (
          SELECT duplicate FROM ingest_statistics_changes
          UNION ALL SELECT duplicate FROM ingest_statistics WHERE step = 'minute'
        ) AS each) AS duplicate`,
  );
  return row!;
};

it('statistics are exact for accepted events after kill -9, lose a second of duplicates at most, and none at a stop', async () => {
  const killed = await start();
  const client = new Client(killed.url, ADMIN_KEY);
  const batch = aBatch();
  for (let copy = 0; copy < 4; copy += 1) await client.post('/v1/external-events:batch', batch);
  const early = 3 * BATCH_EVENTS;
  // Stored by the flush of a second.
  await until(async () => (await storedCounts()).duplicate === early);
  let answers = 0;
  let later = 0;
  const senders = Array.from({ length: SENDERS }, async () => {
    for (;;) {
      const each = aBatch();
      for (const items of [each, each]) {
        const answer = await client.post('/v1/external-events:batch', items).catch(() => undefined);
        if (answer === undefined) return;
        answers += 1;
        const results: { status: string }[] = answer.body.results;
        later += results.filter(({ status }) => status === 'duplicate').length;
      }
    }
  });
  await until(() => answers > 10 * SENDERS);
  await killed.kill();
  await Promise.all(senders);

  const survivor = await start();
  const other = new Client(survivor.url, ADMIN_KEY);
  // PostgreSQL ends the sessions of the killed process first: what it has sent may still be committed.
  await until(async () => {
    const sessions = await rowsOf(
      databaseUrl,
      `SELECT 1 FROM pg_locks WHERE relation = 'events'::regclass AND mode = 'RowExclusiveLock'`,
    );
    return sessions.length === 0;
  });
  const { events } = await storedCounts();
  const sum = sumOf(await statisticsOf(other));
  expect(sum.accepted).toBe(events);
  expect(sum.duplicate).toBeGreaterThanOrEqual(early);
  expect(sum.duplicate).toBeLessThanOrEqual(early + later + SENDERS * BATCH_EVENTS);

  const before = (await storedCounts()).duplicate;
  for (let copy = 0; copy < 3; copy += 1) await other.post('/v1/external-events:batch', batch);
  expect(await survivor.stop()).toBe(0);
  expect((await storedCounts()).duplicate).toBe(before + 3 * BATCH_EVENTS);
});
