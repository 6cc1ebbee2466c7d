import { PURCHASE, registerTypes } from '../support/builders';
import { Client } from '../support/client';
import { axeOn, useConsoleBrowser } from '../support/console-browser';
import { buttonOf, dialogOf } from '../support/console-parts';
import { aTenant } from '../support/tenant';
import { aWebhook } from '../support/webhooks';

const browser = useConsoleBrowser();

const CAMPAIGN = '/v1/campaigns/spring-sale';
const COUNT = { name: 'count', eventType: 'purchase', ops: [{ path: 'state.user.points', op: 'inc', value: 10 }] };

async function define(client: Client, variable: object): Promise<void> {
  expect((await client.post(`${CAMPAIGN}/variables:define`, variable)).status).toBe(200);
}

const POINTS = { scope: 'user', name: 'points', type: 'number', default: 0 };

describe('a definition that somebody else has changed meanwhile', () => {
  it('of a variable is not replaced unseen, nor by a new one of the same name', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await page.goto('campaigns/spring-sale/variables/user/points');
    await buttonOf(page, 'Change').click();
    const change = dialogOf(page, 'Change the variable');
    await change.getByLabel('Description').fill('Points');
    await define(client, { ...POINTS, max: 100 });
    await buttonOf(change, 'Save').click();
    await change.getByRole('alert').getByText('It was changed since this form was opened: max is 100.').waitFor();
    expect(await axeOn(page)).toEqual([]);
    const variables = async () => (await client.get(`${CAMPAIGN}/variables`)).body.variables;
    expect(await variables()).toEqual([{ ...POINTS, max: 100 }]);
    await change.getByLabel('Greatest value').fill('100');
    await buttonOf(change, 'Save').click();
    await change.waitFor({ state: 'hidden' });
    expect(await variables()).toEqual([{ ...POINTS, max: 100, description: 'Points' }]);

    await page.goto('campaigns/spring-sale');
    await buttonOf(page, 'Define variable').click();
    const form = dialogOf(page, 'Define a variable');
    await form.getByLabel('Name').fill('points');
    await buttonOf(form, 'Define variable').click();
    await form.getByRole('alert').getByText('There is one of this name already').waitFor();
    expect(await variables()).toEqual([{ ...POINTS, max: 100, description: 'Points' }]);
  });

  it('of a variable that was archived comes back only when that is asked for again', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await page.goto('campaigns/spring-sale/variables/user/points');
    await buttonOf(page, 'Change').click();
    const change = dialogOf(page, 'Change the variable');
    await change.getByLabel('Description').fill('Points');
    await client.post(`${CAMPAIGN}/variables:archive`, { scope: 'user', name: 'points' });
    await buttonOf(change, 'Save').click();
    await change.getByRole('alert').getByText('It was removed since this form was opened').waitFor();
    expect((await client.get(`${CAMPAIGN}/variables`)).body.variables).toEqual([]);
    await buttonOf(change, 'Save').click();
    await change.waitFor({ state: 'hidden' });
    expect((await client.get(`${CAMPAIGN}/variables`)).body.variables).toHaveLength(1);
  });

  it('of a reaction is not replaced unseen, nor by a new one of the same name', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await client.post(`${CAMPAIGN}/reactions:define`, COUNT);
    await page.goto('campaigns/spring-sale/reactions/count');
    await buttonOf(page, 'Edit').click();
    const written = JSON.stringify({ ...COUNT, source: 'shop.orders' });
    await page.getByLabel('Definition').fill(written);
    const ops = [{ path: 'state.user.points', op: 'inc', value: 20 }];
    await client.post(`${CAMPAIGN}/reactions:define`, { ...COUNT, ops });
    await buttonOf(page, 'Define reaction').click();
    await page.getByRole('alert').getByText('It was changed since this form was opened: ops is').waitFor();
    const stored = async () => (await client.get(`${CAMPAIGN}/reactions/count`)).body;
    expect(await stored()).toMatchObject({ ...COUNT, ops });
    expect(await page.getByLabel('Definition').inputValue()).toBe(written);
    await buttonOf(page, 'Define reaction').click();
    await page.getByRole('region', { name: 'Definition' }).waitFor();
    expect(await stored()).toMatchObject({ ...COUNT, source: 'shop.orders' });

    await page.goto('campaigns/spring-sale?tab=reactions');
    await buttonOf(page, 'Define reaction').click();
    const form = dialogOf(page, 'Define a reaction');
    await form.getByLabel('Definition').fill(JSON.stringify(COUNT));
    await buttonOf(form, 'Define reaction').click();
    await form.getByRole('alert').getByText('There is one of this name already').waitFor();
    expect(await stored()).toMatchObject({ ...COUNT, source: 'shop.orders' });
  });

  it('of an endpoint is not replaced unseen', async () => {
    const { page, client } = await browser.signedIn();
    const { id } = await aWebhook(client, 'http://127.0.0.1:9/before', { description: 'Shop' });
    await page.goto(`webhooks/${id}`);
    await buttonOf(page, 'Change').click();
    const change = dialogOf(page, 'Change the endpoint');
    await change.getByLabel('Description').fill('The shop');
    const url = 'http://127.0.0.1:9/after';
    expect((await client.send(`/v1/webhooks/${id}`, JSON.stringify({ url }), { method: 'PATCH' })).status).toBe(200);
    await buttonOf(change, 'Save').click();
    await change.getByRole('alert').getByText(`It was changed since this form was opened: url is "${url}".`).waitFor();
    expect((await client.get(`/v1/webhooks/${id}`)).body).toMatchObject({ url, description: 'Shop' });
    await change.getByLabel('Address').fill(url);
    await buttonOf(change, 'Save').click();
    await change.waitFor({ state: 'hidden' });
    expect((await client.get(`/v1/webhooks/${id}`)).body).toMatchObject({ url, description: 'The shop' });
  });

  it('of an issuer is not replaced unseen', async () => {
    const { page, client } = await browser.signedIn();
    const issuer = { issuer: 'https://login.example.com/', audience: 'a', secret: 'a secret of more than 32 bytes' };
    const { id } = (await client.post('/v1/jwt-issuers', { ...issuer, secret: `${issuer.secret}, surely` })).body;
    await page.goto(`access/issuers/${id}`);
    await buttonOf(page, 'Change').click();
    const change = dialogOf(page, 'Change the JWT issuer');
    await change.getByLabel('Clock tolerance').fill('60');
    const settings = JSON.stringify({ allowedCampaignIds: ['spring-sale'] });
    expect((await client.send(`/v1/jwt-issuers/${id}`, settings, { method: 'PUT' })).status).toBe(200);
    await buttonOf(change, 'Save changes').click();
    await change.getByRole('alert').getByText('allowedCampaignIds is "spring-sale"').waitFor();
    const stored = async () => (await client.get(`/v1/jwt-issuers/${id}`)).body;
    expect(await stored()).toMatchObject({ allowedCampaignIds: ['spring-sale'], clockToleranceSeconds: 5 });
    await change.getByLabel('Allowed campaigns').fill('spring-sale');
    await buttonOf(change, 'Save changes').click();
    await change.waitFor({ state: 'hidden' });
    expect(await stored()).toMatchObject({ allowedCampaignIds: ['spring-sale'], clockToleranceSeconds: 60 });
  });

  it('of an event type is not followed by a version that takes it back unseen', async () => {
    const { page, client } = await browser.signedIn();
    await registerTypes(client, [PURCHASE]);
    await page.goto('event-types/purchase');
    await buttonOf(page, 'New version').click();
    const editor = page.getByLabel('Event type as JSON');
    const definition = JSON.parse(await editor.inputValue());
    await editor.fill(JSON.stringify({ ...definition, description: 'A sale' }));
    await buttonOf(page, 'Check').click();
    await page.getByText('Every event that was valid before stays valid').waitFor();
    const properties = { ...definition.properties, colour: { type: 'string' } };
    expect((await client.post('/v1/cdp/event-types', { ...definition, properties })).status).toBe(201);
    await buttonOf(page, 'Publish').click();
    await page.getByRole('alert').getByText('It was changed since this form was opened: version is 2').waitFor();
    const versions = async () => (await client.get('/v1/cdp/event-types/purchase')).body.versions;
    expect(await versions()).toHaveLength(2);
    await editor.fill(JSON.stringify({ ...definition, description: 'A sale', properties }));
    await buttonOf(page, 'Check').click();
    await buttonOf(page, 'Publish').click();
    await page.getByText('3 (current)').waitFor({ state: 'attached' });
    expect((await versions())[0].properties).toHaveProperty('colour');
  });

  it('is defined by a key that may write and not read, as before', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['variables:write'] });
    const { page, client } = await browser.signedIn({ tenant, key, path: 'campaigns/spring-sale' });
    await buttonOf(page, 'Define variable').click();
    const form = dialogOf(page, 'Define a variable');
    await form.getByLabel('Name').fill('points');
    await buttonOf(form, 'Define variable').click();
    await form.waitFor({ state: 'hidden' });
    const admin = new Client(browser.service.url, tenant.adminKey);
    expect((await client.get(`${CAMPAIGN}/variables`)).status).toBe(403);
    expect((await admin.get(`${CAMPAIGN}/variables`)).body.variables).toHaveLength(1);
  });
});
