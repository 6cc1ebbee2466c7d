import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import type { Client as PgClient } from 'pg';
import { ErasuresService } from '../../src/cdp/customers/erasures.service';
import type { EventFields } from '../../src/ingest/domain/event';
import { AnsweredEvents } from '../../src/ingest/answered-events';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { statisticsRange } from '../../src/statistics/domain/statistics-range';
import { LogCounter } from '../../src/statistics/log-counter';
import { OutcomeRecorder } from '../../src/statistics/outcome-recorder';
import { StatisticsReader } from '../../src/statistics/statistics-reader';
import { databaseOf, freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { startFaultProxy } from '../support/fault-proxy';
import { aCaller, aSubmission, external, startNode } from '../support/ingest';
import { logged, uncounted } from '../support/statistics';
import { until } from '../support/until';

const WRITERS = 4;
const ROUNDS = 25;
const PERSONS = 8;
const SECRETS_KEY = 'a-secrets-key-for-the-statistics-of-tests';
const DAY_MS = 24 * 60 * 60_000;

/** Ends statements that add more than a thousand rows, as the time limit of statements does on a slow database. */
const CANCEL_LARGE_PIECES = `
  CREATE FUNCTION cancel_large_piece() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM added) > 1000 THEN RAISE EXCEPTION USING ERRCODE = 'query_canceled'; END IF;
      RETURN NULL;
    END $$;
  CREATE TRIGGER cancel_large_piece AFTER INSERT ON ingest_statistics REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION cancel_large_piece()`;

let url: string;
let nodes: readonly INestApplicationContext[];
let tenantId: string;

beforeAll(async () => {
  url = await freshDatabaseUrl('ingest_statistics');
  nodes = [await startNode(url, { SECRETS_KEY }), await startNode(url, { SECRETS_KEY })];
});
beforeEach(async () => {
  tenantId = randomUUID();
  await rowsOf(url, 'INSERT INTO workspaces (tenant_id, name, created_at) VALUES ($1, $2, now())', [
    ...[tenantId, tenantId],
  ]);
});
afterAll(async () => {
  for (const node of nodes) await node.close();
});

const node = (index: number) => nodes[index % nodes.length]!;
const countLog = async (on = node(0)) => {
  while (await on.get(LogCounter).count(0));
};

/** A refused event of some minutes ago that is sent again: it is stored under its first time of receipt. */
const replayed = (minutesAgo: number, fields: Partial<EventFields> = {}) => {
  const submission = aSubmission({ source: 'replayed', occurredAt: Date.now() - 3 * DAY_MS, ...fields });
  const attempt = { action: 'replayed', at: new Date().toISOString(), by: 'test' } as const;
  const receivedAt = Date.now() - minutesAgo * 60_000;
  return { ...submission, replay: { entryId: randomUUID(), attempt, receivedAt } };
};

const ingest = async (
  on: INestApplicationContext,
  submissions: readonly ReturnType<typeof aSubmission>[],
  mode: 'live' | 'replay',
) => {
  const results = await on.get(IngestPipeline).ingest(aCaller(tenantId), submissions, mode);
  return results.filter(({ status }) => status === 'accepted').length;
};

/** The sum over all groups, by the statement of a reader, and what the log has, in one snapshot. */
async function bothIn(client: PgClient): Promise<{ statistics: number; late: number; log: number; lateInLog: number }> {
  const range = statisticsRange({ from: Date.now() - 2 * DAY_MS, to: Date.now() + DAY_MS, step: 'hour' }, Date.now());
  if ('faults' in range) throw new Error('The range was refused');
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const database = { query: async (text: string, values: unknown[]) => (await client.query(text, values)).rows };
  const reader = new StatisticsReader(database as never, { flush: () => Promise.resolve() } as never);
  const { steps } = await reader.read(tenantId, range, undefined);
  const cells = steps.flatMap(({ text }) => text.split(';').map((cell) => cell.split(' ').map(Number)));
  const { rows } = await client.query<{ log: number; late: number }>(
    `SELECT count(*)::int AS log, (count(*) FILTER (WHERE occurred_at < received_at - interval '24 hours'))::int AS late
     FROM events WHERE tenant_id = $1`,
    [tenantId],
  );
  await client.query('COMMIT');
  const sum = (place: number) => cells.reduce((total, cell) => total + (cell[place] ?? 0), 0);
  return { statistics: sum(1), late: sum(4), log: rows[0]!.log, lateInLog: rows[0]!.late };
}

/** Looks again and again while writers work and both nodes count. */
async function snapshotsWhile(write: (writer: number) => Promise<void>) {
  let isOver = false;
  const count = async (on: INestApplicationContext) => {
    while (!isOver) await on.get(LogCounter).count(0);
  };
  const snapshots: Awaited<ReturnType<typeof bothIn>>[] = [];
  const look = () =>
    withClient(url, async (client) => {
      while (!isOver) snapshots.push(await bothIn(client));
    });
  const others = Promise.all([count(node(0)), count(node(1)), look()]);
  await Promise.all(Array.from({ length: WRITERS }, (_unused, writer) => write(writer))).finally(() => {
    isOver = true;
  });
  await others;
  return snapshots;
}

/** Once all of the log is counted, minutes, hours and days say the same. */
async function expectCounted({ accepted, late }: { accepted: number; late: number }): Promise<void> {
  await countLog();
  expect(await uncounted(url, tenantId)).toEqual({ events: 0, changes: 0 });
  const sums = await Promise.all(['minute', 'hour', 'day'].map(rowsOfStep));
  expect(sums.flat()).toMatchObject(Array(3).fill({ accepted, late }));
}

const rowsOfStep = (step: string) =>
  rowsOf<{ accepted: number; late: number; duplicate: number }>(
    url,
    `SELECT coalesce(sum(accepted), 0)::int AS accepted, coalesce(sum(late), 0)::int AS late,
       coalesce(sum(duplicate), 0)::int AS duplicate
     FROM ingest_statistics WHERE tenant_id = $1 AND step = $2`,
    [tenantId, step],
  );

describe('the statistics of ingest', () => {
  it('equal the log in every snapshot, while two nodes store and replay events and both count', async () => {
    let accepted = 0;
    const write = async (writer: number) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const live = Array.from({ length: 1 + (round % 7) }, () => aSubmission({ source: `source-${round % 3}` }));
        const stored = await ingest(node(writer), live, 'live');
        const again = await ingest(node(writer), [replayed(round % 2), replayed(round * 50)], 'replay');
        accepted += stored + again;
      }
    };
    const snapshots = await snapshotsWhile(write);
    expect(snapshots.length).toBeGreaterThan(10);
    expect(snapshots.filter(({ statistics, log }) => statistics !== log)).toEqual([]);
    expect(snapshots.filter(({ late, lateInLog }) => late !== lateInLog)).toEqual([]);
    expect(new Set(snapshots.map(({ log }) => log)).size).toBeGreaterThan(5);
    await expectCounted({ accepted, late: 2 * WRITERS * ROUNDS });
  });

  it('equal the log in every snapshot, while persons are erased as their events are stored and replayed', async () => {
    let accepted = 0;
    let late = 0;
    const write = async (writer: number) => {
      for (let round = 0; round < PERSONS; round += 1) {
        const value = `person-${writer}-${round}`;
        const person = { identifiers: [external(value)], identity: { type: 'EXTERNAL', value } };
        const send = async (): Promise<void> => {
          const live = await ingest(node(writer), [aSubmission(person), aSubmission(person)], 'live');
          const again = await ingest(node(writer), [replayed(round, person), replayed(round * 50, person)], 'replay');
          accepted += live + again;
          late += again;
        };
        await send();
        let isErased = false;
        const erasing = node(writer + 1)
          .get(ErasuresService)
          .eraseByIdentifier(aCaller(tenantId), { type: 'EXTERNAL', value }, null)
          .finally(() => (isErased = true));
        const sendMeanwhile = async (): Promise<void> => {
          while (!isErased) await send();
        };
        await Promise.all([erasing, sendMeanwhile()]);
      }
    };
    const snapshots = await snapshotsWhile(write);
    expect(snapshots.length).toBeGreaterThan(10);
    expect(snapshots.filter(({ statistics, log }) => statistics !== log)).toEqual([]);
    expect(snapshots.filter((each) => each.late !== each.lateInLog)).toEqual([]);
    await expectCounted({ accepted, late });
    // An erased event stays in the log, as a row without its person.
    const rows = await rowsOf<{ erased: number }>(
      url,
      `SELECT count(*)::int AS erased FROM events WHERE tenant_id = $1 AND content_hash = ''`,
      [tenantId],
    );
    expect(rows).toEqual([{ erased: accepted }]);
  });

  it('wait for a transaction that has received events and not committed them', async () => {
    await withClient(url, async (client) => {
      await client.query('BEGIN');
      await client.query(
        `INSERT INTO events SELECT $1, $2, 'external', 'shop', 'slow', 'purchase', NULL, now(), clock_timestamp(), $2, '{}', '{}', '', $2`,
        [tenantId, randomUUID()],
      );
      await ingest(node(0), [aSubmission()], 'live');
      await expect(node(0).get(LogCounter).count(0)).rejects.toThrow('stays open');
      const since = (await client.query<{ at: string }>('SELECT clock_timestamp()::text AS at')).rows[0]!.at;
      const counting = countLog(node(1));
      await until(() => looksForWriters(since));
      await client.query('COMMIT');
      await counting;
      expect(await bothIn(client)).toMatchObject({ statistics: 2, log: 2 });
      expect(await rowsOfStep('minute')).toMatchObject([{ accepted: 2 }]);
    });
  });

  it('keep what was counted of events that have left the log since', async () => {
    await logged(url, tenantId, { from: new Date(Date.now() - DAY_MS).toISOString(), count: 500, everyMs: 1_000 });
    await countLog();
    await rowsOf(url, 'DELETE FROM events WHERE tenant_id = $1', [tenantId]);
    await ingest(node(0), [replayed(23 * 60), aSubmission()], 'replay');
    await countLog();
    await withClient(url, async (client) => {
      expect(await bothIn(client)).toMatchObject({ statistics: 502, log: 2 });
    });
  });

  it('are counted in pieces, also from the beginning of a long log', async () => {
    await logged(url, tenantId, { from: new Date(Date.now() - DAY_MS).toISOString(), count: 120_000, everyMs: 700 });
    const counter = node(0).get(LogCounter);
    await withClient(url, async (client) => {
      await counter.count(0);
      expect(await bothIn(client)).toMatchObject({ statistics: 120_000, log: 120_000 });
    });
    await countLog();
    expect((await Promise.all(['minute', 'hour', 'day'].map(rowsOfStep))).flat()).toMatchObject(
      Array(3).fill({ accepted: 120_000, late: 12_000 }),
    );
  });

  it('are counted in smaller pieces where the database ends the statement of a larger one', async () => {
    const from = new Date(Date.now() - DAY_MS).toISOString();
    await logged(url, tenantId, { from, count: 2_000, everyMs: 10, sources: 2_000 });
    await withClient(url, async (client) => {
      await client.query(CANCEL_LARGE_PIECES);
      try {
        await countLog();
      } finally {
        await client.query('DROP FUNCTION cancel_large_piece CASCADE');
      }
    });
    expect(await uncounted(url, tenantId)).toEqual({ events: 0, changes: 0 });
    expect((await Promise.all(['minute', 'hour', 'day'].map(rowsOfStep))).flat()).toMatchObject(
      Array(3).fill({ accepted: 2_000, late: 200 }),
    );
  });

  it.each([
    ['was committed', 'loseNextCommitAnswer'],
    ['was not committed', 'loseNextCommit'],
  ] as const)('count each answer once where a flush is repeated that %s', async (_, lose) => {
    const proxy = await startFaultProxy(url);
    const behind = await startNode(proxy.urlOf(databaseOf(url)), { SECRETS_KEY });
    try {
      const recorder = behind.get(OutcomeRecorder);
      const answered = { tenantId, family: 'external', source: 'shop', eventType: 'purchase' } as const;
      for (let sent = 0; sent < 3; sent += 1) behind.get(AnsweredEvents).notify(answered, 'duplicate');
      const lost = proxy[lose]();
      await Promise.all([lost, recorder.flush()]);
      // Another node counts what was committed, and removes its row.
      await countLog(node(1));
      const counted = async (): Promise<number> => {
        await recorder.flush();
        await countLog(node(1));
        return (await rowsOfStep('minute'))[0]!.duplicate;
      };
      await until(async () => (await counted()) > 0);
      expect(await counted()).toBe(3);
    } finally {
      await behind.close();
      await proxy.close();
    }
  });

  it('are counted again for an hour after the clock of the database was set back', async () => {
    await logged(url, tenantId, { from: new Date(Date.now() - 90 * 60_000).toISOString(), count: 90, everyMs: 60_000 });
    await countLog();
    // Counted until later than now: so it looks to a job once the clock was set back. Meanwhile events came under old times.
    await rowsOf(
      url,
      `UPDATE ingest_statistics_progress SET counted_until = now() + interval '20 minutes' WHERE tenant_id = $1`,
      [tenantId],
    );
    await logged(url, tenantId, { from: new Date(Date.now() - 30 * 60_000).toISOString(), count: 10, everyMs: 1_000 });
    await countLog();
    await withClient(url, async (client) => {
      expect(await bothIn(client)).toMatchObject({ statistics: 100, log: 100 });
    });
    expect((await Promise.all(['minute', 'hour', 'day'].map(rowsOfStep))).flat()).toMatchObject(
      Array(3).fill({ accepted: 100, late: 10 }),
    );
  });
});

/**
 * Whether a process has looked for open transactions since. Asked on a connection of its own: within a transaction
 * pg_stat_activity stays as it was first read.
 */
async function looksForWriters(since: string): Promise<boolean> {
  // As a parameter, so that the text of this statement is no such look.
  const looks = await rowsOf(
    url,
    `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query LIKE $2 AND query_start > $1
       AND pid <> pg_backend_pid()`,
    [since, '%pg_locks%'],
  );
  return looks.length > 0;
}
