import type { Locator, Page } from 'playwright-core';
import { anExternalEvent, PURCHASE, registerTypes } from '../support/builders';
import type { Client } from '../support/client';
import { axeOn, useConsoleBrowser } from '../support/console-browser';
import { buttonOf, expectKeyboardDialog, inTimeZone, refuseCalls } from '../support/console-parts';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

/** UTC and half an hour off the hours of most others. */
const ZONE = 'Asia/Kolkata';
const RELATIVE = /^(?:now|(?:in )?\d+ [a-z]+\.?(?: ago)?|yesterday|tomorrow|(?:last|next) [a-z]+\.?)$/;

const browser = useConsoleBrowser();

interface Workspace {
  readonly page: Page;
  readonly client: Client;
  /** Pages with lists of records that have times. */
  readonly lists: readonly string[];
  /** Those of them in which times are compared. */
  readonly logs: readonly string[];
  readonly webhookId: string;
  readonly profileId: string;
}

const CAMPAIGN = '/v1/campaigns/spring-sale';
const COUNT = { name: 'count', eventType: 'purchase', ops: [{ path: 'state.user.points', op: 'inc', value: 1 }] };

/** A workspace with something in each list. */
async function aFilledWorkspace(): Promise<Workspace> {
  const { page, client } = await browser.signedIn();
  await registerTypes(client, [PURCHASE]);
  await client.post(`${CAMPAIGN}/variables:define`, { scope: 'user', name: 'points', type: 'number' });
  await client.post(`${CAMPAIGN}/reactions:define`, COUNT);
  // Nobody listens there: the delivery waits for its next attempt.
  const webhook = { url: 'http://127.0.0.1:9/', events: [{ eventType: 'purchase' }] };
  const { id: webhookId } = (await client.post('/v1/webhooks', webhook)).body.webhook;
  await client.post('/v1/external-events', anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' } }));
  await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
  await until(async () => (await client.get('/v1/processing/summary')).body.queued === 0);
  const [{ profileId }] = (await client.get('/v1/events')).body.items;
  const logs = [
    ...[`customers/${profileId}`, 'event-types/purchase?tab=versions', `webhooks/${webhookId}`],
    ...['campaigns/spring-sale?tab=participants&sub=ann', 'campaigns/spring-sale/reactions/count'],
  ];
  const lists = ['review', 'customers', 'event-types', 'campaigns/spring-sale?tab=reactions', 'webhooks', 'access'];
  return { page, client, lists: [...lists, ...logs], logs, webhookId, profileId };
}

describe('every table', () => {
  it("shows how long ago things were, or when in the viewer's zone; on hover both, and exactly in UTC", async () => {
    const { page, lists, logs } = await aFilledWorkspace();
    await inTimeZone(page, ZONE);
    const zone = { timeZone: ZONE } as const;
    const seconds = { hour: 'numeric', minute: '2-digit', second: '2-digit' } as const;
    const ofThisYear = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', ...seconds, ...zone });
    const ofOthers = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'medium', ...zone });
    const year = new Intl.DateTimeFormat('en-US', { year: 'numeric', ...zone });
    const local = (at: Date): string =>
      (year.format(at) === year.format(new Date()) ? ofThisYear : ofOthers).format(at);
    for (const list of lists) {
      await page.goto(list);
      const times = page.locator('td time');
      await times.first().waitFor();
      for (const time of await times.all()) {
        const at = (await time.getAttribute('datetime')) ?? '';
        const [exact, other = ''] = ((await time.getAttribute('title')) ?? '').split('\n');
        const shown = (await time.textContent()) ?? '';
        expect([list, exact]).toEqual([list, new Date(at).toISOString()]);
        const ofZone = local(new Date(at));
        const ago = logs.includes(list) ? other : shown;
        expect([list, ago]).toEqual([list, expect.stringMatching(RELATIVE)]);
        const [asText, onHover] = logs.includes(list) ? [ofZone, ago] : [ago, `${ofZone} in your time zone, ${ago}`];
        expect([list, shown, other]).toEqual([list, asText, onHover]);
      }
    }
  });

  it('opens its rows with Enter', async () => {
    const { page, webhookId, profileId } = await aFilledWorkspace();
    const rows = [
      ['review', /\/review\/[\w-]+$/],
      ['customers', `/customers/${profileId}`],
      [`customers/${profileId}`, '?shown='],
      ['event-types', '/event-types/purchase'],
      ['campaigns/spring-sale', '/variables/user/points'],
      ['campaigns/spring-sale?tab=reactions', '/reactions/count'],
      ['campaigns/spring-sale/reactions/count', '?event='],
      ['webhooks', `/webhooks/${webhookId}`],
      [`webhooks/${webhookId}`, '?event='],
    ] as const;
    for (const [list, leadsTo] of rows) {
      await page.goto(list);
      const link = page.getByRole('row').nth(1).getByRole('link').first();
      await link.waitFor();
      await link.focus();
      await page.keyboard.press('Enter');
      await page.waitForURL((url) =>
        typeof leadsTo === 'string' ? url.href.includes(leadsTo) : leadsTo.test(url.pathname),
      );
    }
  });

  it('shows the same rows behind Back, and the first ones when it is opened anew', async () => {
    const { page, client } = await browser.signedIn();
    const refused = Array.from({ length: 60 }, (_none, at) =>
      anExternalEvent({ identity: {}, source: `source-${at}` }),
    );
    await client.post('/v1/external-events:batch', { items: refused });
    await page.goto('review');
    const table = page.getByRole('region', { name: 'Review entries' });
    const rows = table.getByRole('link');
    await page.getByRole('button', { name: 'Show more' }).click();
    await until(async () => (await rows.count()) === refused.length);
    const scrolled = () => table.evaluate(({ scrollTop }) => scrollTop);
    await rows.nth(45).scrollIntoViewIfNeeded();
    // The browser says so when it has come to rest.
    await until(() => page.evaluate<boolean>(`'scrollTops' in (history.state ?? {})`));
    const position = await scrolled();
    expect(position).toBeGreaterThan(0);
    await rows.nth(45).click();
    await table.waitFor({ state: 'detached' });
    await page.goBack();
    await table.waitFor();
    expect(await scrolled()).toBe(position);
    await page.getByRole('link', { name: 'Customers' }).click();
    await page.getByRole('link', { name: 'Review' }).click();
    await table.waitFor();
    expect(await scrolled()).toBe(0);
  });
});

