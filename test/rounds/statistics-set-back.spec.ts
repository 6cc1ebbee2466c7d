import type { INestApplicationContext } from '@nestjs/common';
import { IngestPipeline } from '../../src/ingest/pipeline';
import { Clock } from '../../src/platform/values/clock';
import { LogCounter } from '../../src/statistics/log-counter';
import { rowsOf, withClient } from '../support/database';
import { aClockedDatabase, type ClockedDatabase } from '../support/database-clock';
import { aCaller, aSubmission, startNode } from '../support/ingest';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

/*
 * The database's clock is set back while a process counts the log, between the moment when it has read the time and its commit
 * (docs/adr/0059).
 */

const SECOND_MS = 1_000;

let database: ClockedDatabase;
let node: INestApplicationContext;

beforeAll(async () => {
  database = await aClockedDatabase('statistics_set_back');
  node = await startNode(database.url);
});
afterAll(() => node.close());

/** Once the node knows the time of the database, some seconds after `time` at most. */
const knows = (time: Date): Promise<void> =>
  until(() => Math.abs(node.get(Clock).now().getTime() - time.getTime()) < 10 * SECOND_MS);

async function setTo(time: Date): Promise<void> {
  await database.setTo(time);
  await knows(time);
}

const send = async (tenantId: string): Promise<void> => {
  const results = await node.get(IngestPipeline).ingest(aCaller(tenantId), [aSubmission()], 'live');
  expect(results).toMatchObject([{ status: 'accepted' }]);
};

const accepted = async (tenantId: string): Promise<unknown> => {
  const counted = `SELECT coalesce(sum(accepted), 0)::int AS accepted FROM ingest_statistics WHERE tenant_id = $1 AND step = 'hour'`;
  return (await rowsOf<{ accepted: number }>(database.url, counted, [tenantId]))[0]?.accepted;
};

it('leaves no event uncounted that comes under a time that was read before', async () => {
  const { tenantId } = await aTenant(database.url);
  const ahead = new Date(database.boundary.getTime() - 30 * 60 * SECOND_MS);
  const since = new Date(ahead.getTime() - 40 * SECOND_MS);
  await setTo(ahead);
  await send(tenantId);
  const counter = node.get(LogCounter);
  await withClient(database.url, async (writer) => {
    await writer.query('BEGIN');
    await writer.query('LOCK TABLE events IN ROW EXCLUSIVE MODE');
    const looked = jest.spyOn(counter['database'], 'query');
    const counting = counter.count(0);
    await until(() => looked.mock.calls.some(([text]) => text.includes('pg_locks')));
    looked.mockRestore();
    // The job that a set-back adds, before the counter goes on.
    await database.setTo(since);
    await counter['recountSince'](since.toISOString());
    await writer.query('COMMIT');
    await counting;
  });
  await knows(since);
  await send(tenantId);
  // The next job of the minute comes when the clock has passed the time that was read.
  await setTo(new Date(ahead.getTime() + 20 * SECOND_MS));
  while (await counter.count());
  expect(await accepted(tenantId)).toBe(2);
});

it('takes back what another process commits while the job looks', async () => {
  const { tenantId } = await aTenant(database.url);
  const ahead = new Date(database.boundary.getTime() - 20 * 60 * SECOND_MS);
  const since = new Date(ahead.getTime() - 40 * SECOND_MS);
  await setTo(ahead);
  await send(tenantId);
  const counter = node.get(LogCounter);
  // A piece whose statement is done, and whose commit takes a while.
  let commit: () => void = () => undefined;
  const mayCommit = new Promise<void>((resolve) => (commit = resolve));
  const within = counter['countWithin'].bind(counter);
  let isDone = false;
  const piece = jest
    .spyOn<any, 'countWithin'>(counter, 'countWithin')
    .mockImplementation(async (...asked: unknown[]) => {
      const result = await (within as (...values: unknown[]) => Promise<unknown>)(...asked);
      if (asked[1] === tenantId) {
        isDone = true;
        await mayCommit;
      }
      return result;
    });
  const counting = counter.count(0);
  await until(() => isDone);
  await database.setTo(since);
  const recounting = counter['recountSince'](since.toISOString());
  // Time enough for a look that does not wait.
  await Promise.race([recounting, new Promise((resolve) => setTimeout(resolve, SECOND_MS))]);
  commit();
  await counting;
  await recounting;
  piece.mockRestore();
  await knows(since);
  await send(tenantId);
  await setTo(new Date(ahead.getTime() + 20 * SECOND_MS));
  while (await counter.count());
  expect(await accepted(tenantId)).toBe(2);
});
