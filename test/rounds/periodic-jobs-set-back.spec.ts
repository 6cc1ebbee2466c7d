import { Clock } from '../../src/platform/values/clock';
import { startApp, type TestApp } from '../support/app';
import { rowsOf } from '../support/database';
import { aClockedDatabase, type ClockedDatabase } from '../support/database-clock';
import { until } from '../support/until';

/* The database's clock is set back by less than an hour: what waits for an impossible time runs within minutes (docs/adr/0049). */

const MINUTE_MS = 60_000;
const JOB = 'parked-events-sweep';

let database: ClockedDatabase;
let service: TestApp;

beforeAll(async () => {
  database = await aClockedDatabase('periodic_set_back');
  service = await startApp({}, database.url);
});
afterAll(() => service.stop());

/** Sets the database's clock so many minutes ahead of the real one. Resolves once the service has seen that. */
async function setAhead(minutes: number): Promise<void> {
  await database.setTo(new Date(Date.now() + minutes * MINUTE_MS));
  const seenAhead = (): number => service.app.get(Clock).now().getTime() - Date.now();
  await until(() => Math.abs(seenAhead() - minutes * MINUTE_MS) < 1_000);
}

/** By how many minutes the last minute for which the job was added is ahead of the real clock. */
async function lastAdded(): Promise<number> {
  const rows = await rowsOf<{ due_at: Date }>(database.url, 'SELECT due_at FROM job_schedules WHERE job = $1', [JOB]);
  return ((rows[0]?.due_at.getTime() ?? 0) - Date.now()) / MINUTE_MS;
}

it('periodic jobs are added again at the next minutes', async () => {
  await setAhead(40);
  await until(async () => (await lastAdded()) > 38);
  await setAhead(0);
  // Some minutes later.
  await setAhead(3);
  await until(async () => Math.abs((await lastAdded()) - 3) < 2, 10);
});
