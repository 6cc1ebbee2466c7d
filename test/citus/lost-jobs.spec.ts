import { LostJobs } from '../../src/platform/jobs/lost-jobs';
import { openLine, type Line } from '../faults/arena/line';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { placeOf, readdress, workerNodesOf } from '../support/citus';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf, waitingForLocks, withClient } from '../support/database';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

let line: Line;
let losesAnswers = false;
let url: string;
let app: TestApp;
let client: Client;
let tenantId: string;

beforeAll(async () => {
  url = await freshDatabaseUrl('lost_jobs');
  const [node] = await workerNodesOf(url);
  if (node === undefined) throw new Error('The cluster has no worker node');
  line = await openLine({ target: () => node, fate: () => (losesAnswers ? 'cut after' : 'pass') });
  await readdress(url, node, { host: '127.0.0.1', port: line.port });
  app = await startApp({}, url, [], { processesEvents: true });
  let port: number;
  do {
    const tenant = await aTenant(url);
    client = new Client(app.url, tenant.adminKey);
    ({ tenantId } = tenant);
    ({ port } = await placeOf(url, tenantId));
  } while (port !== line.port);
});

afterAll(async () => {
  await app.stop();
  await line.close();
});

/** The status of a request that adds a job, and whose node commits without an answer to the coordinator. */
async function statusWithoutAnswer(path: string): Promise<number> {
  const answer = await withClient(url, async (holder) => {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE cds_jobs._private_jobs IN EXCLUSIVE MODE');
    const asked = client.post(path, { filter: {} });
    await until(async () => (await waitingForLocks(url, { statement: 'add_job' })) > 0);
    losesAnswers = true;
    await holder.query('COMMIT');
    return asked;
  });
  losesAnswers = false;
  return answer.status;
}

const refuse = () => client.post('/v1/external-events', anExternalEvent({ identity: {} }));
const statesIn = (table: string) => rowsOf(url, `SELECT state FROM ${table} WHERE tenant_id = $1`, [tenantId]);

it('work whose job was lost is answered 503, and done later', async () => {
  await until(async () => (await refuse()).status === 422);
  expect(await statusWithoutAnswer('/v1/review-entries:dismiss')).toBe(503);
  expect(await statesIn('review_dismissals')).toEqual([{ state: 'queued' }]);
  await app.app.get(LostJobs).addAll();
  await until(async () => (await statesIn('review_dismissals')).every(({ state }: any) => state === 'done'));
});

it('work of which a node has prepared the commit is answered 503, and not stored', async () => {
  await until(async () => (await refuse()).status === 422);
  expect(await statusWithoutAnswer('/v1/review-entries:replay')).toBe(503);
  expect(await statesIn('review_replays')).toEqual([]);
});
