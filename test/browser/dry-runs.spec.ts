import { anExternalEvent } from '../support/builders';
import { useConsoleBrowser } from '../support/console-browser';
import { buttonOf, dialogOf } from '../support/console-parts';

const browser = useConsoleBrowser();

const CAMPAIGN = '/v1/campaigns/spring-sale';
const POINTS = { scope: 'user', name: 'points', type: 'number', default: 0 };
const COUNT = { name: 'count', eventType: 'purchase', ops: [{ path: 'state.user.points', op: 'inc', value: 10 }] };

describe('a dry run', () => {
  it('is applied only while the reaction has the definition that it was made with', async () => {
    const { page, client } = await browser.signedIn();
    expect((await client.post(`${CAMPAIGN}/variables:define`, POINTS)).status).toBe(200);
    const event = anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' } });
    expect((await client.post('/v1/external-events', event)).status).toBe(202);
    await client.post(`${CAMPAIGN}/reactions:define`, COUNT);
    await page.goto('campaigns/spring-sale/reactions/count');
    await page.getByLabel('Received before').fill('2999-01-01T00:00');
    await buttonOf(page, 'Dry run').click();
    const dryRun = page.getByRole('article', { name: 'Dry run' });
    await dryRun.getByText('would change by 10').waitFor();
    const ops = [{ path: 'state.user.points', op: 'inc', value: 1000 }];
    await client.post(`${CAMPAIGN}/reactions:define`, { ...COUNT, ops });
    await buttonOf(dryRun, 'Apply these changes').click();
    const asked = dialogOf(page, 'Apply the reaction to these events?');
    await asked.getByRole('textbox').fill('count');
    await buttonOf(asked, 'Start backfill').click();
    await asked.getByRole('alert').getByText('The reaction was changed since this dry run').waitFor();
    await page.reload();
    await dryRun.getByText('The reaction was changed since this dry run').waitFor();
    expect(await buttonOf(dryRun, 'Apply these changes').count()).toBe(0);
    const { items } = (await client.get(`${CAMPAIGN}/reactions/count/backfills`)).body;
    expect(items).toHaveLength(1);
    const { state } = (await client.get(`${CAMPAIGN}/participants/ann/state`)).body;
    expect(state.user.points).toBe(0);
  });
});
