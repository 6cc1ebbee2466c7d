import { randomUUID } from 'node:crypto';
import { startApp, type TestApp } from '../support/app';
import { aCdpEvent, anExternalEvent, PURCHASE, registerTypes } from '../support/builders';
import { rowsOf, serversOf } from '../support/database';
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

const END_SESSIONS_OF_INGEST = `
  SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'cds-ingest'`;

it('an identifier whose link was lost leads to the customer to whom it belongs now', async () => {
  const { admin, tenantId } = campaign.workspace;
  await registerTypes(admin, [PURCHASE]);
  const identity = { externalUserId: randomUUID(), email: `${randomUUID()}@example.com` };
  const email = { type: 'EMAIL', value: identity.email };
  const profileOf = async (id: string): Promise<string> => (await admin.get(`/v1/events/${id}`)).body.profileId;
  // The second event links the address, and with the third one the process remembers that.
  await admin.post('/v1/cdp/events', aCdpEvent({ identity: { externalUserId: identity.externalUserId } }));
  await admin.post('/v1/cdp/events', aCdpEvent({ identity }));
  const { body: before } = await admin.post('/v1/external-events', anExternalEvent({ identity: email }));
  await rowsOf(service.databaseUrl, `DELETE FROM profile_identifiers WHERE tenant_id = $1 AND kind = 'EMAIL'`, [
    tenantId,
  ]);
  for (const server of await serversOf(service.databaseUrl)) await rowsOf(server, END_SESSIONS_OF_INGEST);
  const { status, body: behind } = await admin.post('/v1/external-events', anExternalEvent({ identity: email }));
  expect(status).toBe(202);
  const [former, current] = [await profileOf(before.event_id), await profileOf(behind.event_id)];
  expect(current).not.toBe(former);
  expect((await admin.post('/v1/cdp/profiles:lookup', email)).body.id).toBe(current);
});
