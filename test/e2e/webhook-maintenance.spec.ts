import { DeliveryMaintenance } from '../../src/webhooks/delivery/delivery-maintenance';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, expectProblem, type Client, type Workspace } from '../support/client';
import { rowsOf, waitingForLocks, withClient } from '../support/database';
import { aClockedDatabase, type ClockedDatabase } from '../support/database-clock';
import { growth, metricsOf } from '../support/metrics';
import { untilDrained } from '../support/processing';
import { expireOver, letDaysPass } from '../support/retention';
import { until } from '../support/until';
import { aWebhook, keepUpDeliveries, numbersOf, startReceiver, startReplay, type Receiver } from '../support/webhooks';

const HOUR_MS = 60 * 60 * 1_000;
const DAY_MS = 24 * HOUR_MS;

let database: ClockedDatabase;
let service: TestApp;
let receiver: Receiver;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  database = await aClockedDatabase('webhook_upkeep');
  service = await startApp({ WEBHOOKS_ALLOW_PRIVATE: 'true' }, database.url, [], { processesEvents: true });
});
beforeEach(async () => {
  // The definition of an endpoint waits for the real clock.
  await letPass(0);
  [receiver, workspace] = await Promise.all([startReceiver(), aWorkspace(service)]);
  client = workspace.admin;
});
afterEach(() => receiver.stop());
afterAll(() => service.stop());

/** Sets the database's clock so far ahead of the real one. */
async function letPass(ms: number): Promise<void> {
  await database.setBefore(database.boundary.getTime() - Date.now() - ms);
}

async function send(customer: string, n: number): Promise<string> {
  const event = anExternalEvent({ identity: { type: 'EXTERNAL', value: customer }, attributes: { n } });
  const { status, body } = await client.post('/v1/external-events', event);
  expect(status).toBe(202);
  return body.event_id;
}

async function deliveriesOf(id: string): Promise<any[]> {
  return (await client.get(`/v1/webhooks/${id}/deliveries`)).body.items.toReversed();
}

const statesOf = async (id: string): Promise<unknown[]> =>
  (await deliveriesOf(id)).map(({ state, reason }) => reason ?? state);

describe('metrics of webhooks', () => {
  it('say how many customers wait, for how long, and what became of attempts', async () => {
    const before = await metricsOf(service.url);
    expect([before['cds_webhook_queues'], before['cds_webhook_oldest_seconds']]).toEqual([0, 0]);
    const { id } = await aWebhook(client, receiver.url);
    const closed = await startReceiver();
    await closed.stop();
    const { id: away } = await aWebhook(client, closed.url);
    receiver.answer(({ body }) => ({ status: body.data.properties.n === 0 ? 503 : 200 }));
    for (const [customer, n] of [
      ...[['ann', 0] as const, ['ann', 1] as const],
      ...[['bob', 2] as const, ['cem', 3] as const],
    ]) {
      await send(customer, n);
    }
    await until(async () => (await statesOf(id)).filter((state) => state === 'delivered').length === 2);
    const attempted = async (webhook: string) =>
      (await deliveriesOf(webhook)).filter(({ attemptCount }) => attemptCount === 1).length;
    await until(async () => (await attempted(id)) === 3 && (await attempted(away)) === 3);
    const after = await metricsOf(service.url);
    expect(growth(before, after, 'cds_webhook_attempts_total')).toEqual({
      'cds_webhook_attempts_total{outcome="delivered"}': 2,
      'cds_webhook_attempts_total{outcome="refused_status"}': 1,
      'cds_webhook_attempts_total{outcome="not_connected"}': 3,
    });
    expect(growth(before, after, 'cds_webhook_attempt_seconds_count')).toEqual({
      cds_webhook_attempt_seconds_count: 6,
    });
    // Ann at the one, who has two deliveries, and all three at the other.
    expect(after['cds_webhook_queues']).toBe(4);
    await letPass(2 * HOUR_MS);
    const oldest = (await metricsOf(service.url))['cds_webhook_oldest_seconds']!;
    expect(oldest).toBeGreaterThanOrEqual(2 * 3_600);
    expect(oldest).toBeLessThan(3 * 3_600);
    for (const webhook of [id, away]) await client.post(`/v1/webhooks/${webhook}:disable`, {});
    const disabled = await metricsOf(service.url);
    expect([disabled['cds_webhook_queues'], disabled['cds_webhook_oldest_seconds']]).toEqual([4, 0]);
    for (const webhook of [id, away]) await client.send(`/v1/webhooks/${webhook}`, undefined, { method: 'DELETE' });
    await until(async () => (await metricsOf(service.url))['cds_webhook_queues'] === 0);
  });
});

