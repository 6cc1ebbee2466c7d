import type { Page } from 'playwright-core';
import { Client } from '../support/client';
import { FROM_CONSOLE } from '../support/console';
import { signIn, useConsoleBrowser } from '../support/console-browser';
import { buttonOf, dialogOf, refuseCalls, takeSecret } from '../support/console-parts';
import { endProofs } from '../support/console-proof';
import { aTenant, type Tenant } from '../support/tenant';

const browser = useConsoleBrowser();

const PROBLEM = { error_code: 'unavailable', message: 'The database is away.', request_id: 'request-7' };
const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

describe('a session', () => {
  it('that has ended is named on the sign-in page, also after it has asked again', async () => {
    const { page } = await browser.signedIn();
    await heading(page, 'Overview').waitFor();
    await page.context().clearCookies();
    await page.getByText('Your session has ended').waitFor();
    const asked = page.waitForResponse((answer) => answer.url().endsWith('/console/api/session'));
    const other = await page.context().newPage();
    await other.goto('');
    await other.evaluate(`new BroadcastChannel('cds-console /console').postMessage('')`);
    expect((await asked).status()).toBe(401);
    await signInButton(page).waitFor();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    expect(await page.getByText('Your session has ended').count()).toBe(1);
  });

  it('whose cookie the browser does not keep is named as such, and so is one that cannot be read', async () => {
    const { adminKey } = await aTenant(browser.service.databaseUrl);
    const page = await browser.openPage();
    await page.goto('');
    const alert = page.getByRole('alert');
    await page.route('**/console/api/session', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ json: {} }) : route.continue(),
    );
    await signIn(page, adminKey);
    await alert.getByText('the browser has not kept the cookie').waitFor();
    await page.unroute('**/console/api/session');
    await page.route('**/console/api/session', (route) =>
      route.request().method() === 'GET' ? route.fulfill({ status: 503, json: PROBLEM }) : route.continue(),
    );
    await signIn(page, adminKey);
    await alert.getByText(PROBLEM.request_id).waitFor();
    await page.unroute('**/console/api/session');
    await signIn(page, adminKey);
    await heading(page, 'Overview').waitFor();
  });

  it('that could not be ended says so', async () => {
    const { page } = await browser.signedIn();
    await heading(page, 'Overview').waitFor();
    const answerAgain = await refuseCalls(page, '/session');
    await page.getByRole('button', { name: 'Sign out' }).click();
    const alert = page.getByRole('banner').getByRole('alert');
    await alert.getByText('request-of-the-test').waitFor();
    await answerAgain();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signInButton(page).waitFor();
  });
});

describe('a page that a screen reader or dictation works with', () => {
  it('reads as somebody who is there, although nothing is pressed', async () => {
    const { page } = await browser.signedIn();
    await page.clock.install();
    await page.goto('review');
    await heading(page, 'Review').waitFor();
    const markerOf = async (path: string, act: () => Promise<void>): Promise<string | undefined> => {
      await page.clock.fastForward('02:00');
      const read = page.waitForRequest(`**/console/api/v1/${path}*`);
      await act();
      return (await read).headers()['x-cds-console'];
    };
    const click = (name: string) => page.getByRole('link', { name, exact: true }).dispatchEvent('click');
    expect(await markerOf('webhooks', () => click('Webhooks'))).toBe('1');
    await click('Review');
    const source = page.getByLabel('Source', { exact: true });
    await source.focus();
    const write = async (): Promise<void> => {
      await page.keyboard.insertText('shop.orders');
      await source.blur();
    };
    expect(await markerOf('review-entries?source', write)).toBe('1');
  });
});

describe('a reaction that is being written', () => {
  it('is there again after the session has ended, and gone after "Cancel"', async () => {
    const { page, tenant } = await browser.signedIn({ path: 'campaigns/spring-sale?tab=reactions' });
    await buttonOf(page, 'Define reaction').click();
    const form = dialogOf(page, 'Define a reaction');
    const definition = form.getByLabel('Definition');
    await definition.fill('{ "half": "written"');
    await page.context().clearCookies();
    await page.getByText('Your session has ended').waitFor();
    await signIn(page, tenant.adminKey);
    await buttonOf(page, 'Define reaction').click();
    expect(await definition.inputValue()).toBe('{ "half": "written"');
    await buttonOf(form, 'Cancel').click();
    await form.waitFor({ state: 'hidden' });
    await buttonOf(page, 'Define reaction').click();
    expect(await definition.inputValue()).toContain('"name": "count-purchases"');
  });
});