describe('every page with a search', () => {
  it('gives it the focus by the key /', async () => {
    const { page } = await browser.signedIn();
    for (const path of ['live', 'review', 'customers', 'campaigns']) {
      await page.goto(path);
      const search = page.getByRole('searchbox').first();
      await search.waitFor();
      await page.keyboard.press('/');
      await until(async () => (await search.and(page.locator(':focus')).count()) === 1);
      expect(await search.inputValue()).toBe('');
    }
  });
});

describe('every dialog', () => {
  it('keeps the focus, closes with Escape, gives the focus back, and has no violations of accessibility', async () => {
    const { page, webhookId, profileId } = await aFilledWorkspace();
    const main = page.getByRole('main');
    const labelled = (name: string) => (): Locator => buttonOf(main, name);
    const dialogs: readonly (readonly [path: string, opener: () => Locator, title: string])[] = [
      ['overview', () => page.getByRole('button', { name: 'Keyboard shortcuts' }), 'Keyboard shortcuts'],
      ['review', labelled('Replay all'), 'Replay all that match'],
      ['review', labelled('Dismiss all'), 'Dismiss all that match'],
      [`customers/${profileId}`, labelled('Erase'), 'Erase the customer for good'],
      [`customers/${profileId}`, () => main.getByRole('link', { name: 'purchase' }), 'purchase'],
      ['event-types/purchase', labelled('Deprecate'), 'Deprecate purchase'],
      ['campaigns/spring-sale', labelled('Define variable'), 'Define a variable'],
      ['campaigns/spring-sale/variables/user/points', labelled('Change'), 'Change the variable'],
      ['campaigns/spring-sale/variables/user/points', labelled('Archive'), 'Archive this variable?'],
      ['campaigns/spring-sale?tab=reactions', labelled('Define reaction'), 'Define a reaction'],
      ['campaigns/spring-sale/reactions/count', labelled('Disable'), 'Disable this reaction?'],
      ['campaigns/spring-sale/reactions/count', labelled('Delete'), 'Delete this reaction?'],
      ['webhooks', labelled('Create endpoint'), 'Create an endpoint'],
      [`webhooks/${webhookId}`, labelled('Send a test call'), 'Test call'],
      [`webhooks/${webhookId}`, labelled('Change'), 'Change the endpoint'],
      [`webhooks/${webhookId}`, labelled('Disable'), 'Disable this endpoint?'],
      [`webhooks/${webhookId}`, labelled('Rotate secret'), 'Rotate the secret?'],
      [`webhooks/${webhookId}`, labelled('Delete'), 'Delete this endpoint?'],
    ];
    for (const [path, opener, title] of dialogs) {
      if (!page.url().endsWith(`/console/${path}`)) await page.goto(path);
      await expectKeyboardDialog(page, opener(), title, async () => {
        expect([title, await axeOn(page)]).toEqual([title, []]);
      });
    }
  });
});

