import { PipelinedConnection } from '../../src/platform/postgres/pipelined-connection';
import { NIL_UUID } from '../../src/platform/values/uuid';
import { ChangeRelay } from '../../src/webhooks/delivery/change-relay';
import { startApp, type TestApp } from '../support/app';
import { aWorkspace } from '../support/client';
import { rowsOf } from '../support/database';
import { aWebhook } from '../support/webhooks';

const ENDPOINTS = 50;
const CHANGES = 25;

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
  const stock = { scope: 'campaign', name: 'stock', type: 'number' };
  await admin.post('/v1/campaigns/spring/variables:define', stock);
  const events = [{ change: { scope: 'campaign', name: 'stock', campaignId: 'spring' } }];
  const hooks = Array.from({ length: ENDPOINTS }, (_, number) =>
    aWebhook(admin, `http://127.0.0.1:9/${number}`, { events }),
  );
  await Promise.all(hooks);
  for (let value = 1; value <= CHANGES; value += 1) {
    const body = { ops: [{ path: 'state.campaign.stock', op: 'set', value }] };
    await admin.post('/v1/campaigns/spring/participants/ann/state:mutate', body);
  }
  const relay = service.app.get(ChangeRelay);
  const counts: number[] = [];
  for (let isMore = true; isMore;) {
    ({ isMore } = await relay.run(connection, NIL_UUID, (error: unknown) => {
      throw error;
    }));
    counts.push((await ordersOf(tenantId)).reduce((sum, { values }) => sum + values.length, 0));
  }
  expect(counts).toEqual([500, 1_000, 1_250]);
  const inOrder = Array.from({ length: CHANGES }, (_, index) => index + 1);
  expect((await ordersOf(tenantId)).map(({ values }) => values)).toEqual(Array(ENDPOINTS).fill(inOrder));
});

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
