import { startBackfill } from '../support/backfills';
import { anExternalEvent } from '../support/builders';
import type { Client } from '../support/client';
import { axeInBothWidths, axeOn, useConsoleBrowser } from '../support/console-browser';
import { buttonOf, dialogOf, expectFailure, expectKeyboardDialog, refuseCalls } from '../support/console-parts';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

const browser = useConsoleBrowser();

const CAMPAIGN = '/v1/campaigns/spring-sale';
const MARKUP = '<img src=x onerror="document.title=1"> \u202egnp.exe';
const COUNT = { name: 'count', eventType: 'purchase', ops: [{ path: 'state.user.points', op: 'inc', value: 10 }] };

async function define(client: Client, ...variables: readonly object[]): Promise<void> {
  for (const variable of variables) {
    expect((await client.post(`${CAMPAIGN}/variables:define`, variable)).status).toBe(200);
  }
}

const POINTS = { scope: 'user', name: 'points', type: 'number', default: 0 };

/** Sends a purchase of each amount, all of one participant, and waits until they are processed. */
async function purchases(client: Client, amounts: readonly number[]): Promise<void> {
  for (const amount of amounts) {
    const event = anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' }, attributes: { amount } });
    expect((await client.post('/v1/external-events', event)).status).toBe(202);
  }
  await until(async () => (await client.get('/v1/processing/summary')).body.queued === 0);
}

async function pointsOf(client: Client, sub: string): Promise<unknown> {
  return (await client.get(`${CAMPAIGN}/participants/${sub}/state`)).body.state.user.points;
}

describe('a variable', () => {
  it('is defined with limits and a period, changed and archived', async () => {
    const { page, client } = await browser.signedIn({ path: 'campaigns' });
    await page.getByText('There is no campaign yet').waitFor();
    await page.getByLabel('Campaign id').fill('spring-sale');
    await buttonOf(page, 'Open campaign').click();
    await page.getByText('The campaign declares no variable yet').waitFor();
    await buttonOf(page, 'Define variable').click();
    const form = dialogOf(page, 'Define a variable');
    await form.getByLabel('Scope').selectOption('campaign');
    await form.getByLabel('Name').fill('version');
    await form.getByLabel('Default (optional)').fill('5000');
    await form.getByLabel('Least value').fill('0');
    await form.getByLabel('Greatest value').fill('5000');
    await form.getByLabel('Starts again').selectOption('month');
    await form.getByLabel('Time zone').fill('Europe/Berlin');
    await form.getByLabel('Description').fill(MARKUP);
    await buttonOf(form, 'Define variable').click();
    await form.getByText('request_id').waitFor();
    await form.getByLabel('Name').fill('budget');
    expect(await axeOn(page)).toEqual([]);
    await buttonOf(form, 'Define variable').click();
    await page.getByRole('link', { name: 'state.campaign.budget' }).click();
    await page.getByText('each month, Europe/Berlin').waitFor();

    await client.post(`${CAMPAIGN}/participants/ann/state:mutate`, {
      ops: [{ path: 'state.campaign.budget', op: 'dec', value: 200 }],
    });
    await page.reload();
    await page.getByText('dec 5000 → 4800').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await axeOn(page)).toEqual([]);

    await buttonOf(page, 'Change').click();
    const change = dialogOf(page, 'Change the variable');
    await change.getByLabel('Greatest value').fill('9000');
    await buttonOf(change, 'Save').click();
    await page.getByText('0 to 9000').waitFor();
    await buttonOf(page, 'Archive').click();
    const asked = dialogOf(page, 'Archive this variable?');
    await asked.getByRole('textbox').fill('budget');
    await buttonOf(asked, 'Archive variable').click();
    await page.getByText('The campaign declares no variable yet').waitFor();
    expect((await client.get(`${CAMPAIGN}/variables`)).body.variables).toEqual([]);

    await define(client, POINTS);
    await page.goto('campaigns');
    await page.getByRole('row', { name: /spring-sale 1 0/ }).waitFor();
    expect(await axeOn(page)).toEqual([]);
    await page.getByRole('link', { name: 'spring-sale' }).click();
    await page.getByText('state.user.points').waitFor();
  });
});

