import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { rowsOf } from '../support/database';
import { aCampaign, type Campaign } from '../support/runtime';
import { until } from '../support/until';

/**
 * After a failover to a standby that was behind, or a restore, a database may lack what processes have read from it.
 * The tests take such transactions back by hand.
 */
let service: TestApp;
let campaign: Campaign;

beforeAll(async () => {
  service = await startApp({}, undefined, [], { processesEvents: true });
});
beforeEach(async () => {
  campaign = await aCampaign(service);
  await campaign.define('state.campaign.points', 'number');
});
afterAll(() => service.stop());

const points = async (): Promise<unknown> => {
  const { tenantId } = campaign.workspace;
  const [row] = await rowsOf<{ value: number }>(
    service.databaseUrl,
    `SELECT value FROM shared_values WHERE tenant_id = $1 AND name = 'points'`,
    [tenantId],
  );
  return row?.value;
};

async function defineReaction(value: number): Promise<void> {
  const ops = [{ path: 'state.campaign.points', op: 'inc', value }];
  const body = { name: 'reward', eventType: 'purchase', ops };
  const answer = await campaign.workspace.admin.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, body);
  expect(answer.status).toBe(200);
}

async function processEvent(): Promise<void> {
  const { admin } = campaign.workspace;
  const { body } = await admin.post('/v1/external-events', anExternalEvent());
  await until(async () => (await admin.get(`/v1/events/${body.event_id}`)).body.processing.state === 'processed');
}

it('a reaction that is defined again instead of one that was lost applies as it is defined now', async () => {
  const { tenantId } = campaign.workspace;
  const rows = <Row>(sql: string, ...values: readonly unknown[]) =>
    rowsOf<Row>(service.databaseUrl, sql, [tenantId, ...values]);
  await defineReaction(1);
  await processEvent();
  const [before] = await rows<{ version: string; operations: unknown }>(
    'SELECT version, operations FROM reactions JOIN reaction_sets USING (tenant_id) WHERE tenant_id = $1',
  );
  await defineReaction(10);
  await processEvent();
  await rows('UPDATE reactions SET operations = $2 WHERE tenant_id = $1', JSON.stringify(before!.operations));
  await rows('UPDATE reaction_sets SET version = $2 WHERE tenant_id = $1', before!.version);
  await defineReaction(100);
  await processEvent();
  expect(await points()).toBe(111);
});
