import { Client } from 'pg';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { databaseOf, freshDatabaseUrl, rowsOf, urlOf, withClient } from '../support/database';
import { aCampaign, inc, mutate, type Campaign } from '../support/runtime';

/** How an operator may have set a database, or the role of the service, for other programs. */
const SETTINGS = [
  "datestyle = 'German, DMY'",
  'extra_float_digits = -3',
  "timezone = 'Asia/Kolkata'",
  "idle_session_timeout = '1s'",
];

let url: string;
let service: TestApp;
let campaign: Campaign;

beforeAll(async () => {
  url = await freshDatabaseUrl('settings');
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

/** Of the group commits, and of the one that listens for jobs: all of them idle for long now and then. */
const IDLE_SESSIONS = `SELECT application_name, pid FROM pg_stat_activity WHERE datname = $1
  AND (application_name IN ('cds-ingest', 'cds-mutations') OR query LIKE 'LISTEN %') ORDER BY pid`;

it('keeps its idle sessions, however soon the database ends those of others', async () => {
  const idleSessions = (): Promise<unknown[]> => rowsOf(urlOf('postgres'), IDLE_SESSIONS, [databaseOf(url)]);
  await campaign.define('state.user.idle', 'number');
  expect((await mutate(campaign.participant(), [inc('state.user.idle')])).status).toBe(200);
  expect((await campaign.workspace.admin.post('/v1/external-events', anExternalEvent())).status).toBe(202);
  const before = await idleSessions();
  expect(before).toHaveLength(3);
  const other = new Client({ connectionString: url });
  other.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => other.once('end', resolve));
  await other.connect();
  await ended;
  expect(await idleSessions()).toEqual(before);
});
