import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { type Answer, Client, expectProblem } from '../support/client';
import { databaseOf, freshDatabaseUrl, urlOf, withClient } from '../support/database';
import { aCampaign, inc, mutate, type Campaign } from '../support/runtime';
import { until } from '../support/until';

let url: string;
let service: TestApp;
let anybody: Client;
let campaign: Campaign;

beforeAll(async () => {
  url = await freshDatabaseUrl('read_only');
  service = await startApp({}, url);
  anybody = new Client(service.url, undefined);
  campaign = await aCampaign({ url: service.url, databaseUrl: url });
  await campaign.define('state.user.points', 'number');
});
afterAll(() => service.stop());

/** Every session finds itself on a server that takes no writes, as after a failover that left the address at the old server. */
async function failOver(): Promise<void> {
  await asOperator(`ALTER DATABASE ${databaseOf(url)} SET default_transaction_read_only = on`);
  await withClient(urlOf('postgres'), (client) =>
    client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [databaseOf(url)]),
  );
}

/** The address leads to the new primary, and nobody ends the sessions at the old one. */
function repairAddress(): Promise<void> {
  return asOperator(`ALTER DATABASE ${databaseOf(url)} RESET default_transaction_read_only`);
}

function asOperator(statement: string): Promise<void> {
  return withClient(urlOf('postgres'), async (client) => {
    await client.query(statement);
  });
}

const WRITES: Readonly<Record<string, () => Promise<Answer>>> = {
  'an event': () => campaign.workspace.admin.post('/v1/external-events', anExternalEvent()),
  'a batch': () => campaign.workspace.admin.post('/v1/external-events:batch', { items: [anExternalEvent()] }),
  'a refused event': () => campaign.workspace.admin.post('/v1/external-events', {}),
  'a definition': () =>
    campaign.workspace.admin.post(`/v1/campaigns/${campaign.campaignId}/variables:define`, {
      scope: 'user',
      name: 'more',
      type: 'number',
    }),
  'a key': () => campaign.workspace.admin.post('/v1/api-keys', { name: 'more', scopes: ['events:read'] }),
  'a mutation': () => mutate(campaign.participant(), [inc('state.user.points')]),
};

const READS: Readonly<Record<string, () => Promise<Answer>>> = {
  'a list': () => campaign.workspace.admin.get('/v1/events'),
  'a read of state': () => campaign.participant().get('/v1/runtime/state'),
};

it('reads nothing from a server that takes no writes, which may be an old one', async () => {
  for (const read of Object.values(READS)) expect((await read()).status).toBe(200);
  await failOver();
  try {
    for (const read of Object.values(READS)) {
      await until(async () => (await read()).status === 503);
      expectProblem(await read(), 503, 'unavailable');
    }
  } finally {
    await repairAddress();
  }
  for (const read of Object.values(READS)) await until(async () => (await read()).status === 200);
});

it('answers writes with 503 and is not ready while the database takes none, and goes on by itself afterwards', async () => {
  for (const write of Object.values(WRITES)) expect((await write()).status).toBeLessThan(500);
  await failOver();
  try {
    await until(async () => (await anybody.get('/health/ready')).status === 503);
    for (let turn = 0; turn < 2; turn += 1) {
      for (const write of Object.values(WRITES)) {
        const answer = await write();
        expectProblem(answer, 503, 'unavailable');
        expect(answer.headers.get('retry-after')).toBe('1');
      }
    }
    const ready = await anybody.get('/health/ready');
    expectProblem(ready, 503, 'unavailable');
    expect(ready.body.message).toMatch(/takes no writes/);
  } finally {
    await repairAddress();
  }
  await until(async () => (await anybody.get('/health/ready')).status === 200);
  for (const write of Object.values(WRITES)) await until(async () => (await write()).status < 500);
  for (const write of Object.values(WRITES)) expect((await write()).status).toBeLessThan(500);
});