describe('a variable whose default is the empty text', () => {
  it('keeps it when something else is changed', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, { scope: 'user', name: 'nickname', type: 'string', default: '' });
    await page.goto('campaigns/spring-sale/variables/user/nickname');
    await buttonOf(page, 'Change').click();
    const change = dialogOf(page, 'Change the variable');
    await change.getByLabel('Description').fill('How to call the participant');
    await buttonOf(change, 'Save').click();
    await change.waitFor({ state: 'hidden' });
    const { variables } = (await client.get(`${CAMPAIGN}/variables`)).body;
    expect(variables).toMatchObject([{ description: 'How to call the participant', default: '' }]);
  });
});

describe('a variable of an app', () => {
  it('is opened with the value of the app that the list shows', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, { scope: 'app', name: 'stock', type: 'number', default: 5 });
    await page.goto('campaigns/spring-sale?app=mobile');
    await page.getByRole('link', { name: 'state.app.stock' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'app.stock' }).waitFor();
    expect(await page.getByLabel('App', { exact: true }).inputValue()).toBe('mobile');
  });
});

describe('a form in a dialog', () => {
  it('stays with what was written when somebody presses beside it', async () => {
    const { page } = await browser.signedIn({ path: 'campaigns/spring-sale' });
    await buttonOf(page, 'Define variable').click();
    const form = dialogOf(page, 'Define a variable');
    await form.waitFor();
    await page.mouse.click(5, 5);
    await form.waitFor({ state: 'hidden' });
    await buttonOf(page, 'Define variable').click();
    await form.getByLabel('Description').fill('Points of a participant');
    await page.mouse.click(5, 5);
    await form.getByLabel('Name').fill('points');
    expect(await form.getByLabel('Description').inputValue()).toBe('Points of a participant');
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'hidden' });
  });
});

describe('a number of a variable', () => {
  it('is not sent if it would change on the way', async () => {
    const { page, client } = await browser.signedIn({ path: 'campaigns/spring-sale' });
    await buttonOf(page, 'Define variable').click();
    const form = dialogOf(page, 'Define a variable');
    await form.getByLabel('Name').fill('points');
    await form.getByLabel('Default (optional)').fill('9007199254740993');
    await buttonOf(form, 'Define variable').click();
    await form.getByRole('alert').getByText('9007199254740993 is larger or has more digits').waitFor();
    await form.getByLabel('Default (optional)').fill('9007199254740992');
    await form.getByLabel('Least value').fill('0.1234567890123456789');
    await buttonOf(form, 'Define variable').click();
    await form.getByRole('alert').getByText('0.1234567890123456789 is larger or has more digits').waitFor();
    await form.getByLabel('Least value').fill('0.10');
    await buttonOf(form, 'Define variable').click();
    await page.getByRole('link', { name: 'state.user.points' }).waitFor();
    const { variables } = (await client.get(`${CAMPAIGN}/variables`)).body;
    expect(variables).toMatchObject([{ name: 'points', default: 9007199254740992, min: 0.1 }]);
  });
});

describe('a participant', () => {
  it('is shown with its state and the causes of its changes, whatever its name is', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await client.post(`${CAMPAIGN}/reactions:define`, COUNT);
    await purchases(client, [25]);
    const sub = encodeURIComponent(`50%/${MARKUP}`);
    const ops = [{ path: 'state.user.points', op: 'set', value: 7 }];
    await client.post(`${CAMPAIGN}/participants/${sub}/state:mutate`, { ops, mutation_id: 'by-hand' });

    await page.goto('campaigns/spring-sale?tab=participants');
    await buttonOf(page, 'ann').click();
    await page.getByText('inc 0 → 10').waitFor();
    await page.getByRole('link', { name: 'count' }).waitFor();
    await page.getByLabel('Changes of variable').fill('nothing');
    await page.keyboard.press('Enter');
    await page.getByText('There is no variable').or(page.getByText('Nothing has changed')).first().waitFor();

    await page.goto('campaigns/spring-sale?tab=participants');
    await page.getByRole('button', { name: '50%' }).click();
    await page.getByText('by-hand').waitFor();
    await page.reload();
    await page.getByText('set 0 → 7').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await axeOn(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 720 });
    await until(async () => (await page.evaluate<number>('document.documentElement.scrollWidth')) === 360);
  });
});

