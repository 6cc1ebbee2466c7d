import { startApp, type TestApp } from '../support/app';
import { rowsOf, waitingForLocks, withClient } from '../support/database';
import { brokenHistories } from '../support/histories';
import { aCampaign, campaignOf, inc, mutate, stateOf, summary, type Campaign } from '../support/runtime';
import { until } from '../support/until';
import { aWebhook } from '../support/webhooks';

/*
 * What a participant changes in a campaign for the first time, while all that is known of them is erased, is erased as a whole
 * or stays as a whole (docs/adr/0026).
 */

const POINTS = 'state.user.points';
const LOCK_VALUES = `
  SELECT 1 FROM participant_states WHERE tenant_id = $1 AND campaign_id = $2 AND subject = 'ann' FOR UPDATE`;

let service: TestApp;
let url: string;
let campaigns: readonly [Campaign, Campaign, Campaign];

beforeAll(async () => {
  // Nothing is sent: no process dispatches webhooks.
  service = await startApp({ WEBHOOKS_ALLOW_PRIVATE: 'true' });
  url = service.databaseUrl;
});
beforeEach(async () => {
  const first = await aCampaign(service);
  const another = (): Campaign => campaignOf(first.workspace, first.issuer);
  campaigns = [first, another(), another()];
  for (const campaign of campaigns) await campaign.define(POINTS, 'number');
});
afterAll(() => service.stop());

const add = (campaign: Campaign) => mutate(campaign.participant({ sub: 'ann' }), [inc(POINTS)], { mutation_id: 'one' });

it('keeps the outcome, the history and the change of values that stay', async () => {
  const [first, second, third] = campaigns;
  const { tenantId, admin } = first.workspace;
  await aWebhook(admin, 'http://127.0.0.1:9/x', { events: [{ change: { scope: 'user', name: 'points' } }] });
  await add(first);
  const erased = await withClient(url, (one) =>
    withClient(url, async (two) => {
      await one.query('BEGIN');
      await one.query(LOCK_VALUES, [tenantId, first.campaignId]);
      const erasing = admin.post('/v1/cdp/profiles:erase', { type: 'EXTERNAL', value: 'ann' });
      await until(async () => (await waitingForLocks(url)) === 1);
      // The erasure has not locked these, and waits for them when it deletes the values.
      await add(second);
      await two.query('BEGIN');
      await two.query(LOCK_VALUES, [tenantId, second.campaignId]);
      await one.query('COMMIT');
      await until(async () => (await waitingForLocks(url, { statement: 'DELETE FROM participant_states' })) === 1);
      expect(summary(await add(third))).toBe('200 applied');
      await two.query('COMMIT');
      return erasing;
    }),
  );
  expect(erased.status).toBe(200);
  expect(summary(await add(third))).toBe('200 duplicate');
  const ann = third.participant({ sub: 'ann' });
  expect((await stateOf(ann)).user.points).toBe(1);
  expect(await brokenHistories(url, tenantId)).toEqual([]);
  const changes = `SELECT change->>'ownerId' AS campaign FROM webhook_changes WHERE tenant_id = $1`;
  expect(await rowsOf(url, changes, [tenantId])).toEqual([{ campaign: third.campaignId }]);
  // Of the others nothing is left.
  for (const campaign of [first, second]) expect(summary(await add(campaign))).toBe('200 applied');
});
