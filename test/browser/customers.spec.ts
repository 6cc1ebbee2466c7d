import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { anExternalEvent } from '../support/builders';
import { axeInBothWidths, axeOn, useConsoleBrowser } from '../support/console-browser';
import { rowsOf } from '../support/database';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

const browser = useConsoleBrowser();

const EMAIL = 'jane.roe@example.com';
const MARKUP = '<img src=x onerror="document.title=1">';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const eventBy = (type: string, value: string, attributes: object = {}) =>
  anExternalEvent({ identity: { type, value }, attributes });

async function lookUp(page: Page, type: string, value: string): Promise<void> {
  await page.getByLabel('Identifier').selectOption(type);
  await page.getByLabel('Value').fill(value);
  await button(page, 'Look up').click();
}

describe('a customer', () => {
  it('is looked up without the identifier in any address, shown masked, and unmasked with a fresh proof', async () => {
    const { page, client, tenant } = await browser.signedIn({ path: 'customers' });
    await page.getByRole('heading', { name: 'There are no customers yet' }).waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    await client.post('/v1/external-events', eventBy('EMAIL', EMAIL, { note: MARKUP, name: 'inv\u202efdp.exe' }));
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url()));
    page.on('framenavigated', (frame) => addresses.push(frame.url()));
    await lookUp(page, 'EMAIL', ` ${EMAIL.toUpperCase()} `);
    await page.getByRole('heading', { level: 1, name: 'Customer' }).waitFor();
    await page.getByText('j***@e***.com').first().waitFor();
    // Stored text is inert and visible.
    await page.getByText('inv\\u202efdp.exe').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await axeInBothWidths(page)).toEqual([]);

    await rowsOf(
      browser.service.databaseUrl,
      "UPDATE console_sessions SET proven_at = proven_at - interval '6 minutes' WHERE tenant_id = $1",
      [tenant.tenantId],
    );
    await button(page, 'Show personal data').click();
    const proof = page.getByRole('dialog', { name: 'Show that it is you' });
    await proof.getByLabel('API key').fill(tenant.adminKey);
    expect(await page.getByText(EMAIL).count()).toBe(0);
    await proof.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(EMAIL).first().waitFor();
    await button(page, 'Hide personal data').click();
    await page.getByText(EMAIL).first().waitFor({ state: 'detached' });
    for (const address of addresses) expect(decodeURIComponent(address).toLowerCase()).not.toContain(EMAIL);
  });

  it('is not read without masks again when somebody comes back to the tab', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', eventBy('EMAIL', EMAIL));
    const [{ profileId }] = (await client.get('/v1/events')).body.items;
    await page.clock.install();
    await page.goto(`customers/${profileId}`);
    const reads: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('unmask=true')) reads.push(request.url());
    });
    await button(page, 'Show personal data').click();
    await page.getByText(EMAIL).first().waitFor();
    await until(() => reads.length === 2);
    await page.clock.fastForward('01:00');
    const masked = page.waitForResponse((answer) => answer.url().endsWith(`/v1/cdp/profiles/${profileId}`));
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await masked;
    // Those of the customer and of the timeline.
    expect(reads).toHaveLength(2);
  });

  it('is in no file after an export that was cancelled', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', eventBy('EMAIL', EMAIL));
    const [{ profileId }] = (await client.get('/v1/events')).body.items;
    await page.goto(`customers/${profileId}`);
    let answer = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/v1/cdp/profiles/*:export', async (route) => {
      await isHeld;
      await route.continue();
    });
    await page.evaluate('window.saved = 0; HTMLAnchorElement.prototype.click = () => { window.saved += 1; }');
    await button(page, 'Export').click();
    const dialog = page.getByRole('dialog', { name: 'Export the customer' });
    await dialog.getByRole('button', { name: 'Download export' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    const answered = page.waitForResponse((response) => response.url().endsWith(':export'));
    answer();
    await (await answered).finished();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    expect(await page.evaluate('window.saved')).toBe(0);
  });

  it('whose look-up was left does not lead away from the next page', async () => {
    const { page, client } = await browser.signedIn({ path: 'customers' });
    await client.post('/v1/external-events', eventBy('EMAIL', EMAIL));
    let answer = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/v1/cdp/profiles:lookup', async (route) => {
      await isHeld;
      await route.continue();
    });
    await lookUp(page, 'EMAIL', EMAIL);
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    const answered = page.waitForResponse((response) => response.url().endsWith('/v1/cdp/profiles:lookup'));
    answer();
    await (await answered).finished();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    expect(new URL(page.url()).pathname).toBe('/console/webhooks');
  });

  it('has a timeline with filters in the address, whose events open', async () => {
    const { page, client } = await browser.signedIn({ path: 'customers' });
    await client.post('/v1/external-events', eventBy('EMAIL', EMAIL, { amount: 1 }));
    await client.post('/v1/external-events', {
      ...eventBy('EMAIL', EMAIL, { amount: 2 }),
      type: 'visit',
      source: 'web',
    });
    await page.reload();
    await page.getByRole('region', { name: 'Customers' }).getByRole('link').click();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByText('{"amount":1}').waitFor();
    await page.getByLabel('Event type', { exact: true }).fill('visit');
    await page.getByLabel('Event type', { exact: true }).press('Enter');
    await timeline.getByText('{"amount":1}').waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).toBe('?eventType=visit');
    await timeline.getByRole('link', { name: 'visit' }).click();
    await page.getByRole('dialog', { name: 'visit' }).getByText('"amount": 2').waitFor();
    expect(await axeOn(page)).toEqual([]);
    await page.reload();
    await page.getByRole('dialog', { name: 'visit' }).waitFor();
    await page.keyboard.press('Escape');
    await timeline.waitFor();
    await page.getByLabel('Source', { exact: true }).fill('nowhere');
    await page.getByLabel('Source', { exact: true }).press('Enter');
    await page.getByText('No event matches').waitFor();
  });

  it('says when the event in its address is not among those that are shown', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', { ...eventBy('EMAIL', EMAIL), type: 'visit' });
    const [{ eventId, profileId }] = (await client.get('/v1/events')).body.items;
    await page.goto(`customers/${profileId}?eventType=purchase&shown=${eventId}`);
    await page.getByText('The event that the address names is not among these').waitFor();
    expect(await axeOn(page)).toEqual([]);
    await button(page, 'Clear filters').click();
    await page.getByRole('dialog', { name: 'visit' }).waitFor();
  });

  it('shows what it was merged from, and the merge is undone', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/cdp/event-types', { eventType: 'visit', properties: {} });
    const visit = (id: string, identity: object) => ({
      source: 'web',
      externalEventId: id,
      eventType: 'visit',
      identity,
    });
    await client.post('/v1/cdp/events', visit('1', { externalUserId: 'customer-1' }));
    await client.post('/v1/cdp/events', visit('2', { email: EMAIL }));
    await client.post('/v1/cdp/events', visit('3', { externalUserId: 'customer-1', email: EMAIL }));
    await page.goto('customers');
    await lookUp(page, 'EXTERNAL', 'customer-1');
    await page.getByText('1 profile', { exact: true }).waitFor();
    await button(page, 'Show personal data').click();
    await page.getByText(EMAIL).first().waitFor();
    await page.getByRole('tab', { name: 'Merges' }).click();
    await page.getByText('in force').waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    await button(page, 'Undo').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo merge' }).click();
    await page.getByText('undone', { exact: true }).waitFor();
    // The other customer has the identifier now.
    await page.getByText(EMAIL).first().waitFor({ state: 'detached' });
    expect((await client.get('/v1/cdp/profiles')).body.items).toHaveLength(2);
  });

  it('has its state per campaign, without the identifier in the address of the page', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/campaigns/spring/variables:define', { scope: 'user', name: 'points', type: 'number' });
    const ops = [{ path: 'state.user.points', op: 'inc', value: 1 }];
    await client.post('/v1/campaigns/spring/reactions:define', { name: 'points', eventType: 'purchase', ops });
    await client.post('/v1/external-events', eventBy('EXTERNAL', 'customer-77'));
    await until(async () => (await client.get('/v1/events?state=processed')).body.items.length === 1);
    await page.goto('customers');
    await lookUp(page, 'EXTERNAL', 'customer-77');
    await page.getByRole('tab', { name: 'State per campaign' }).click();
    const row = page.getByRole('row').filter({ hasText: 'spring' });
    await row.getByText('points 1').waitFor();
    expect(page.url()).not.toContain('customer-77');
    expect(await axeInBothWidths(page)).toEqual([]);
    expect(await page.getByRole('link', { name: 'History in spring' }).count()).toBe(0);
    await button(page, 'Show personal data').click();
    await page.getByRole('link', { name: 'History in spring' }).click();
    await page.getByText('inc 0 → 1').or(page.getByText('inc – → 1')).first().waitFor();
  });

  it('is exported as a file, and erased after typing a part of its id', async () => {
    const { page, client } = await browser.signedIn({ path: 'customers' });
    await client.post('/v1/external-events', eventBy('EMAIL', EMAIL));
    await lookUp(page, 'EMAIL', EMAIL);
    await button(page, 'Export').click();
    const downloading = page.waitForEvent('download');
    await button(page, 'Download export').click();
    const records = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\n');
    expect(records.map((line) => JSON.parse(line).record)).toEqual(expect.arrayContaining(['profile', 'event']));
    expect(records.join()).toContain(EMAIL);

    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await button(page, 'Erase').click();
    const dialog = page.getByRole('dialog', { name: 'Erase the customer for good' });
    const erase = dialog.getByRole('button', { name: 'Erase customer' });
    expect(await erase.isDisabled()).toBe(true);
    expect(await axeOn(page)).toEqual([]);
    await dialog.getByLabel('Type').fill(id.slice(-8));
    await erase.click();
    await page.getByRole('heading', { name: 'There are no customers yet' }).waitFor();
    expect((await client.get(`/v1/cdp/profiles/${id}`)).status).toBe(404);
    await page.goBack();
    await page.getByRole('alert').getByText('request_id').first().waitFor();
    expect(await page.getByText('j***@e***.com').count()).toBe(0);
    await page.goForward();

    await lookUp(page, 'EMAIL', EMAIL);
    await page.getByRole('heading', { name: 'No customer has this identifier' }).waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    await button(page, 'Accept events after an erasure').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Accept events', exact: true }).click();
    await page.getByText('Events of this person are accepted again.').waitFor();
    expect((await client.post('/v1/external-events', eventBy('EMAIL', EMAIL))).status).toBe(202);
  });
});

describe('the customers page', () => {
  it('says which scope a key lacks, and offers nothing that it may not do', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const blind = await tenant.key({ scopes: ['events:read'] });
    const { page } = await browser.signedIn({ tenant, key: blind, path: 'customers' });
    await page.getByText('profiles:read').waitFor();
    expect(await axeOn(page)).toEqual([]);
    const reader = await tenant.key({ scopes: ['profiles:read', 'external-events:write', 'api-keys:read'] });
    const other = await browser.signedIn({ tenant, key: reader, path: 'customers' });
    await other.client.post('/v1/external-events', eventBy('EXTERNAL', 'customer-1'));
    await lookUp(other.page, 'EXTERNAL', 'customer-1');
    await other.page.getByRole('region', { name: 'Timeline' }).waitFor();
    expect(await other.page.getByRole('button', { name: /Export|Erase|Show personal/ }).count()).toBe(0);
    expect(await other.page.getByRole('link', { name: 'Who has seen' }).count()).toBe(0);
    await other.page.goto('customers/nobody');
    await other.page.getByRole('alert').getByText('request_id').waitFor();
  });
});