describe('a reaction', () => {
  it('is rehearsed, defined with its warnings, disabled and enabled', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await purchases(client, [5, 25, 30]);
    await page.goto('campaigns/spring-sale?tab=reactions');
    await page.getByText('The campaign has no reaction yet').waitFor();
    await buttonOf(page, 'Define reaction').click();
    const form = dialogOf(page, 'Define a reaction');
    const definition = { ...COUNT, when: { '>=': [{ var: 'event.properties.amount' }, 20] } };
    await form.getByLabel('Definition').fill(JSON.stringify(definition, null, 2));
    await buttonOf(form, 'Test').click();
    await form.getByText('2 of 3 events match; 2 would be applied.').waitFor();
    await form.getByText('does not hold').waitFor();
    await form.getByText('user.points 0 → 10').first().waitFor();
    expect(await axeOn(page)).toEqual([]);
    expect((await client.get(`${CAMPAIGN}/reactions`)).body.items).toEqual([]);
    expect(await pointsOf(client, 'ann')).toBe(0);

    await form.getByLabel('Definition').fill('{ "name": ');
    await buttonOf(form, 'Define reaction').click();
    await form.getByText('The definition is no JSON').waitFor();
    const typo = { ...COUNT, when: { '>=': [{ var: 'amount' }, 20] } };
    await form.getByLabel('Definition').fill(JSON.stringify(typo));
    await buttonOf(form, 'Define reaction').click();
    await form.getByText('In force, with').waitFor();
    await buttonOf(form, 'Open the reaction').click();

    await buttonOf(page, 'Edit').click();
    await page.getByLabel('Definition').fill(JSON.stringify(definition));
    await buttonOf(page, 'Define reaction').click();
    await buttonOf(page, 'Disable').click();
    await buttonOf(dialogOf(page, 'Disable this reaction?'), 'Disable reaction').click();
    await buttonOf(page, 'Enable').click();
    expect((await client.get(`${CAMPAIGN}/reactions/count`)).body).toMatchObject({ ...definition, enabled: false });
    await buttonOf(dialogOf(page, 'Enable this reaction?'), 'Enable reaction').click();
    await buttonOf(page, 'Disable').waitFor();
    await page.getByLabel('Test with').selectOption('event');
    await buttonOf(page, 'Test').click();
    await page.getByText('1 of 1 events match').waitFor();
    expect(await axeOn(page)).toEqual([]);

    await purchases(client, [40]);
    await page.reload();
    await page.getByText('Applied').first().waitFor();
    await page.getByText('Of the newest 4 stored events').waitFor();
    expect(await pointsOf(client, 'ann')).toBe(10);
    await buttonOf(page, 'Delete').click();
    const asked = dialogOf(page, 'Delete this reaction?');
    await asked.getByRole('textbox').fill('count');
    await buttonOf(asked, 'Delete reaction').click();
    await page.getByText('The campaign has no reaction yet').waitFor();
  });

  it('that was defined with warnings makes room for the next one', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await page.goto('campaigns/spring-sale?tab=reactions');
    await buttonOf(page, 'Define reaction').click();
    const form = dialogOf(page, 'Define a reaction');
    const typo = { ...COUNT, when: { '>=': [{ var: 'amount' }, 20] } };
    await form.getByLabel('Definition').fill(JSON.stringify(typo));
    await buttonOf(form, 'Define reaction').click();
    await form.getByText('In force, with').waitFor();
    await page.keyboard.press('Escape');
    await form.waitFor({ state: 'hidden' });
    await buttonOf(page, 'Define reaction').click();
    await form.waitFor();
    await form.getByLabel('Definition').fill(JSON.stringify({ ...COUNT, name: 'count-all' }));
    expect(await form.getByText('In force, with').count()).toBe(0);
  });

  it('keeps what somebody else has changed when it is disabled', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await client.post(`${CAMPAIGN}/reactions:define`, COUNT);
    await page.goto('campaigns/spring-sale/reactions/count');
    await buttonOf(page, 'Disable').waitFor();
    const ops = [{ path: 'state.user.points', op: 'inc', value: 20 }];
    await client.post(`${CAMPAIGN}/reactions:define`, { ...COUNT, ops });
    await buttonOf(page, 'Disable').click();
    await buttonOf(dialogOf(page, 'Disable this reaction?'), 'Disable reaction').click();
    await buttonOf(page, 'Enable').waitFor();
    expect((await client.get(`${CAMPAIGN}/reactions/count`)).body).toMatchObject({ ops, enabled: false });
  });

  it('that is edited with another name stays, beside the new one, and says so', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await client.post(`${CAMPAIGN}/reactions:define`, COUNT);
    await page.goto('campaigns/spring-sale/reactions/count');
    await buttonOf(page, 'Edit').click();
    await page.getByLabel('Definition').fill(JSON.stringify({ ...COUNT, name: 'count-all' }));
    await buttonOf(page, 'Define reaction').click();
    await page.getByText('The definition had another name').waitFor();
    expect(await axeOn(page)).toEqual([]);
    await page.getByRole('link', { name: 'count-all' }).click();
    await page.getByRole('heading', { level: 1, name: 'count-all' }).waitFor();
    expect((await client.get(`${CAMPAIGN}/reactions`)).body.items).toHaveLength(2);
  });

  it('is backfilled after a dry run, once', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await purchases(client, [5, 25, 30]);
    await client.post(`${CAMPAIGN}/reactions:define`, COUNT);
    await page.goto('campaigns/spring-sale/reactions/count');
    await page.getByLabel('Received before').fill('2999-01-01T00:00');
    await buttonOf(page, 'Dry run').click();
    const dryRun = page.getByRole('article', { name: 'Dry run' });
    await dryRun.getByText('would change by 30').waitFor();
    expect(await pointsOf(client, 'ann')).toBe(0);
    expect(await axeOn(page)).toEqual([]);
    await buttonOf(dryRun, 'Apply these changes').click();
    const asked = dialogOf(page, 'Apply the reaction to these events?');
    await asked.getByText('3 events change values').waitFor();
    await asked.getByRole('textbox').fill('count');
    await buttonOf(asked, 'Start backfill').click();
    await page.getByRole('article', { name: 'Backfill' }).getByText('done').waitFor();
    expect(await pointsOf(client, 'ann')).toBe(30);
    await buttonOf(page, 'Dry run').click();
    await page.getByText('No variable would change.').waitFor();
  });

  it('shows the sums of a dry run exactly', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await purchases(client, [1]);
    const ops = [{ path: 'state.user.points', op: 'inc', value: 0.00012 }];
    await client.post(`${CAMPAIGN}/reactions:define`, { ...COUNT, ops });
    await page.goto('campaigns/spring-sale/reactions/count');
    await buttonOf(page, 'Dry run').click();
    await page.getByRole('article', { name: 'Dry run' }).getByText('would change by 0.00012').waitFor();
  });

  it('has a backfill that is cancelled on its way: what it has done stays', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await purchases(
      client,
      Array.from({ length: 30 }, (_unused, index) => index),
    );
    await client.post(`${CAMPAIGN}/reactions:define`, COUNT);
    await startBackfill(client, 'spring-sale', 'count', { eventsPerSecondMax: 2 });
    await page.goto('campaigns/spring-sale/reactions/count');
    const backfill = page.getByRole('article', { name: 'Backfill' });
    await backfill.getByText('running').waitFor();
    await backfill.getByText(/^[1-9]\d* of 30$/).waitFor();
    await expectKeyboardDialog(page, buttonOf(backfill, 'Cancel'), 'Cancel this backfill?', async () => {
      expect(await axeInBothWidths(page)).toEqual([]);
    });
    await buttonOf(backfill, 'Cancel').click();
    await buttonOf(dialogOf(page, 'Cancel this backfill?'), 'Cancel backfill').click();
    await backfill.getByText('cancelled').waitFor();
    const [job] = (await client.get(`${CAMPAIGN}/reactions/count/backfills`)).body.items;
    expect(job).toMatchObject({ state: 'cancelled', total: 30 });
    expect(job.applied).toBeLessThan(30);
    expect(await pointsOf(client, 'ann')).toBe(job.applied * 10);
    await backfill.getByText(job.applied.toLocaleString('en'), { exact: true }).first().waitFor();
  });

  it('shows which events it has met, and values show which event has changed them', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await client.post(`${CAMPAIGN}/reactions:define`, COUNT);
    await purchases(client, [25]);
    const [{ eventId, profileId }] = (await client.get('/v1/events')).body.items;
    await page.goto('campaigns/spring-sale?tab=participants&sub=ann');
    const changes = page.getByRole('region', { name: 'Changes' });
    await expectKeyboardDialog(page, changes.getByRole('link', { name: eventId }), 'Event', async () => {
      await dialogOf(page, 'Event').getByRole('link', { name: 'spring-sale: count' }).waitFor();
    });
    await page.goto('campaigns/spring-sale/reactions/count');
    const met = page.getByRole('region', { name: 'Events that it met, newest first' }).getByRole('row').nth(1);
    await met.getByText('applied').waitFor();
    await met.getByRole('link', { name: eventId }).click();
    await dialogOf(page, 'Event').getByText(eventId).waitFor();
    expect(new URL(page.url()).searchParams.get('event')).toBe(eventId);
    expect(await axeInBothWidths(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await buttonOf(met, 'Copy event id').click();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(eventId);
    await met.getByRole('link', { name: profileId }).click();
    await page.waitForURL(`**/console/customers/${profileId}`);
  });
});

