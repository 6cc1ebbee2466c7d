import type { Locator, Page } from 'playwright-core';
import { anExternalEvent } from '../support/builders';
import type { Client } from '../support/client';
import { axeOn, useConsoleBrowser } from '../support/console-browser';
import { refuseCalls } from '../support/console-parts';
import { rowsOf } from '../support/database';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

/** Of everything that the first page loads, compressed (contract section 10). */
const FIRST_LOAD_BYTES_MAX = 250_000;

const browser = useConsoleBrowser();

const rowOf = (page: Page, text: string): Locator => page.getByRole('row').filter({ hasText: text });
const cellsOf = async (row: Locator): Promise<string[]> => row.getByRole('cell').allTextContents();

async function send(client: Client, fields: object = {}): Promise<any> {
  const { status, body } = await client.post('/v1/external-events', { ...anExternalEvent(), ...fields });
  expect([200, 202, 409, 422]).toContain(status);
  return body;
}

/** One accepted event, its repetition and a refused one. */
async function sendOneOfEach(client: Client, source: string): Promise<{ eventId: string }> {
  const identity = { type: 'EMAIL', value: 'jane@example.com' };
  const event = { ...anExternalEvent(), source, external_event_id: `${source}-1`, identity };
  const { event_id: eventId } = await send(client, event);
  await send(client, event);
  await send(client, { source, external_event_id: `${source}-2`, occurred_at: 'yesterday' });
  return { eventId };
}

