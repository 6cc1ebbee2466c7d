import { isDeepStrictEqual } from 'node:util';
import { Clock } from '../../src/platform/values/clock';
import { startApp, type TestApp } from '../support/app';
import { backfillOnce, startBackfill } from '../support/backfills';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, type Client, type Workspace } from '../support/client';
import { rowsOf, withClient } from '../support/database';
import { aClockedDatabase, type ClockedDatabase } from '../support/database-clock';
import { untilDrained } from '../support/processing';
import { expireAll, expireOver, letDaysPass } from '../support/retention';
import { countLog, statisticsOf, sumOf } from '../support/statistics';
import { until } from '../support/until';
import { aWebhook, makeDue, numbersOf, startReceiver } from '../support/webhooks';

const DAY_MS = 24 * 60 * 60 * 1_000;

let database: ClockedDatabase;
let service: TestApp;
let workspace: Workspace;
let client: Client;

beforeAll(async () => {
  database = await aClockedDatabase('clock_set_back');
  service = await startApp({ WEBHOOKS_ALLOW_PRIVATE: 'true' }, database.url, [], { processesEvents: true });
});
beforeEach(async () => {
  await setAhead(0);
  workspace = await aWorkspace(service);
  client = workspace.admin;
});
afterAll(() => service.stop());

/** Sets the database's clock so far ahead of the real one. Resolves once the service has seen that. */
async function setAhead(ms: number): Promise<void> {
  await database.setTo(new Date(Date.now() + ms));
  const seenAhead = (): number => service.app.get(Clock).now().getTime() - Date.now();
  await until(() => Math.abs(seenAhead() - ms) < 1_000);
}

async function send(n: number): Promise<void> {
  const event = anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' }, attributes: { n } });
  expect((await client.post('/v1/external-events', event)).status).toBe(202);
}

