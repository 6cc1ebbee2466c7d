import type { Page } from 'playwright-core';
import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { axeInBothWidths, axeOn, signIn, useConsoleBrowser } from '../support/console-browser';
import { buttonOf, dialogOf } from '../support/console-parts';
import { endProofs } from '../support/console-proof';
import { databaseUrl, rowsOf } from '../support/database';
import { startSignInProvider, type SignInProvider } from '../support/sign-in-provider';
import { aTenant, type Tenant } from '../support/tenant';

let provider: SignInProvider;
/** The workspaces to which groups of the provider give access. Their order is that of their names. */
let company: Tenant;
let branch: Tenant;

const browser = useConsoleBrowser(async () => {
  provider = await startSignInProvider();
  const tenants = [await aTenant(await databaseUrl()), await aTenant(await databaseUrl())];
  [company, branch] = tenants.sort((one, other) => (one.name < other.name ? -1 : 1)) as [Tenant, Tenant];
  const scopes = ['events:read', 'profiles:read'];
  const groups = {
    readers: { workspace: company.name, scopes },
    branches: { workspace: branch.name, scopes: ['api-keys:read', 'api-keys:write', 'events:read'] },
    keepers: { workspace: company.name, scopes: [...scopes, 'pii:read', 'webhooks:write', 'webhooks:read'] },
  };
  return {
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: 'console',
    OIDC_CLIENT_SECRET: 'a secret of the console',
    OIDC_GROUPS: JSON.stringify(groups),
    OIDC_SCOPE: 'openid profile groups',
  };
});

afterAll(() => provider.stop());

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

  it('of another workspace replaces what other pages of the browser show', async () => {
    const { page, client, tenant } = await browser.signedIn();
    await client.post('/v1/api-keys', { name: 'key of the first', scopes: ['events:read'] });
    await page.goto('access');
    await page.getByText('key of the first').waitFor();
    const stranger = await aTenant(browser.service.databaseUrl);
    const other = await page.context().newPage();
    await other.goto('overview');
    await other.getByRole('button', { name: 'Sign out' }).click();
    await signIn(other, stranger.adminKey);
    await heading(other, 'Overview').waitFor();
    await page.getByText('key of the first').waitFor({ state: 'detached' });
    await page.getByText(stranger.name).first().waitFor();
    expect(await page.content()).not.toContain(tenant.name);
  });

  it('shows how long ago things were by the clock of the service, whatever the browser’s says', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    const [{ id }] = (await client.get('/v1/review-entries')).body.items;
    await page.clock.install({ time: Date.now() - 5 * 60 * 60_000 });
    await page.goto(`review/${id}`);
    await page
      .getByText(/^(?:now|\d+ sec\. ago)$/)
      .first()
      .waitFor();
    expect(await page.getByText(/ hr\./).count()).toBe(0);
  });
});