describe('the campaigns page', () => {
  it('lists all campaigns of the workspace, page by page, with what they have', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await client.post(`${CAMPAIGN}/reactions:define`, COUNT);
    for (let n = 1; n <= 50; n++) await client.post(`/v1/campaigns/later-${n}/variables:define`, POINTS);
    await page.goto('campaigns');
    await page.getByRole('link', { name: 'later-50' }).waitFor();
    expect(await page.getByRole('link', { name: 'spring-sale' }).count()).toBe(0);
    expect(await axeOn(page)).toEqual([]);
    await buttonOf(page, 'Show more').click();
    await page.getByRole('row', { name: /spring-sale 1 1/ }).waitFor();
    await page.getByRole('link', { name: 'spring-sale' }).click();
    await page.getByRole('link', { name: 'state.user.points' }).waitFor();
  });

  it('says which scope is lacking, and leaves out what the key may not do', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['variables:read', 'reactions:read'] });
    const { page } = await browser.signedIn({ tenant, key, path: 'campaigns/spring-sale' });
    await page.getByText('The campaign declares no variable yet').waitFor();
    expect(await buttonOf(page, 'Define variable').count()).toBe(0);
    await page.getByRole('tab', { name: 'Participants' }).click();
    await page.getByRole('heading', { name: 'Your key does not allow this' }).waitFor();
    await page.getByRole('tab', { name: 'Reactions' }).click();
    await page.getByText('The campaign has no reaction yet').waitFor();
    expect(await buttonOf(page, 'Define reaction').count()).toBe(0);
  });

  it('says why it could not be read, with the request id, and reads it again', async () => {
    const { page } = await browser.signedIn();
    const answerAgain = await refuseCalls(page, '/v1/campaigns/**');
    await page.goto('campaigns/spring-sale');
    await expectFailure(page);
    expect(await axeOn(page)).toEqual([]);
    await answerAgain();
    await buttonOf(page, 'Try again').first().click();
    await page.getByText('The campaign declares no variable yet').waitFor();
  });
});