describe('after the clock of the database was set back', () => {
  it.each([30, 20 * 60])('events of the %i seconds that come twice are counted', async (seconds) => {
    await setAhead(seconds * 1_000);
    await send(1);
    await countLog(service);
    await setAhead(0);
    await send(2);
    const at = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
    const range = `from=${at(-1)}&to=${at(1)}`;
    const accepted = async (): Promise<number> => sumOf(await statisticsOf(client, range)).accepted;
    await until(async () => (await accepted()) === 2, 20);
    await countLog(service);
    expect(await accepted()).toBe(2);
  });

  it('old events are removed, and not only when the former time comes again', async () => {
    await setAhead(2 * DAY_MS);
    await expireOver(client, 30);
    await setAhead(0);
    await send(1);
    await untilDrained(service.databaseUrl, workspace.tenantId);
    await letDaysPass(service.databaseUrl, workspace.tenantId, 40);
    // As if its last pass had ended by the former time: the service's own job may have made one since.
    const ahead = `UPDATE event_retention SET next_step_at = clock_timestamp() + interval '2 days' WHERE tenant_id = $1`;
    // A step leaves what is being counted again.
    await until(async () => {
      await rowsOf(service.databaseUrl, ahead, [workspace.tenantId]);
      await expireAll(service.app);
      return (await client.get('/v1/events')).body.items.length === 0;
    });
  });

  it('review entries of the former time are dismissed in bulk', async () => {
    await setAhead(2 * DAY_MS);
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    await setAhead(0);
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    const { jobId } = (await client.post('/v1/review-entries:dismiss', { filter: {} })).body;
    const dismissal = async () => (await client.get(`/v1/review-dismissals/${jobId}`)).body;
    await until(async () => (await dismissal()).state === 'done');
    expect(await dismissal()).toMatchObject({ total: 2, dismissed: 2 });
  });

  it('deliveries of webhooks that were due by the former time are made', async () => {
    const receiver = await startReceiver();
    const { id } = await aWebhook(client, receiver.url);
    await client.post(`/v1/webhooks/${id}:disable`, {});
    await setAhead(2 * DAY_MS);
    await send(1);
    await untilDrained(service.databaseUrl, workspace.tenantId);
    await setAhead(0);
    // Without the request, which makes everything due: as if these had waited for a call to end.
    await rowsOf(service.databaseUrl, 'UPDATE webhook_endpoints SET enabled = true WHERE id = $1', [id]);
    await receiver.until(1);
    await send(2);
    await receiver.until(2);
    expect(numbersOf(receiver.calls)).toEqual([1, 2]);
    await receiver.stop();
  });

  it('attempts at deliveries keep their delays, though the endpoint was enabled by the former time', async () => {
    const receiver = await startReceiver();
    receiver.answer(() => ({ status: 500 }));
    const { id } = await aWebhook(client, receiver.url);
    await setAhead(2 * DAY_MS);
    for (const action of ['disable', 'enable']) await client.post(`/v1/webhooks/${id}:${action}`, {});
    await setAhead(0);
    await send(1);
    const failuresOf = async (): Promise<unknown> =>
      (await rowsOf(service.databaseUrl, 'SELECT failures FROM webhook_queues WHERE endpoint_id = $1', [id]))[0];
    for (const failures of [1, 2, 3]) {
      await until(async () => isDeepStrictEqual(await failuresOf(), { failures }));
      await makeDue(service.databaseUrl, id);
    }
    await receiver.stop();
  });

  it('reactions apply that were defined by the former time', async () => {
    const campaign = '/v1/campaigns/summer';
    await client.post(`${campaign}/variables:define`, { scope: 'campaign', name: 'sold', type: 'number' });
    const ops = [{ path: 'state.campaign.sold', op: 'inc', value: 1 }];
    const reaction = { name: 'count', eventType: 'purchase', ops };
    expect((await client.post(`${campaign}/reactions:define`, reaction)).status).toBe(200);
    await setAhead(2 * DAY_MS);
    // As if it had been defined now: a definition waits for the real clock.
    const ahead = 'UPDATE reactions SET applies_from = $2 WHERE tenant_id = $1';
    await rowsOf(service.databaseUrl, ahead, [workspace.tenantId, new Date(Date.now() + 2 * DAY_MS)]);
    await setAhead(0);
    await until(async () => {
      const { status, body } = await client.get(`${campaign}/reactions/count`);
      return status === 200 && new Date(body.appliesFrom) <= new Date();
    }, 20);
    await send(1);
    await until(async () => (await client.get(`${campaign}/participants/ann/state`)).body.state.campaign.sold === 1);
  });

  describe('a backfill', () => {
    const campaign = '/v1/campaigns/backfilled';
    const last = { path: 'state.campaign.last', op: 'set', valueFrom: 'properties.n' };
    const start = (fields: Readonly<Record<string, unknown>> = {}): Promise<string> =>
      startBackfill(client, 'backfilled', 'keep', fields);
    const over = (jobId: string) => backfillOnce(() => client, 'backfilled', 'keep', jobId);
    const value = async (): Promise<unknown> =>
      (await client.get(`${campaign}/participants/ann/state`)).body.state.campaign.last;

    beforeEach(() => client.post(`${campaign}/variables:define`, { scope: 'campaign', name: 'last', type: 'number' }));

    async function define(): Promise<void> {
      const reaction = { name: 'keep', eventType: 'purchase', ops: [last] };
      expect((await client.post(`${campaign}/reactions:define`, reaction)).status).toBe(200);
    }

    it('that was asked for afterwards comes to events of the former time', async () => {
      await send(1);
      await setAhead(2 * DAY_MS);
      await send(2);
      await setAhead(0);
      await untilDrained(service.databaseUrl, workspace.tenantId);
      await define();
      expect(await over(await start())).toMatchObject({ state: 'done', total: 2, applied: 2 });
      expect(await value()).toBe(2);
    });

    it('keeps what an event of the former time has set, beyond its range', async () => {
      await send(1);
      await define();
      await setAhead(2 * DAY_MS);
      await send(2);
      await until(async () => (await value()) === 2);
      await setAhead(0);
      const to = new Date(Date.now() + DAY_MS).toISOString();
      expect(await over(await start({ to }))).toMatchObject({ state: 'done', total: 1, applied: 0, skipped: 1 });
      expect(await value()).toBe(2);
    });

    it('that begins by the former time does not wait until it comes again', async () => {
      await send(1);
      await untilDrained(service.databaseUrl, workspace.tenantId);
      await define();
      // Keeps the survey waiting.
      const jobId = await withClient(service.databaseUrl, async (open) => {
        await open.query('BEGIN');
        await open.query('SELECT pg_current_xact_id()');
        await setAhead(2 * DAY_MS);
        const id = await start();
        const path = `${campaign}/reactions/keep/backfills/${id}`;
        await until(async () => (await client.get(path)).body.startedAt !== null);
        await setAhead(0);
        await open.query('COMMIT');
        return id;
      });
      // Transactions that come and go, as on a busy server.
      const busy = new AbortController();
      const traffic = withClient(service.databaseUrl, async (one) =>
        withClient(service.databaseUrl, async (other) => {
          await one.query('BEGIN');
          for (let pair = [other, one]; !busy.signal.aborted; pair = [pair[1]!, pair[0]!]) {
            await pair[0]!.query('BEGIN');
            await pair[0]!.query('SELECT pg_current_xact_id()');
            await pair[1]!.query('COMMIT');
          }
        }),
      );
      expect(await over(jobId)).toMatchObject({ state: 'done', total: 1, applied: 1 });
      busy.abort();
      await traffic;
    });
  });

  it('endpoints get events and changes whose rules were written by the former time', async () => {
    const receiver = await startReceiver();
    const campaign = '/v1/campaigns/spring';
    await client.post(`${campaign}/variables:define`, { scope: 'user', name: 'points', type: 'number' });
    const events = [{ eventType: 'purchase' }, { change: { scope: 'user', name: 'points' } }];
    const { id } = await aWebhook(client, receiver.url, { events });
    await setAhead(2 * DAY_MS);
    // As if it had been created now: a definition waits for the real clock.
    const ahead = 'UPDATE webhook_rules SET applies_from = $2 WHERE endpoint_id = $1';
    await rowsOf(service.databaseUrl, ahead, [id, new Date(Date.now() + 2 * DAY_MS)]);
    await setAhead(0);
    const ops = [{ path: 'state.user.points', op: 'inc', value: 1 }];
    await until(async () => {
      await send(1);
      await client.post(`${campaign}/participants/ann/state:mutate`, { ops });
      const types = new Set(receiver.calls.map(({ body }) => body.type));
      return types.has('event.purchase') && types.has('change.user.points');
    }, 20);
    await receiver.stop();
  });
});