describe('an endpoint whose failing delivery ended otherwise', () => {
  it('fails no more once nothing waits for it, and the next failure does not disable it', async () => {
    const { id } = await aWebhook(client, receiver.url);
    const { id: waiting } = await aWebhook(client, receiver.url);
    receiver.answer(() => ({ status: 500 }));
    for (const [customer, n] of [['ann', 1] as const, ['bob', 2] as const]) await send(customer, n);
    const attempted = async (webhook: string) =>
      (await deliveriesOf(webhook)).filter(({ attemptCount }) => attemptCount > 0).length;
    for (const each of [id, waiting]) await until(async () => (await attempted(each)) === 2);
    const failingSince = async (webhook: string) => (await client.get(`/v1/webhooks/${webhook}`)).body.failingSince;
    /** Lets one more customer use up the attempts, as at an endpoint that took others. */
    const useUp = async (failed: number): Promise<void> => {
      await rowsOf(service.databaseUrl, 'UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1', [id]);
      const last = `UPDATE webhook_queues SET failures = 9, due_at = now() WHERE endpoint_id = $1 AND profile_id =
        (SELECT profile_id FROM webhook_queues WHERE endpoint_id = $1 ORDER BY profile_id LIMIT 1)`;
      await rowsOf(service.databaseUrl, last, [id]);
      await until(async () => (await statesOf(id)).filter((state) => state === 'attempts_used_up').length === failed);
    };
    await useUp(1);
    // The other customer waits at both, so the job of each hour, which may run now, leaves both failing.
    for (const each of [id, waiting]) expect(await failingSince(each)).not.toBeNull();
    await useUp(2);
    const age = `UPDATE webhook_endpoints SET failing_since = now() - interval '6 days' WHERE tenant_id = $1`;
    await rowsOf(service.databaseUrl, age, [workspace.tenantId]);
    const expire = () => keepUpDeliveries(service.app);
    await expire();
    expect(await failingSince(id)).toBeNull();
    expect(await failingSince(waiting)).not.toBeNull();
    await send('cem', 3);
    await until(async () => (await attempted(id)) === 3);
    expect((await client.get(`/v1/webhooks/${id}`)).body).toMatchObject({ enabled: true, disabledReason: null });
    await until(async () => (await client.get(`/v1/webhooks/${waiting}`)).body.disabledReason === 'failing');
    // It stays visible at a disabled endpoint since when it failed.
    await rowsOf(service.databaseUrl, 'DELETE FROM webhook_queues WHERE endpoint_id = $1', [waiting]);
    await expire();
    expect(await failingSince(waiting)).not.toBeNull();
  });
});