describe('how long ago something was', () => {
  it('is right at once after a page without times', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    await page.clock.install();
    await page.goto('event-types/_new');
    await page.getByLabel('Event type as JSON').waitFor();
    // Ten minutes pass, for the service, too. The entry is of that moment.
    await page.clock.fastForward('10:00');
    const later = new Date(Date.now() + 10 * 60_000);
    await page.route('**/console/api/**', async (route) => {
      const response = await route.fetch();
      const text = (await response.text()).replace(/"lastSeenAt":"[^"]+"/g, `"lastSeenAt":"${later.toISOString()}"`);
      await route.fulfill({ response, headers: { ...response.headers(), date: later.toUTCString() }, body: text });
    });
    await page.getByRole('link', { name: 'Review' }).click();
    const age = page.getByRole('region', { name: 'Review entries' }).locator('tbody time');
    expect(await age.textContent()).toBe('now');
    await page.unrouteAll({ behavior: 'wait' });
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

describe('signing in by the identity provider', () => {
  let people = 0;

  beforeAll(() => provider.set({ redirectUris: [`${away(browser.service.url)}/console/api/oidc/callback`] }));
  afterEach(() => provider.set({ isAway: false }));

  /** The service under another name: the provider is another site then, as it is outside of tests. */
  const away = (url: string): string => url.replace('127.0.0.1', 'localhost');
  const pageOf = (path: string): string => `${away(browser.service.url)}/console/${path}`;
  const withProvider = (page: Page) => page.getByRole('link', { name: 'Sign in with the identity provider' });
  const groupsOf = (subject: string, groups: readonly string[]): Promise<void> =>
    provider.set({ persons: { [subject]: { name: `Person of ${subject}`, groups } }, next: subject });

  /** A person of these groups, at the sign-in. */
  async function atSignIn(groups: readonly string[], path = ''): Promise<{ page: Page; subject: string }> {
    people += 1;
    const subject = `subject-${people}`;
    await groupsOf(subject, groups);
    const page = await browser.openPage();
    await page.goto(pageOf(path));
    await withProvider(page).waitFor();
    return { page, subject };
  }

  async function expectFailed(page: Page, words: string): Promise<void> {
    await heading(page, 'The sign-in has failed').waitFor();
    const alert = page.getByRole('alert');
    await alert.getByText(words).waitFor();
    await alert.getByText('request_id').waitFor();
    expect(page.url()).toBe(pageOf(''));
    expect(await axeInBothWidths(page)).toEqual([]);
    await page.getByRole('link', { name: 'Back to the sign-in' }).click();
    await withProvider(page).waitFor();
  }

  /** Begins a sign-in in this browser, and opens the callback with an answer that the provider did not give. */
  async function comeBackWith(page: Page, answer: Readonly<Record<string, string>>): Promise<void> {
    const begun = await page.context().request.get(pageOf('api/oidc/sign-in'), { maxRedirects: 0 });
    const state = new URL(begun.headers()['location'] ?? '').searchParams.get('state') ?? '';
    await page.goto(
      pageOf(`api/oidc/callback?${new URLSearchParams({ state, iss: provider.issuer, ...answer }).toString()}`),
    );
  }

  it('leads to the page that was asked for, with what the groups may do and nothing else', async () => {
    const { page } = await atSignIn(['readers', 'unknown'], 'live?result=refused');
    expect(await axeInBothWidths(page)).toEqual([]);
    await withProvider(page).click();
    await heading(page, 'Live events').waitFor();
    expect(page.url()).toBe(pageOf('live?result=refused'));
    await page.getByText(company.name).waitFor();
    await page.getByText('Person of subject').waitFor();
    await page.getByText('Waiting for events').waitFor();
    await page.goto(pageOf('review'));
    await page.getByRole('heading', { name: 'Your groups do not allow this' }).waitFor();
    await page.getByText('review:read').waitFor();
    await page.goto(pageOf('webhooks'));
    await page.getByRole('heading', { name: 'Your groups do not allow this' }).waitFor();
    expect(await buttonOf(page, 'Create endpoint').count()).toBe(0);
  });

  it('is possible from a page whose address the service does not take back', async () => {
    const { page } = await atSignIn(['readers'], 'live?source=a..b');
    await withProvider(page).click();
    await heading(page, 'Overview').waitFor();
  });

  it('ends with the group, at the next renewal: the page goes to the sign-in', async () => {
    const { page, subject } = await atSignIn(['readers'], 'customers');
    await withProvider(page).click();
    await heading(page, 'Customers').waitFor();
    await groupsOf(subject, []);
    const aged = `UPDATE console_oidc_grants SET renewed_at = renewed_at - interval '60 seconds' WHERE subject = $1`;
    await rowsOf(browser.service.databaseUrl, aged, [subject]);
    await page.getByText('Your session has ended').waitFor();
    expect(await page.getByRole('navigation').count()).toBe(0);
    await withProvider(page).click();
    await expectFailed(page, 'none of your groups gives access');
    await groupsOf(subject, ['readers']);
    await withProvider(page).click();
    await heading(page, 'Overview').waitFor();
  });

  it('is asked for again where a fresh proof is needed, and leads back to the page', async () => {
    const { page, subject } = await atSignIn(['keepers']);
    await withProvider(page).click();
    await heading(page, 'Overview').waitFor();
    const event = anExternalEvent({ identity: { type: 'EMAIL', value: 'jane@example.com' } });
    const admin = new Client(browser.service.url, company.adminKey);
    const { event_id: eventId } = (await admin.post('/v1/external-events', event)).body;
    await page.goto(pageOf(`live?event=${eventId}`));
    const shown = dialogOf(page, 'Event');
    await shown.getByText('j***@e***.com').waitFor();
    await rowsOf(
      browser.service.databaseUrl,
      `UPDATE console_sessions SET proven_at = proven_at - interval '6 minutes'
       WHERE grant_id = (SELECT id FROM console_oidc_grants WHERE subject = $1)`,
      [subject],
    );
    await buttonOf(shown, 'Show personal data').click();
    const proof = dialogOf(page, 'Show that it is you');
    expect(await proof.getByLabel('API key').count()).toBe(0);
    expect(await axeOn(page)).toEqual([]);
    const asked = page.waitForRequest((request) => request.url().startsWith(`${provider.issuer}/auth`));
    await proof.getByRole('link', { name: 'Sign in again' }).click();
    expect(new URL((await asked).url()).searchParams.get('prompt')).toBe('login');
    await buttonOf(shown, 'Show personal data').click();
    await shown.getByText('jane@example.com').waitFor();
    expect(page.url()).toBe(pageOf(`live?event=${eventId}`));
  });

  it('goes on in the workspace of the session after a proof, and after its end', async () => {
    const { page, subject } = await atSignIn(['keepers', 'branches']);
    await page.goto(pageOf(`api/oidc/sign-in?workspace=${branch.name}&page=access`));
    await heading(page, 'Access').waitFor();
    await page.getByText(branch.name).waitFor();
    await endProofs(browser.service.databaseUrl, branch.tenantId);
    await buttonOf(page, 'Create key').click();
    const form = dialogOf(page, 'Create an API key');
    await form.getByLabel('Name').fill('reader');
    await form.getByRole('group', { name: 'Events', exact: true }).getByLabel('read').check();
    await buttonOf(form, 'Create key').click();
    await dialogOf(page, 'Show that it is you').getByRole('link', { name: 'Sign in again' }).click();
    await form.waitFor({ state: 'hidden' });
    await heading(page, 'Access').waitFor();
    await page.getByText(branch.name).waitFor();
    await page.context().clearCookies({ name: 'cds_console' });
    await page.getByText('Your session has ended').waitFor();
    await groupsOf(subject, ['keepers', 'branches']);
    await withProvider(page).click();
    await page.getByText(branch.name).waitFor();
    await heading(page, 'Access').waitFor();
  });

  it('that fails is a page with the reason and the request id, and a way back', async () => {
    const { page } = await atSignIn(['readers']);
    await comeBackWith(page, { code: 'a-code', state: 'x'.repeat(43) });
    await expectFailed(page, 'was not begun in this browser');
    await comeBackWith(page, { code: 'a-code-of-nobody' });
    await expectFailed(page, 'The identity provider does not confirm the sign-in: invalid_grant');
    await comeBackWith(page, { error: 'access_denied', error_description: '<b>no</b>' });
    await expectFailed(page, 'access_denied');
    await provider.set({ isAway: true });
    await comeBackWith(page, { code: 'a-code' });
    await expectFailed(page, 'The identity provider cannot be asked now');
    await provider.set({ isAway: false });
    await withProvider(page).click();
    await heading(page, 'Overview').waitFor();
    expect(page.url()).toBe(pageOf('overview'));
  });
});
