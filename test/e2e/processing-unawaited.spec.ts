import { EventWorker } from '../../src/processing/event-worker';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { freshDatabaseUrl } from '../support/database';
import { until } from '../support/until';
import { aCampaign, type Campaign } from '../support/runtime';

let service: TestApp;
let campaign: Campaign;

beforeAll(async () => {
  service = await startApp({}, await freshDatabaseUrl('unawaited'));
  campaign = await aCampaign(service);
});
afterAll(() => service.stop());

async function send(type: string): Promise<string> {
  const { status, body } = await campaign.workspace.admin.post('/v1/external-events', anExternalEvent({ type }));
  expect(status).toBe(202);
  return body.event_id;
}

async function idsIn(state: string): Promise<string[]> {
  const { body } = await campaign.workspace.admin.get(`/v1/events?state=${state}`);
  return body.items.map(({ eventId }: { eventId: string }) => eventId).toSorted();
}

describe('events that no reaction is there for', () => {
  it('are shown as queued, and as processed once a worker has come, like those that reactions were called for', async () => {
    const { admin } = campaign.workspace;
    await campaign.define('state.campaign.purchases', 'number');
    await admin.post(`/v1/campaigns/${campaign.campaignId}/reactions:define`, {
      name: 'count',
      eventType: 'purchase',
      ops: [{ path: 'state.campaign.purchases', op: 'inc', value: 1 }],
    });
    const [awaited, other] = [await send('purchase'), await send('visit')];
    const both = [awaited, other].toSorted();
    expect(await idsIn('queued')).toEqual(both);
    expect(await idsIn('processed')).toEqual([]);
    const named = (await admin.get(`/v1/events/${other}`)).body;
    const found = `/v1/events?source=${named.source}&externalEventId=${named.externalEventId}`;
    expect(named.processing).toEqual({
      state: 'queued',
      attempts: 0,
      processedAt: null,
      lastError: null,
      reactions: [],
    });
    expect((await admin.get(`${found}&state=processed`)).body.items).toEqual([]);
    expect((await admin.get('/v1/processing/summary')).body).toMatchObject({
      queued: 2,
      oldestQueuedAt: expect.any(String),
      processedLastMinute: 0,
    });

    service.app.get(EventWorker).start();
    await until(async () => (await idsIn('processed')).length === 2);
    expect(await idsIn('processed')).toEqual(both);
    expect(await idsIn('queued')).toEqual([]);
    const { processing, receivedAt } = (await admin.get(`/v1/events/${other}`)).body;
    expect(processing).toEqual({
      state: 'processed',
      attempts: 1,
      processedAt: expect.any(String),
      lastError: null,
      reactions: [],
    });
    expect(Date.parse(processing.processedAt)).toBeGreaterThanOrEqual(Date.parse(receivedAt));
    expect((await admin.get(`${found}&state=processed`)).body.items).toHaveLength(1);
    expect((await admin.get(`/v1/events/${awaited}`)).body.processing.reactions).toEqual([
      { campaignId: campaign.campaignId, name: 'count', outcome: 'applied' },
    ]);
    expect((await admin.get('/v1/processing/summary')).body).toMatchObject({
      queued: 0,
      oldestQueuedAt: null,
      processedLastMinute: 2,
    });
  });
});
