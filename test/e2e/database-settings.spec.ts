import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { databaseOf, freshDatabaseUrl, withClient } from '../support/database';
import { aCampaign, inc, mutate, type Campaign } from '../support/runtime';

/** How an operator may have set a database, or the role of the service, for other programs. */
const SETTINGS = ["datestyle = 'German, DMY'", 'extra_float_digits = -3', "timezone = 'Asia/Kolkata'"];

let service: TestApp;
let campaign: Campaign;

beforeAll(async () => {
  const url = await freshDatabaseUrl('settings');
  for (const setting of SETTINGS) {
    await withClient(url, (client) => client.query(`ALTER DATABASE ${databaseOf(url)} SET ${setting}`));
  }
  service = await startApp({}, url);
  campaign = await aCampaign({ url: service.url, databaseUrl: url });
});
afterAll(() => service.stop());

it('reads times as they were stored, however the database writes dates', async () => {
  const { admin } = campaign.workspace;
  const sent = { ...anExternalEvent(), occurred_at: '2026-03-04T05:06:07.089Z' };
  const { body: accepted } = await admin.post('/v1/external-events', sent);
  const { body: event } = await admin.get(`/v1/events/${accepted.event_id}`);
  expect(event.occurredAt).toBe(sent.occurred_at);
  expect(Math.abs(Date.parse(event.receivedAt) - Date.now())).toBeLessThan(60_000);
  const { body: page } = await admin.get('/v1/events');
  expect(page.items).toEqual([event]);
});

it('reads numbers with all their digits, however many the database writes', async () => {
  const max = 0.1234567890123456;
  await campaign.define('state.user.share', 'number', { max });
  const { admin } = campaign.workspace;
  const { body } = await admin.get(`/v1/campaigns/${campaign.campaignId}/variables`);
  expect(body.variables).toMatchObject([{ name: 'share', max }]);
  expect((await mutate(campaign.participant(), [inc('state.user.share', max)])).status).toBe(200);
});
