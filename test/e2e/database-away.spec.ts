import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { type Answer, Client, expectProblem } from '../support/client';
import { databaseOf, databaseUrl } from '../support/database';
import { startFaultProxy, type FaultProxy } from '../support/fault-proxy';
import { aCampaign, inc, mutate, type Campaign } from '../support/runtime';

/** Contract: a client is told to wait, and is not left waiting; with some room for a busy machine. */
const ANSWERED_MS_MAX = 2_500;

let proxy: FaultProxy;
let service: TestApp;
let campaign: Campaign;

beforeAll(async () => {
  const url = await databaseUrl();
  proxy = await startFaultProxy(url);
  service = await startApp({}, proxy.urlOf(databaseOf(url)));
  campaign = await aCampaign({ url: service.url, databaseUrl: url });
  await campaign.define('state.user.points', 'number');
});

afterAll(async () => {
  await service.stop();
  await proxy.close();
});

const PERSON = { type: 'EXTERNAL', value: 'nobody-knows-them' };

/** One of each kind of work. */
const CALLS: Readonly<Record<string, () => Promise<Answer>>> = {
  'an event': () => campaign.workspace.admin.post('/v1/external-events', anExternalEvent()),
  'a batch': () => campaign.workspace.admin.post('/v1/external-events:batch', { items: [anExternalEvent()] }),
  'a refused event': () => campaign.workspace.admin.post('/v1/external-events', {}),
  'a list': () => campaign.workspace.admin.get('/v1/events'),
  'a definition': () =>
    campaign.workspace.admin.post(`/v1/campaigns/${campaign.campaignId}/variables:define`, {
      scope: 'user',
      name: 'more',
      type: 'number',
    }),
  'a mutation': () => mutate(campaign.participant(), [inc('state.user.points')]),
  'a read of state': () => campaign.participant().get('/v1/runtime/state'),
  'a look-up': () => campaign.workspace.admin.post('/v1/cdp/profiles:lookup', PERSON),
  'an export': () => campaign.workspace.admin.post('/v1/cdp/profiles:export', PERSON),
  'a check of an event type': () =>
    campaign.workspace.admin.post('/v1/cdp/event-types:check', { eventType: 'visit', properties: {} }),
};
/** Those that change nothing, whatever their method is. */
const READS = ['a list', 'a read of state', 'a look-up', 'an export', 'a check of an event type'];

it.each(Object.keys(CALLS))('answers %s with 503 and Retry-After in time while the database is away', async (what) => {
  expect((await CALLS[what]!()).status).toBeLessThan(500);
  proxy.setAway(true);
  try {
    // Also when nobody has noticed yet, and when everybody has.
    for (let turn = 0; turn < 3; turn += 1) {
      const askedAt = performance.now();
      const answer = await CALLS[what]!();
      expect(performance.now() - askedAt).toBeLessThan(ANSWERED_MS_MAX);
      expectProblem(answer, 503, 'unavailable');
      // Of a read nothing can have taken effect, and nobody has to think about it.
      if (READS.includes(what)) expect(answer.body.message).not.toMatch(/effect|store/);
      else expect(answer.body.message).toMatch(/it takes effect once\.$/);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  } finally {
    proxy.setAway(false);
  }
  const after = await CALLS[what]!();
  expect(after.status).toBeLessThan(500);
});

it('connects again at its start when the database was late to take a connection', async () => {
  const url = await databaseUrl();
  // Only the second service connects by way of it.
  const late = await startFaultProxy(url);
  // The first connection asks what kind of database it is, and has more time.
  const givenUp = late.holdConnection(1);
  const second = await startApp({}, late.urlOf(databaseOf(url)));
  await givenUp;
  const admin = new Client(second.url, campaign.workspace.admin.key);
  expect((await admin.get('/v1/events')).status).toBe(200);
  await second.stop();
  await late.close();
});