describe('deliveries in the course of time', () => {
  it('end as event_gone when their event expired before they were made, and hold nobody up', async () => {
    const { id } = await aWebhook(client, receiver.url);
    await client.post(`/v1/webhooks/${id}:disable`, {});
    const old = await send('ann', 1);
    await send('ann', 2);
    await untilDrained(service.databaseUrl, workspace.tenantId);
    await letDaysPass(service.databaseUrl, workspace.tenantId, 40, [old]);
    await expireOver(client, 30);
    expectProblem(await client.get(`/v1/events/${old}`), 410, 'event_expired');
    expect(await statesOf(id)).toEqual(['pending', 'pending']);
    await client.post(`/v1/webhooks/${id}:enable`, {});
    await until(async () => (await statesOf(id)).every((state) => state !== 'pending'));
    expect(await statesOf(id)).toEqual(['event_gone', 'delivered']);
    expect(numbersOf(receiver.calls)).toEqual([2]);
    expect((await deliveriesOf(id))[0]).toMatchObject({ state: 'failed', attemptCount: 0, attempts: [] });
    // A repetition that is asked for ends in the same way; a replay does not know the event any more.
    await client.post(`/v1/webhooks/${id}/deliveries/${old}:retry`, {});
    await until(async () => !(await statesOf(id)).includes('pending'));
    expect(await startReplay(client, id)).toContain('/replays/');
    await receiver.until(2);
    expect(numbersOf(receiver.calls)).toEqual([2, 2]);
  });

  it('are ended when they are about a change and have waited for 90 days; those of events wait on', async () => {
    await client.post('/v1/campaigns/spring/variables:define', { scope: 'campaign', name: 'stock', type: 'number' });
    const events = [{ change: { scope: 'campaign', name: 'stock' } }, { eventType: 'purchase' }];
    const { id } = await aWebhook(client, receiver.url, { events });
    const setStock = async (value: number): Promise<void> => {
      const ops = [{ path: 'state.campaign.stock', op: 'set', value }];
      expect((await client.post('/v1/campaigns/spring/participants/ann/state:mutate', { ops })).status).toBe(200);
    };
    await client.post(`/v1/webhooks/${id}:disable`, {});
    for (const value of [1, 2]) await setStock(value);
    await send('ann', 7);
    await until(async () => (await deliveriesOf(id)).length === 3);
    const expire = () => keepUpDeliveries(service.app);
    await letPass(90 * DAY_MS - HOUR_MS);
    await setStock(3);
    await until(async () => (await deliveriesOf(id)).length === 4);
    await expire();
    expect(await statesOf(id)).toEqual(Array(4).fill('pending'));
    await letPass(90 * DAY_MS + HOUR_MS);
    await expire();
    const byKind = (await deliveriesOf(id)).map(({ kind, state, reason }) => `${kind} ${reason ?? state}`);
    expect(byKind.toSorted()).toEqual([
      ...['change change_expired', 'change change_expired', 'change pending', 'event pending'],
    ]);
    await client.post(`/v1/webhooks/${id}:enable`, {});
    await receiver.until(2);
    await until(async () => !(await statesOf(id)).includes('pending'));
    expect(receiver.calls.map(({ body }) => body.data.current ?? body.data.properties.n).toSorted()).toEqual([3, 7]);
  });

  it('are removed with their attempts 30 days after they were done, and not while they wait', async () => {
    const { id } = await aWebhook(client, receiver.url);
    receiver.answer(({ body }) => ({ status: body.data.properties.n === 0 ? 200 : 500, body: 'an answer' }));
    const done = await send('ann', 0);
    await send('bob', 1);
    await send('cem', 2);
    await until(async () => (await deliveriesOf(id)).filter(({ attemptCount }) => attemptCount === 1).length === 3);
    // One has used up its attempts, at an endpoint that takes others: it fails with the next one.
    await rowsOf(service.databaseUrl, 'UPDATE webhook_endpoints SET failing_since = NULL WHERE id = $1', [id]);
    await rowsOf(
      service.databaseUrl,
      `UPDATE webhook_queues q SET failures = 9, due_at = now() FROM webhook_deliveries d
       WHERE q.tenant_id = $3 AND d.tenant_id = $3 AND d.endpoint_id = $1 AND q.endpoint_id = $1
         AND q.profile_id = d.profile_id AND d.event_id = $2`,
      [id, (await deliveriesOf(id))[1].id, workspace.tenantId],
    );
    await until(async () => (await statesOf(id)).includes('attempts_used_up'));
    await client.post(`/v1/webhooks/${id}:disable`, {});
    expect(await statesOf(id)).toEqual(['delivered', 'attempts_used_up', 'pending']);
    const expire = () => keepUpDeliveries(service.app);
    await letPass(30 * DAY_MS - HOUR_MS);
    await expire();
    expect((await deliveriesOf(id)).map(({ attempts }) => attempts[0].answer)).toEqual(Array(3).fill('an answer'));
    expect((await client.get(`/v1/events/${done}`)).body.processing.deliveries).toHaveLength(1);
    await letPass(30 * DAY_MS + HOUR_MS);
    await expire();
    expect(await statesOf(id)).toEqual(['pending']);
    expect((await client.get(`/v1/events/${done}`)).body.processing.deliveries).toBeUndefined();
    const sql = 'SELECT FROM webhook_deliveries WHERE tenant_id = $1';
    expect(await rowsOf(service.databaseUrl, sql, [workspace.tenantId])).toHaveLength(1);
  });

  it('are removed also where each step is made by another job', async () => {
    const ids = [await aWebhook(client, receiver.url), await aWebhook(client, receiver.url)].map(({ id }) => id);
    await send('ann', 1);
    for (const id of ids) await until(async () => (await statesOf(id)).join() === 'delivered');
    // More than two steps of each kind, whose boundaries fall between deliveries of one `seq`.
    const copies = `
      INSERT INTO webhook_deliveries
      SELECT (jsonb_populate_record(d, jsonb_build_object('event_id', gen_random_uuid(), 'seq', number / 1000 + 1,
        'state', copy.state, 'is_change', copy.state = 'pending', 'done_at', now() - days * interval '1 day'))).*
      FROM webhook_deliveries d CROSS JOIN generate_series(0, 1199) AS number
        CROSS JOIN (VALUES ('delivered', 1), ('delivered', 31), ('pending', NULL)) AS copy (state, days)
      WHERE tenant_id = $1`;
    await rowsOf(service.databaseUrl, copies, [workspace.tenantId]);
    const maintenance = service.app.get(DeliveryMaintenance);
    for (let from: Readonly<Record<string, string>> = {}; ;) {
      const { value } = await maintenance.expireDeliveries(from).next();
      if (value === undefined) break;
      from = value;
    }
    const left = `SELECT endpoint_id, state, count(*)::int FROM webhook_deliveries WHERE tenant_id = $1
      GROUP BY endpoint_id, state ORDER BY endpoint_id, state`;
    expect(await rowsOf(service.databaseUrl, left, [workspace.tenantId])).toEqual(
      ids.toSorted().flatMap((id) => [
        { endpoint_id: id, state: 'delivered', count: 1_201 },
        { endpoint_id: id, state: 'failed', count: 1_200 },
      ]),
    );
  });

  it('are not removed when they are asked for again at that moment', async () => {
    const { id } = await aWebhook(client, receiver.url);
    const eventId = await send('ann', 1);
    await until(async () => (await statesOf(id)).join() === 'delivered');
    const waiting = (statement: string) => waitingForLocks(service.databaseUrl, { statement });
    const [retried] = await withClient(service.databaseUrl, async (holder) => {
      await holder.query('BEGIN');
      const held = 'SELECT FROM webhook_deliveries WHERE tenant_id = $1 AND endpoint_id = $2 FOR UPDATE';
      await holder.query(held, [workspace.tenantId, id]);
      const retrying = client.post(`/v1/webhooks/${id}/deliveries/${eventId}:retry`, {});
      // It inserts into queues and deliveries, on a cluster by two statements.
      await until(async () => (await waiting('INSERT INTO webhook_')) === 1);
      // The job of each hour may come to it, too.
      await letPass(31 * DAY_MS);
      const expiring = keepUpDeliveries(service.app);
      await until(async () => (await waiting('DELETE FROM webhook_deliveries')) > 0);
      await holder.query('COMMIT');
      return Promise.all([retrying, expiring]);
    });
    expect(retried).toMatchObject({ status: 200, body: { state: 'pending' } });
    await receiver.until(2);
    await until(async () => (await statesOf(id)).join() === 'delivered');
  });
});