describe('the overview', () => {
  it('counts the answers to each source, what waits, and what is to be reviewed', async () => {
    const { page, client } = await browser.signedIn();
    await sendOneOfEach(client, 'shop.orders');
    await send(client, { source: 'crm.contacts', external_event_id: 'crm-1' });
    await page.reload();
    await rowOf(page, 'shop.orders').waitFor();
    expect(await cellsOf(rowOf(page, 'shop.orders'))).toEqual(['shop.orders', '', '1', '1', '1', '33.3', '1']);
    expect(await cellsOf(rowOf(page, 'crm.contacts'))).toEqual(['crm.contacts', '', '1', '0', '0', '0', '1']);

    await page.getByText('Show as a table').click();
    const steps = page.getByRole('region', { name: 'Last 24 hours: answers over time' }).getByRole('row');
    const numbers = (await steps.allTextContents()).slice(1, 3).join(' ');
    expect(numbers).toContain('211');

    const figures = page.getByRole('region', { name: 'Review' });
    await figures.getByRole('link', { name: '1' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Review' }).waitFor();
  });

  it('has no violations of accessibility, and fits into 360 pixels', async () => {
    const { page, client } = await browser.signedIn();
    await sendOneOfEach(client, 'shop.orders');
    await page.reload();
    await rowOf(page, 'shop.orders').waitFor();
    await page.getByText('Show as a table').click();
    expect(await axeOn(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 720 });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360);
    expect(await axeOn(page)).toEqual([]);
  });

  it('says in an empty workspace what to do first, with the command for it', async () => {
    const { page } = await browser.signedIn();
    await page.getByText('No event has come in this time').waitFor();
    await page.getByText(`curl -X POST '${browser.service.url}/v1/external-events'`).waitFor();
    expect(await axeOn(page)).toEqual([]);
  });

  it('shows what the key may see, and says for the rest which scope is missing', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['review:read'] });
    const { page } = await browser.signedIn({ tenant, key });
    await page.getByText('Open entries').waitFor();
    const ingest = page.getByRole('region', { name: 'Ingest' });
    await ingest.getByRole('heading', { name: 'Your key does not allow this' }).waitFor();
    await ingest.getByText('events:read').waitFor();
    await ingest.getByText('request_id').waitFor();
  });

  it('leads from a source to its live events, where they can be filtered by it', async () => {
    const { page, client } = await browser.signedIn();
    for (const source of ['a,b', 'shop.orders']) await send(client, { source });
    await page.reload();
    await rowOf(page, 'a,b').waitFor();
    expect(await rowOf(page, 'a,b').getByRole('link').count()).toBe(0);
    await rowOf(page, 'shop.orders').getByRole('link').click();
    await page.waitForURL('**/console/live?source=shop.orders');
  });

  it('keeps what it shows when the next minute begins', async () => {
    const { page, client } = await browser.signedIn();
    await send(client, { source: 'shop.orders' });
    await page.clock.install();
    await page.goto('overview?range=1h');
    await rowOf(page, 'shop.orders').waitFor();
    await page.getByText('Show as a table').click();
    const beginnings = new Set<string | null>();
    await page.route('**/v1/stats/ingest?*', (route) => {
      // Nobody answers.
      beginnings.add(new URL(route.request().url()).searchParams.get('from'));
    });
    await until(async () => {
      await page.clock.fastForward('00:10');
      return beginnings.size >= 2;
    });
    expect(await page.getByText('Loading …').count()).toBe(0);
    await page.getByRole('region', { name: 'Last hour: answers over time' }).waitFor();
  });

  it('says why something could not be read, and reads it again', async () => {
    const { page } = await browser.signedIn({ path: 'review' });
    const problem = { error_code: 'unavailable', message: 'The database is away.', request_id: 'request-7' };
    await page.route('**/api/v1/stats/ingest?*', (route) => route.fulfill({ status: 503, json: problem }));
    await page.goto('overview?range=1h');
    const alert = page.getByRole('region', { name: 'Ingest' }).getByRole('alert');
    await alert.getByText('The database is away.').waitFor();
    await alert.getByText('request-7').waitFor();
    await page.unroute('**/api/v1/stats/ingest?*');
    await alert.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No event has come in this time').waitFor();
  });

  it('loads less than 250 KB', async () => {
    const { page } = await browser.signedIn();
    await page.getByText('No event has come in this time').waitFor();
    await page.reload();
    const bytes = await page.evaluate<number>(
      `performance.getEntriesByType('resource').reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    );
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(FIRST_LOAD_BYTES_MAX);
  });
});

describe('live events', () => {
  const live = async (): Promise<{ page: Page; client: Client }> => {
    const { page, client } = await browser.signedIn({ path: 'live' });
    await page.getByText('Live', { exact: true }).waitFor();
    return { page, client };
  };

  it('come as they are answered, and lead to the stored event or to the review entry', async () => {
    const { page, client } = await live();
    const { eventId } = await sendOneOfEach(client, 'shop.orders');
    await rowOf(page, 'accepted').waitFor();
    await rowOf(page, 'duplicate').waitFor();
    const refused = rowOf(page, 'refused');
    await refused.getByText('date_time').or(refused.getByText('format')).first().waitFor();
    expect(await axeOn(page)).toEqual([]);

    await rowOf(page, 'accepted').getByRole('link', { name: 'shop.orders-1' }).click();
    const dialog = page.getByRole('dialog', { name: 'Event' });
    await dialog.getByText(eventId).waitFor();
    await dialog.getByText('j***@e***.com').waitFor();
    expect(new URL(page.url()).searchParams.get('event')).toBe(eventId);
    expect(await axeOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await rowOf(page, 'accepted')
      .getByText('shop.orders', { exact: true })
      .locator('xpath=ancestor::td')
      .click({
        position: { x: 2, y: 2 },
      });
    await dialog.getByText(eventId).waitFor();
    await page.keyboard.press('Escape');

    await refused.getByRole('link', { name: 'shop.orders-2' }).click();
    await page.waitForURL('**/console/review/*');
  });

  it('show personal data after a fresh proof, which does not interrupt what was asked for', async () => {
    const { page, client, tenant } = await browser.signedIn({ path: 'live' });
    await page.getByText('Live', { exact: true }).waitFor();
    await sendOneOfEach(client, 'shop.orders');
    await rowOf(page, 'accepted').getByRole('link', { name: 'shop.orders-1' }).click();
    const event = page.getByRole('dialog', { name: 'Event' });
    const agesAgo = `UPDATE console_sessions SET proven_at = now() - interval '6 minutes' WHERE tenant_id = $1`;
    await rowsOf(browser.service.databaseUrl, agesAgo, [tenant.tenantId]);
    await event.getByRole('button', { name: 'Show personal data' }).click();

    const proof = page.getByRole('dialog', { name: 'Show that it is you' });
    await proof.waitFor();
    expect(await axeOn(page)).toEqual([]);
    // Without a proof the event is shown as before.
    await page.keyboard.press('Escape');
    await event.getByRole('alert').getByText('request_id').waitFor();
    await event.getByText('j***@e***.com').waitFor();
    await event.getByRole('button', { name: 'Show personal data' }).click();
    await proof.waitFor();
    await page.keyboard.type('not-the-key-of-this-session-0123456789abc');
    await page.keyboard.press('Enter');
    await proof.getByRole('alert').waitFor();
    await proof.getByLabel('API key').fill(tenant.adminKey);
    await page.keyboard.press('Enter');
    await event.getByText('jane@example.com').waitFor();
    await proof.waitFor({ state: 'hidden' });
  });

  it('are filtered by a click on what to see, or on what to leave out; the address keeps it', async () => {
    const { page, client } = await live();
    for (const source of ['shop.orders', 'crm.contacts', 'app.mobile']) {
      await send(client, { source, external_event_id: `${source}-1` });
    }
    await rowOf(page, 'app.mobile').waitFor();
    await page.getByRole('button', { name: 'Hide shop.orders' }).click();
    await rowOf(page, 'shop.orders').waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('Live', { exact: true }).waitFor();
    await send(client, { source: 'shop.orders', external_event_id: 'later-1' });
    await send(client, { source: 'crm.contacts', external_event_id: 'later-2' });
    await rowOf(page, 'later-2').waitFor();
    expect(await rowOf(page, 'later-1').count()).toBe(0);

    await page.getByRole('button', { name: 'Not source shop.orders' }).click();
    await page.getByRole('button', { name: 'crm.contacts', exact: true }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?source=crm.contacts');
    await send(client, { source: 'app.mobile', external_event_id: 'last-1' });
    await send(client, { source: 'crm.contacts', external_event_id: 'last-2' });
    await rowOf(page, 'last-2').waitFor();
    expect(await rowOf(page, 'last-1').count()).toBe(0);
  });

  it('that were counted and not sent are those of the filters', async () => {
    const { page } = await browser.signedIn();
    await page.route('**/console/api/live*', async (route) => {
      const isFiltered = route.request().url().includes('source=');
      const data = JSON.stringify({ items: [], notShown: isFiltered ? 2 : 7 });
      const body = `retry: 600000\nevent: events\ndata: ${data}\n\n`;
      await route.fulfill({ headers: { 'content-type': 'text/event-stream' }, body });
    });
    await page.goto('live');
    await page.getByText('7 more events were counted').waitFor();
    await page.getByLabel('Source').fill('shop.orders');
    await page.getByLabel('Source').press('Enter');
    await page.getByText('2 more events were counted').waitFor();
  });

  it('stand still during a pause, and come then', async () => {
    const { page, client } = await live();
    await send(client, { external_event_id: 'before' });
    await rowOf(page, 'before').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await send(client, { external_event_id: 'during' });
    await page.getByRole('button', { name: 'Continue (1 new)' }).waitFor();
    expect(await rowOf(page, 'during').count()).toBe(0);
    await page.getByRole('button', { name: 'Continue (1 new)' }).click();
    await rowOf(page, 'during').waitFor();
  });

  it('are filtered during a pause, too', async () => {
    const { page, client } = await live();
    for (const source of ['shop.orders', 'crm.contacts']) await send(client, { source });
    await rowOf(page, 'shop.orders').waitFor();
    await rowOf(page, 'crm.contacts').waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Hide shop.orders' }).click();
    await page.getByRole('button', { name: 'Not source shop.orders' }).waitFor();
    await rowOf(page, 'shop.orders').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Not source shop.orders' }).click();
    await rowOf(page, 'shop.orders').waitFor();
    expect(await page.getByRole('button', { name: /^Continue/ }).count()).toBe(1);
  });

  it('show markup and characters that change the direction of text as what they are', async () => {
    const { page, client } = await live();
    const marked = {
      external_event_id: '<img src=x onerror=document.title="run">',
      attributes: { a: '\u202egnp.exe', b: 'x\u3164\u{e0041}' },
    };
    const { event_id: eventId } = await send(client, marked);
    await page.getByRole('link', { name: marked.external_event_id }).click();
    const dialog = page.getByRole('dialog', { name: 'Event' });
    await dialog.getByText(eventId).waitFor();
    await dialog.getByText('"\\u202egnp.exe"').waitFor();
    await dialog.getByText('"x\\u3164\\udb40\\udc41"').waitFor();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toBe('Live events · Campaign Data Service');
  });

  it('say why they cannot be shown, with the request id, and are shown when they can', async () => {
    const { page, client } = await browser.signedIn({ path: 'live?result=wrong' });
    const alert = page.getByRole('alert');
    await alert.getByText('must be one of accepted, duplicate, refused').first().waitFor();
    await alert.getByText('request_id').waitFor();
    expect(await axeOn(page)).toEqual([]);
    await page.getByLabel('Result').selectOption('accepted');
    await page.getByText('Live', { exact: true }).waitFor();
    await alert.waitFor({ state: 'detached' });
    await send(client, { external_event_id: 'shown' });
    await rowOf(page, 'shown').waitFor();
  });

  it('go on by themselves after the service was away', async () => {
    const { page, client } = await browser.signedIn();
    await page.clock.install();
    // As a proxy answers meanwhile.
    const comesBack = await refuseCalls(page, '/live');
    await page.goto('live');
    await page.getByText('Not connected').waitFor();
    await page.clock.runFor(10_000);
    await page.getByRole('alert').getByText('The database is away').waitFor();
    await comesBack();
    for (let waited = 0; waited < 3; waited += 1) await page.clock.runFor(10_000);
    await page.getByText('Live', { exact: true }).waitFor();
    await send(client, { external_event_id: 'shown' });
    await rowOf(page, 'shown').waitFor();
  });

  it('wait in a fifth tab of a browser, which has connections for everything else', async () => {
    const { page: first } = await live();
    const others: Page[] = [];
    for (let opened = 0; opened < 6; opened += 1) {
      const page = await first.context().newPage();
      others.push(page);
      await page.goto('live');
    }
    const areWaiting = async (expected: number): Promise<boolean> => {
      const counts = await Promise.all(others.map((page) => page.getByText('Waiting for another tab').count()));
      return counts.filter((count) => count > 0).length === expected;
    };
    await until(() => areWaiting(3));
    await others.shift()?.close();
    await until(() => areWaiting(2));
    await first.getByRole('button', { name: 'Sign out' }).click();
    await first.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  });

  it('are not for a key that may not read events', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['review:read'] });
    const { page } = await browser.signedIn({ path: 'live', tenant, key });
    await page.getByRole('heading', { name: 'Your key does not allow this' }).waitFor();
    await page.getByText('events:read').waitFor();
  });
});
