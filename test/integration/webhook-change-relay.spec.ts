import { PipelinedConnection } from '../../src/platform/postgres/pipelined-connection';
import { NIL_UUID } from '../../src/platform/values/uuid';
import { ChangeRelay } from '../../src/webhooks/delivery/change-relay';
import { WorkspaceTransactions } from '../../src/webhooks/delivery/workspace-transactions';
import { startApp, type TestApp } from '../support/app';
import { aWorkspace, type Workspace } from '../support/client';
import { rowsOf, withClient } from '../support/database';
import { until } from '../support/until';
import { aWebhook } from '../support/webhooks';

const ENDPOINTS = 50;
const CHANGES = 25;
const STOCK = { scope: 'campaign', name: 'stock', type: 'number' };
const OF_STOCK = [{ change: { scope: 'campaign', name: 'stock', campaignId: 'spring' } }];
const setStock = (value: number): object => ({ ops: [{ path: 'state.campaign.stock', op: 'set', value }] });

let service: TestApp;
let connection: PipelinedConnection;

beforeAll(async () => {
  // No dispatcher runs.
  service = await startApp({ WEBHOOKS_ALLOW_PRIVATE: 'true' });
  const options = { applicationName: 'relay', lockTimeoutMs: 5_000, statementTimeoutMs: 30_000 };
  connection = new PipelinedConnection({ url: service.databaseUrl }, options);
});
afterAll(async () => {
  await connection.close();
  await service.stop();
});

it('adds 500 deliveries of a workspace at most in one transaction, in the order of the changes', async () => {
  const { tenantId, admin } = await aWorkspace(service);
  await admin.post('/v1/campaigns/spring/variables:define', STOCK);
  const hooks = Array.from({ length: ENDPOINTS }, (_, number) =>
    aWebhook(admin, `http://127.0.0.1:9/${number}`, { events: OF_STOCK }),
  );
  await Promise.all(hooks);
  for (let value = 1; value <= CHANGES; value += 1) {
    await admin.post('/v1/campaigns/spring/participants/ann/state:mutate', setStock(value));
  }
  const relay = service.app.get(ChangeRelay);
  const counts: number[] = [];
  for (let isMore = true; isMore;) {
    ({ isMore } = await relay.run(connection, transactions(), NIL_UUID));
    counts.push((await ordersOf(tenantId)).reduce((sum, { values }) => sum + values.length, 0));
  }
  expect(counts).toEqual([500, 1_000, 1_250]);
  const inOrder = Array.from({ length: CHANGES }, (_, index) => index + 1);
  expect((await ordersOf(tenantId)).map(({ values }) => values)).toEqual(Array(ENDPOINTS).fill(inOrder));
});

it('goes on with the other workspaces where a statement of one is ended, and comes back to that one later', async () => {
  const [broken, other] = await twoChangedWorkspaces();
  const relay = service.app.get(ChangeRelay);
  const failures: unknown[] = [];
  const held = transactions((error) => failures.push(error));
  await withClient(service.databaseUrl, async (client) => {
    await client.query(cancelStatementsOf(broken.tenantId));
    try {
      await relay.run(connection, held, NIL_UUID);
      await relay.run(connection, held, NIL_UUID);
    } finally {
      await client.query('DROP FUNCTION cancel_statement CASCADE');
    }
  });
  // It rested at the second time.
  expect(failures).toMatchObject([{ code: '57014' }]);
  expect(await ordersOf(other.tenantId)).toEqual([{ values: [1] }]);
  expect(await ordersOf(broken.tenantId)).toEqual([]);
  await until(async () => {
    await relay.run(connection, held, NIL_UUID);
    return (await ordersOf(broken.tenantId)).length === 1;
  });
});

it('begins with the workspaces that one before them left no time for', async () => {
  const [slow, other] = await twoChangedWorkspaces();
  const relay = service.app.get(ChangeRelay);
  await withClient(service.databaseUrl, async (client) => {
    await client.query(delayQueuesOf(slow.tenantId));
    try {
      const { after } = await relay.run(connection, transactions(), NIL_UUID);
      expect([after, await ordersOf(other.tenantId)]).toEqual([slow.tenantId, []]);
      await slow.admin.post('/v1/campaigns/spring/participants/ann/state:mutate', setStock(2));
      await relay.run(connection, transactions(), after);
    } finally {
      await client.query('DROP FUNCTION delay_queue CASCADE');
    }
  });
  expect(await ordersOf(other.tenantId)).toEqual([{ values: [1] }]);
});

/** In the order in which they are relayed. */
async function twoChangedWorkspaces(): Promise<[Workspace, Workspace]> {
  const [one, two] = await Promise.all([aWorkspace(service), aWorkspace(service)]);
  for (const { admin } of [one, two]) {
    await admin.post('/v1/campaigns/spring/variables:define', STOCK);
    await aWebhook(admin, 'http://127.0.0.1:9/', { events: OF_STOCK });
    await admin.post('/v1/campaigns/spring/participants/ann/state:mutate', setStock(1));
  }
  return one.tenantId < two.tenantId ? [one, two] : [two, one];
}

function transactions(
  failed = (error: unknown): unknown => {
    throw error;
  },
): WorkspaceTransactions {
  return new WorkspaceTransactions({ connection, settings: {}, isAway: () => false, failed });
}

/** Ends statements that add queues of a workspace, as the time limit of statements does. */
const cancelStatementsOf = (tenantId: string): string => `
  CREATE FUNCTION cancel_statement() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION USING ERRCODE = 'query_canceled'; END $$;
  CREATE TRIGGER cancel_statement BEFORE INSERT ON webhook_queues
    FOR EACH ROW WHEN (NEW.tenant_id = '${tenantId}') EXECUTE FUNCTION cancel_statement()`;

/** Lets the queues of a workspace take longer than one round begins transactions. */
const delayQueuesOf = (tenantId: string): string => `
  CREATE FUNCTION delay_queue() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(5.2); RETURN NEW; END $$;
  CREATE TRIGGER delay_queue BEFORE INSERT ON webhook_queues
    FOR EACH ROW WHEN (NEW.tenant_id = '${tenantId}') EXECUTE FUNCTION delay_queue()`;

/** The values of the deliveries of each endpoint, in the order of its queue. */
function ordersOf(tenantId: string): Promise<{ values: number[] }[]> {
  return rowsOf(
    service.databaseUrl,
    `SELECT json_agg(c.change -> 'current' ORDER BY d.seq) AS values
     FROM webhook_deliveries d JOIN webhook_changes c ON c.tenant_id = d.tenant_id AND c.id = d.event_id
     WHERE d.tenant_id = $1 GROUP BY d.endpoint_id`,
    [tenantId],
  );
}
