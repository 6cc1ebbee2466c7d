import { type Purchase, readSample } from '../../src/demo/cdnow';
import { EVENT_TYPES_PATH, PURCHASE_EVENT_TYPE, purchaseEvent } from '../../src/demo/cdp-wire';
import { backfill, backfillOnce, readBackfill, startBackfill } from '../support/backfills';
import { aWorkspace, type Client, type Workspace } from '../support/client';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { untilDrained } from '../support/processing';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { until } from '../support/until';

/** `npm run test:faults` asks for all 6,919 and more kills. */
const PURCHASES = Number(process.env['FAULT_BACKFILL_PURCHASES'] ?? 1_500);
const KILLS = Number(process.env['FAULT_BACKFILL_KILLS'] ?? 1);
const CAMPAIGN = 'records';
const REACTION = 'count-purchases';
const ITEMS = 250;
const SECONDS = 60 + PURCHASES / 50;

let url: string;

const startWorker = (): Promise<ServiceProcess> => startServiceProcess({ DATABASE_URL: url, ROLE: 'worker' });

async function ok(client: Client, path: string, body: object): Promise<any> {
  const answer = await client.post(path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Every purchase adds its amount to what its customer has spent, and to what the campaign has earned. */
async function declareCampaign(client: Client): Promise<void> {
  for (const [scope, name] of [
    ['user', 'spent'],
    ['campaign', 'revenue'],
  ]) {
    await ok(client, `/v1/campaigns/${CAMPAIGN}/variables:define`, { scope, name, type: 'number' });
  }
  await ok(client, `/v1/campaigns/${CAMPAIGN}/reactions:define`, {
    ...{ name: REACTION, eventType: 'purchase' },
    ops: ['state.user.spent', 'state.campaign.revenue'].map((path) => ({
      ...{ path, op: 'inc', valueFrom: 'properties.amount' },
    })),
  });
}

async function send(client: Client, purchases: readonly Purchase[]): Promise<void> {
  for (let from = 0; from < purchases.length; from += ITEMS) {
    const items = purchases.slice(from, from + ITEMS).map(purchaseEvent);
    const { results } = await ok(client, '/v1/cdp/events/batch', { items });
    expect(results.every(({ status }: { status: string }) => status === 'accepted')).toBe(true);
  }
}

/** What each participant has spent, and what the campaign has earned. */
async function valuesOf({ tenantId }: Workspace): Promise<Record<string, number>> {
  const rows = await rowsOf<{ name: string; value: number }>(
    url,
    `SELECT subject AS name, (values ->> 'spent')::float8 AS value FROM participant_states
     WHERE tenant_id = $1 AND values ? 'spent'
     UNION ALL
     SELECT 'the campaign', value::text::float8 FROM shared_values WHERE tenant_id = $1 AND name = 'revenue'`,
    [tenantId],
  );
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

it(`${KILLS} kill -9 of a worker leave a backfilled campaign equal, to the cent, to one that was there from the start`, async () => {
  url = await freshDatabaseUrl('backfill');
  const api = await startServiceProcess({ DATABASE_URL: url, ROLE: 'api' });
  const service = { url: api.url, databaseUrl: url };
  const [fromStart, afterwards] = [await aWorkspace(service), await aWorkspace(service)];
  const purchases = readSample().slice(0, PURCHASES);
  // Customers are in order: the live half has customers whom the first half has, too.
  const [before, live] = [0, 1].map((rest) => purchases.filter((_each, index) => (index % 5 === 0) === (rest === 1)));
  for (const { admin } of [fromStart, afterwards]) await ok(admin, EVENT_TYPES_PATH, PURCHASE_EVENT_TYPE);
  await declareCampaign(fromStart.admin);
  for (const { admin } of [fromStart, afterwards]) await send(admin, before!);
  await declareCampaign(afterwards.admin);

  const client = afterwards.admin;
  const worker = [await startWorker()];
  const jobId = await startBackfill(client, CAMPAIGN, REACTION);
  const progress = () => readBackfill(client, CAMPAIGN, REACTION, jobId);
  const sending = send(client, live!);
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const enough = (before!.length * kill) / (KILLS + 1);
    await until(async () => (await progress()).scanned >= Math.min(enough, before!.length - 1), SECONDS);
    await worker.pop()?.kill();
    expect((await progress()).state).toBe('running');
    worker.push(await startWorker());
  }
  await sending;
  await send(fromStart.admin, live!);
  const total = before!.length;
  const first = await backfillOnce(() => client, CAMPAIGN, REACTION, jobId, SECONDS);
  expect(first).toMatchObject({ state: 'done', failed: 0, waiting: 0 });
  expect(first.applied).toBe(total);
  for (const { tenantId } of [fromStart, afterwards]) await untilDrained(url, tenantId, SECONDS);
  const expected = await valuesOf(fromStart);
  expect(await valuesOf(afterwards)).toEqual(expected);
  const cents = purchases.reduce((sum, each) => sum + each.cents, 0);
  expect(expected['the campaign']).toBe(cents / 100);

  const again = await backfill(client, CAMPAIGN, REACTION);
  expect(again).toMatchObject({ state: 'done', total: purchases.length, matched: 0, applied: 0 });
  expect(again.skipped).toBe(purchases.length);
  expect(await valuesOf(afterwards)).toEqual(expected);
  await Promise.all([api, ...worker].map((each) => each.stop()));
});