describe('every state of every page', () => {
  const PAGES = [
    'overview',
    'live',
    'review',
    'customers',
    'event-types',
    'campaigns/spring-sale',
    'webhooks',
    'access',
  ];
  // Its stream of events is no call of the API.
  const READING = PAGES.filter((path) => path !== 'live');

  /** `isOnePart`: the state looks alike on all pages, so that axe looks at one of them. */
  async function expectFit(page: Page, path: string, shown: Locator, isOnePart: boolean): Promise<void> {
    await page.goto(path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await shown.first().waitFor();
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    const found = isOnePart && path !== 'review' ? [] : await axeOn(page);
    expect([path, width, found]).toEqual([path, 360, []]);
  }

  const narrow = async ({ page }: { readonly page: Page }): Promise<Page> => {
    await page.setViewportSize({ width: 360, height: 720 });
    return page;
  };

  it('fits into 360 pixels when it is filled', async () => {
    const page = await narrow(await aFilledWorkspace());
    for (const path of PAGES) {
      await expectFit(page, path, page.getByText('Waiting for events').or(page.getByRole('table')), false);
    }
  });

  it('fits into 360 pixels when it is empty, loading, or cannot be read', async () => {
    const page = await narrow(await browser.signedIn());
    for (const path of PAGES) {
      await expectFit(page, path, page.getByText('curl -X POST').or(page.getByRole('table')), true);
    }
    await page.route('**/console/api/v1/**', () => undefined);
    for (const path of READING) await expectFit(page, path, page.getByText('Loading …'), true);
    await page.unrouteAll();
    await refuseCalls(page, '/v1/**');
    for (const path of READING) await expectFit(page, path, page.getByRole('alert').getByText('request_id'), true);
  });

  it('fits into 360 pixels with the longest names and values, which have no place to break', async () => {
    const { page: wide, client } = await browser.signedIn();
    const word = (length: number): string => 'W'.repeat(length);
    const [campaign, name, sub] = [word(128), word(100), word(256)];
    const api = `/v1/campaigns/${campaign}`;
    const text = { type: 'string', default: word(4_096), description: word(1_000) };
    for (const scope of ['user', 'campaign']) await client.post(`${api}/variables:define`, { ...text, scope, name });
    const ops = [{ path: `state.user.${name}`, op: 'set', value: word(4_000) }];
    const reaction = { name: campaign, eventType: campaign, source: campaign, ops };
    expect((await client.post(`${api}/reactions:define`, reaction)).status).toBe(200);
    const values = { ops, mutation_id: word(255) };
    expect((await client.post(`${api}/participants/${sub}/state:mutate`, values)).status).toBe(200);
    const event = {
      source: campaign,
      type: campaign,
      external_event_id: word(256),
      attributes: { [name]: word(5_000) },
    };
    expect((await client.post('/v1/external-events', anExternalEvent({ ...event, identity: {} }))).status).toBe(422);
    const url = `https://hooks.example.com/${word(1_900)}`;
    const { id: webhookId } = (await client.post('/v1/webhooks', { url, events: [{ eventType: campaign }] })).body
      .webhook;
    const [{ id: entryId }] = (await client.get('/v1/review-entries')).body.items;
    const page = await narrow({ page: wide });
    const paths = [
      ...['overview', 'review', `review/${entryId}`, 'webhooks', `webhooks/${webhookId}`],
      ...['', '?tab=participants', `?tab=participants&sub=${sub}`, '?tab=reactions', `/reactions/${campaign}`].map(
        (path) => `campaigns/${campaign}${path}`,
      ),
      ...['user', 'campaign'].map((scope) => `campaigns/${campaign}/variables/${scope}/${name}`),
    ];
    for (const path of paths) await expectFit(page, path, page.getByText('WWWW'), true);
  });

  it('fits into 360 pixels when the key lacks the scope', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['profiles:write'] });
    const page = await narrow(await browser.signedIn({ tenant, key }));
    const refusal = page.getByRole('heading', { name: 'Your key does not allow this' });
    for (const path of PAGES) await expectFit(page, path, refusal, true);
  });
});
