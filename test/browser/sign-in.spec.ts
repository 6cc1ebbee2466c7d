import type { Page } from 'playwright-core';
import { Client } from '../support/client';
import { axeOn, signIn, useConsoleBrowser } from '../support/console-browser';
import { aTenant, type Tenant } from '../support/tenant';

const browser = useConsoleBrowser();

const signInButton = (page: Page) => page.getByRole('button', { name: 'Sign in', exact: true });
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** A page whose session the sign-in page has begun; it was asked for `path`. */
async function signedInByHand(path = ''): Promise<{ readonly page: Page; readonly tenant: Tenant }> {
  const tenant = await aTenant(browser.service.databaseUrl);
  const page = await browser.openPage();
  await page.goto(path);
  await signIn(page, tenant.adminKey);
  return { page, tenant };
}

describe('signing in', () => {
  it('leads to the page that was asked for, and shows the workspace', async () => {
    const { page, tenant } = await signedInByHand('customers');
    await heading(page, 'Customers').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/customers');
    await page.getByText(tenant.name).waitFor();
  });

  it('refuses a wrong key with the reason and the request id, and takes the right one then', async () => {
    const { adminKey } = await aTenant(browser.service.databaseUrl);
    const page = await browser.openPage();
    await page.goto('');
    await signIn(page, `${adminKey.slice(0, -1)}_`);
    const alert = page.getByRole('alert');
    await alert.getByText('request_id').waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
    await signIn(page, adminKey);
    await heading(page, 'Overview').waitFor();
  });

  it('leaves nothing of the key in the page, its address, its storage or its cookies', async () => {
    const { page, tenant } = await signedInByHand();
    await heading(page, 'Overview').waitFor();
    const stored = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])',
    );
    expect(stored).toBe('[{},{},""]');
    const cookies = await page.context().cookies(browser.service.url + '/console/');
    expect(cookies.map(({ httpOnly, sameSite, path }) => ({ httpOnly, sameSite, path }))).toEqual([
      { httpOnly: true, sameSite: 'Strict', path: '/console' },
    ]);
    const everything = `${await page.content()} ${page.url()} ${JSON.stringify(cookies)}`;
    expect(everything).not.toContain(tenant.adminKey);
  });

  it('has no violations of accessibility', async () => {
    const page = await browser.openPage();
    await page.goto('');
    await signInButton(page).waitFor();
    expect(await axeOn(page)).toEqual([]);
  });
});

describe('a session', () => {
  it('outlives a reload', async () => {
    const { page } = await browser.signedIn({ path: 'review' });
    await heading(page, 'Review').waitFor();
    await page.reload();
    await heading(page, 'Review').waitFor();
  });

  it('ends with its key: the page goes to the sign-in', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['admin'] });
    const { page } = await browser.signedIn({ tenant, key });
    await heading(page, 'Overview').waitFor();
    const admin = new Client(browser.service.url, tenant.adminKey);
    const { items } = (await admin.get('/v1/api-keys')).body;
    const { id } = items.find(({ hint }: { hint: string }) => hint.endsWith(key.slice(-4)));
    expect((await admin.post(`/v1/api-keys/${id}:revoke`, {})).status).toBe(200);
    await page.getByText('Your session has ended').waitFor();
    await signInButton(page).waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
  });

  it('ends by signing out, for other pages of the browser too', async () => {
    const { page } = await browser.signedIn();
    const other = await page.context().newPage();
    await other.goto('webhooks');
    await heading(other, 'Webhooks').waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await signInButton(page).waitFor();
    await other.reload();
    await signInButton(other).waitFor();
  });
});

describe('the shell', () => {
  it('leads to each page by its keys, and lists them', async () => {
    const { page } = await browser.signedIn();
    await heading(page, 'Overview').waitFor();
    const pages = {
      l: 'Live events',
      r: 'Review',
      c: 'Customers',
      e: 'Event types',
      a: 'Campaigns',
      w: 'Webhooks',
      k: 'Access',
      o: 'Overview',
    };
    for (const [key, title] of Object.entries(pages)) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await heading(page, title).waitFor();
    }
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await heading(page, 'Live events').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('g r?');
    expect(await page.getByLabel('Source').inputValue()).toBe('g r?');
    await heading(page, 'Live events').click();
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    for (const title of Object.values(pages)) await dialog.getByText(`Go to ${title}`).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });

  it('has no violations of accessibility, with its list of keys open too', async () => {
    const { page } = await browser.signedIn();
    await heading(page, 'Overview').waitFor();
    expect(await axeOn(page)).toEqual([]);
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    expect(await axeOn(page)).toEqual([]);
  });

  it('keeps the chosen theme over a reload', async () => {
    const { page } = await browser.signedIn();
    const theme = () => page.evaluate<string>('getComputedStyle(document.documentElement).colorScheme');
    expect(await theme()).toBe('light dark');
    for (const chosen of ['light', 'dark']) {
      await page.getByRole('button', { name: 'Theme' }).click();
      expect(await theme()).toBe(chosen);
    }
    await page.reload();
    await heading(page, 'Overview').waitFor();
    expect(await theme()).toBe('dark');
  });

  it('fits into 360 pixels, where the pages are behind a button', async () => {
    const { page } = await browser.signedIn();
    await page.setViewportSize({ width: 360, height: 720 });
    await page.getByRole('button', { name: 'Menu' }).click();
    await page.getByRole('link', { name: 'Campaigns' }).click();
    await heading(page, 'Campaigns').waitFor();
    expect(await page.getByRole('link', { name: 'Campaigns' }).isVisible()).toBe(false);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360);
  });
});
