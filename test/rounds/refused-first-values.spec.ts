import { startApp, type TestApp } from '../support/app';
import { readBackfill, startBackfill } from '../support/backfills';
import { anExternalEvent } from '../support/builders';
import { rowsOf } from '../support/database';
import { untilDrained } from '../support/processing';
import { refuseWrites } from '../support/refused-writes';
import { aCampaign, type Campaign } from '../support/runtime';
import { until } from '../support/until';

/*
 * The database refuses the change of one event, among those of participants who have had no values. That event fails
 * (docs/adr/0066), and the others are applied.
 */

const ADD = { path: 'state.user.points', op: 'inc', valueFrom: 'properties.amount' };

let service: TestApp;
let campaign: Campaign;
let refused: { undo(): Promise<void> } | undefined;

beforeAll(async () => {
  service = await startApp({}, undefined, [], { processesEvents: true });
});
beforeEach(async () => {
  campaign = await aCampaign(service);
  await campaign.define(ADD.path, 'number');
});
afterEach(() => refused?.undo());
afterAll(() => service.stop());

const eventOf = (value: string) =>
  anExternalEvent({ identity: { type: 'EXTERNAL', value }, attributes: { amount: 1 } });

async function define(): Promise<void> {
  const { admin } = campaign.workspace;
  const path = `/v1/campaigns/${campaign.campaignId}/reactions:define`;
  expect((await admin.post(path, { name: 'reward', eventType: 'purchase', ops: [ADD] })).status).toBe(200);
}

async function refuseBob(): Promise<void> {
  const condition = `NEW.subject = 'bob' AND NEW.values ? 'points'`;
  refused = await refuseWrites(service.databaseUrl, 'participant_states', condition, '23514');
}

it('lets a backfill end', async () => {
  const { tenantId, admin } = campaign.workspace;
  const items = ['ann', 'bob', 'cid', 'dan'].map(eventOf);
  expect((await admin.post('/v1/external-events:batch', { items })).status).toBe(200);
  await untilDrained(service.databaseUrl, tenantId, 60);
  await define();
  await refuseBob();
  const id = await startBackfill(admin, campaign.campaignId, 'reward');
  const now = () => readBackfill(admin, campaign.campaignId, 'reward', id);
  await until(async () => ['done', 'gave_up'].includes(String((await now())['state'])));
  expect(await now()).toMatchObject({ state: 'done', applied: 3, failed: 1 });
});

it('is no failed attempt of the events beside it', async () => {
  const { tenantId, admin } = campaign.workspace;
  await define();
  await refuseBob();
  // Some of each partition of the queue, which the worker takes in one turn.
  const items = ['bob', ...Array.from({ length: 199 }, (_unused, n) => `customer-${n}`)].map(eventOf);
  expect((await admin.post('/v1/external-events:batch', { items })).status).toBe(200);
  const states = `SELECT attempts, count(*)::int AS events FROM event_processing
    WHERE tenant_id = $1 AND state = 'processed' GROUP BY 1`;
  await until(async () => {
    const rows = await rowsOf<{ events: number }>(service.databaseUrl, states, [tenantId]);
    return rows.reduce((sum, { events }) => sum + events, 0) === 199;
  });
  expect(await rowsOf(service.databaseUrl, states, [tenantId])).toEqual([{ attempts: 1, events: 199 }]);
});