describe('the question for a proof', () => {
  const proofOf = (page: Page) => dialogOf(page, 'Show that it is you');

  /** A page that asks for a proof, because a key is to be created. */
  async function askedForProof() {
    const opened = await browser.signedIn({ path: 'access' });
    await createKey(opened.page, opened.tenant);
    return opened;
  }

  async function createKey(page: Page, { tenantId }: Tenant): Promise<void> {
    await buttonOf(page, 'Create key').click();
    const form = dialogOf(page, 'Create an API key');
    await form.getByLabel('Name').fill('web shop');
    await form.getByRole('group', { name: 'Send events' }).getByLabel('external').check();
    // Now that somebody has signed in, which is a proof.
    await endProofs(browser.service.databaseUrl, tenantId);
    await buttonOf(form, 'Create key').click();
    await proofOf(page).waitFor();
  }

  it('ends with its session, and is asked again in the next one', async () => {
    const { page, tenant, client } = await askedForProof();
    await page.context().clearCookies();
    await page.getByText('Your session has ended').waitFor();
    await signIn(page, tenant.adminKey);
    await createKey(page, tenant);
    await proofOf(page).getByLabel('API key').fill(tenant.adminKey);
    await buttonOf(proofOf(page), 'Continue').click();
    await takeSecret(page, 'The new API key', 'API key');
    const { items } = (await client.get('/v1/api-keys')).body;
    expect(items.filter(({ name }: { name: string }) => name === 'web shop')).toHaveLength(1);
  });

  it('ends when another tab signs in to another workspace: nothing is done there', async () => {
    const { page } = await askedForProof();
    const { adminKey: key, name } = await aTenant(browser.service.databaseUrl);
    await page.request.post('api/session', { headers: FROM_CONSOLE, data: { key } });
    await (await page.context().newPage()).goto('overview');
    await page.getByText(name).first().waitFor();
    await proofOf(page).waitFor({ state: 'hidden' });
    await page.getByRole('table').waitFor();
    const keys = await new Client(browser.service.url, key).get('/v1/api-keys');
    expect(keys.body.items.map((each: { name: string }) => each.name)).not.toContain('web shop');
  });
});

describe('the shell', () => {
  it('has the focus in a page that was opened, so that a keyboard goes on there', async () => {
    const { page } = await browser.signedIn();
    await page.getByRole('region', { name: 'Review' }).getByRole('link', { name: '0' }).press('Enter');
    await heading(page, 'Review').waitFor();
    expect(await page.locator('main:focus').count()).toBe(1);
    await page.keyboard.press('Tab');
    expect(await page.getByLabel('Reason', { exact: true }).and(page.locator(':focus')).count()).toBe(1);
    await page.goBack();
    await heading(page, 'Overview').waitFor();
    expect(await page.locator('main:focus').count()).toBe(1);
  });

  it('has the focus after what had it went away with what was done', async () => {
    const { page, client } = await browser.signedIn();
    const { id, hint } = (await client.post('/v1/api-keys', { name: 'web shop', scopes: ['events:read'] })).body.apiKey;
    await page.goto(`access/keys/${id}`);
    await buttonOf(page, 'Revoke').press('Enter');
    const asked = dialogOf(page, 'Revoke this key?');
    await asked.getByRole('textbox').fill(hint.slice(-4));
    await buttonOf(asked, 'Revoke key').press('Enter');
    await asked.waitFor({ state: 'hidden' });
    await page.locator('main:focus').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.getByRole('link', { name: 'All API keys' }).and(page.locator(':focus')).count()).toBe(1);
  });

  it('takes its keys while a message is shown', async () => {
    const { page, client } = await browser.signedIn();
    const variable = { scope: 'user', name: 'points', type: 'number' };
    await client.post('/v1/campaigns/spring-sale/variables:define', variable);
    await page.goto('campaigns/spring-sale/variables/user/points');
    await buttonOf(page, 'Archive').click();
    const asked = dialogOf(page, 'Archive this variable?');
    await asked.getByRole('textbox').fill('points');
    await buttonOf(asked, 'Archive variable').click();
    const message = page.getByText('The variable is archived.').first();
    await message.waitFor();
    // So that it stays.
    await message.hover();
    await asked.waitFor({ state: 'hidden' });
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await heading(page, 'Review').waitFor();
    expect(await message.count()).toBe(1);
  });

  it('shows characters that change the direction of text in the name of who is signed in', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const admin = new Client(browser.service.url, tenant.adminKey);
    const { key } = (await admin.post('/v1/api-keys', { name: 'key\u202enimda', scopes: ['events:read'] })).body;
    const { page } = await browser.signedIn({ tenant, key });
    await page.getByText('key\\u202enimda', { exact: true }).waitFor();
    expect(await page.content()).not.toContain('\u202e');
  });
});
