import type { Page } from 'playwright-core';
import { aCdpEvent, anExternalEvent, PURCHASE, registerTypes } from '../support/builders';
import { Client } from '../support/client';
import { axeInBothWidths, axeOn, signIn, useConsoleBrowser } from '../support/console-browser';
import { expectFailure, expectKeyboardDialog, refuseCalls } from '../support/console-parts';
import { withClient } from '../support/database';
import { sendTooEarly } from '../support/review';
import { aTenant } from '../support/tenant';

const browser = useConsoleBrowser();

const MARKUP = '<img src=x onerror="document.title=1">';
const BIDI = 'inv\u202efdp.exe';

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const entriesTable = (page: Page) => page.getByRole('region', { name: 'Review entries' });

describe('a refused event', () => {
  it('is found, corrected, checked by a dry run, and replayed', async () => {
    const { page, client } = await browser.signedIn({ path: 'review' });
    await registerTypes(client, [PURCHASE]);
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    const refused = aCdpEvent({ properties: { amount: 'a lot', coupon: MARKUP, nickname: BIDI } });
    expect((await client.post('/v1/cdp/events', refused)).status).toBe(422);
    await page.reload();
    await button(page, 'purchase 2').click();
    await page.getByLabel('Source', { exact: true }).fill('shop.orders');
    await page.getByLabel('Source', { exact: true }).press('Enter');
    expect(new URL(page.url()).search).toBe('?eventType=purchase&source=shop.orders');
    expect(await page.locator(':focus').inputValue()).toBe('shop.orders');
    await entriesTable(page).getByRole('link', { name: 'unknown_property' }).click();

    const faulty = page.getByRole('listitem').filter({ hasText: 'must be a number' });
    await faulty.getByText('"amount": "a lot"').waitFor();
    // Stored text is shown as it is: markup inert, characters that turn the direction written out.
    await page.getByText('onerror').first().waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.content()).not.toContain('\u202e');
    expect(await axeInBothWidths(page)).toEqual([]);

    await button(page, 'Correct and replay').click();
    const editor = page.getByLabel('Event as JSON');
    expect(await editor.inputValue()).toContain('inv\\u202efdp.exe');
    expect(await editor.and(page.locator(':focus')).count()).toBe(1);
    await page.getByRole('region', { name: 'Properties of purchase' }).getByText('nickname').waitFor();
    await button(page, 'Dry run').click();
    const result = page.getByRole('status', { name: 'Result' });
    await result.getByText('refused', { exact: true }).waitFor();
    await result.getByText('properties.coupon', { exact: true }).waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    const event = JSON.parse(await editor.inputValue());
    await editor.fill(JSON.stringify({ ...event, properties: { amount: 12.5, nickname: BIDI } }));
    await button(page, 'Dry run').click();
    await result.getByText('would be accepted').waitFor();
    // The answer is not that to another text.
    await editor.press('Space');
    await result.getByText('before the last change').waitFor();
    expect(await result.getByText('would be accepted').count()).toBe(0);
    expect((await client.get('/v1/events')).body.items).toEqual([]);
    await button(page, 'Replay corrected event').click();
    await page.getByText('The event is stored, with its own id').waitFor();
    await page.getByText('No entry of this list is open').or(page.getByText('Next open entry')).waitFor();

    const [stored] = (await client.get('/v1/events')).body.items;
    expect(stored).toMatchObject({ externalEventId: refused['externalEventId'], properties: { amount: 12.5 } });
    expect((await client.get('/v1/review-entries?status=replayed')).body.items).toHaveLength(1);
  });

  it('has each fault beside its field, whatever the name of the field is', async () => {
    const { page, client } = await browser.signedIn();
    await registerTypes(client, [PURCHASE]);
    const names = ['items[]', 'utm-source', 'a"]b', 'x'.repeat(100), 'tail]'];
    const properties = { amount: 1, ...Object.fromEntries(names.map((name) => [name, 'odd'])) };
    expect((await client.post('/v1/cdp/events', aCdpEvent({ properties }))).status).toBe(422);
    await page.goto('review');
    await entriesTable(page).getByRole('link', { name: 'unknown_property' }).click();
    for (const name of names) {
      const line = page.getByRole('listitem').filter({ hasText: `${JSON.stringify(name)}: "odd"` });
      await line.getByText('is not declared by the event type').waitFor();
    }
    // Faults of fields that are not there any more stand where they were.
    await button(page, 'Correct and replay').click();
    const editor = page.getByLabel('Event as JSON');
    const event = JSON.parse(await editor.inputValue());
    await editor.fill(JSON.stringify({ ...event, properties: { amount: 1 } }));
    const faults = page.getByRole('status', { name: 'Faults' });
    await faults
      .getByRole('listitem')
      .filter({ hasText: 'utm-source' })
      .getByText(/^line \d+$/)
      .waitFor();
    await button(page, 'Replay corrected event').click();
    await page.getByText('The event is stored, with its own id').waitFor();
  });

  it('is not corrected where only its beginning is shown', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    const [{ id }] = (await client.get('/v1/review-entries')).body.items;
    // As with a larger BODY_BYTES_MAX.
    await page.route(`**/v1/review-entries/${id}`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), payloadTruncated: true } });
    });
    await page.goto(`review/${id}`);
    await page.getByText('it cannot be corrected here').waitFor();
    await button(page, 'Replay as it is').waitFor();
    expect(await button(page, 'Correct and replay').count()).toBe(0);
  });

  it('that is no JSON is copied as it was sent', async () => {
    const { page, client } = await browser.signedIn();
    const text = '{"source": "shop.orders",';
    expect((await client.send('/v1/external-events', text)).status).toBe(400);
    await page.goto('review');
    await entriesTable(page).getByRole('link', { name: 'malformed_json' }).click();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await button(page, 'Copy payload').click();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(text);
  });

  it('is not sent with a number that would change on the way', async () => {
    const { page, client } = await browser.signedIn();
    const event = JSON.stringify(anExternalEvent({ attributes: { order: 1 } }));
    const refused = event.replace('"order":1', '"order":9007199254740993');
    expect((await client.send('/v1/external-events', refused, { method: 'POST' })).status).toBe(422);
    await page.goto('review');
    await entriesTable(page).getByRole('link', { name: 'range' }).click();
    await button(page, 'Correct and replay').click();
    const editor = page.getByLabel('Event as JSON');
    expect(await editor.inputValue()).toContain('9007199254740993');
    await page.getByText('9007199254740993 is larger or has more digits than a number can keep').waitFor();
    for (const name of ['Format', 'Dry run', 'Replay corrected event']) {
      expect([name, await button(page, name).isDisabled()]).toEqual([name, true]);
    }
    await editor.fill((await editor.inputValue()).replace('9007199254740993', '"9007199254740993"'));
    await button(page, 'Replay corrected event').click();
    await page.getByText('The event is stored, with its own id').waitFor();
    const [stored] = (await client.get('/v1/events?unmask=true')).body.items;
    expect(stored.properties).toEqual({ order: '9007199254740993' });
  });

  it('is not replayed while it is checked, and the answer belongs to what was checked', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    await page.goto('review');
    await entriesTable(page).getByRole('link', { name: 'required' }).click();
    await button(page, 'Correct and replay').click();
    const editor = page.getByLabel('Event as JSON');
    const event = JSON.parse(await editor.inputValue());
    await editor.fill(JSON.stringify({ ...event, identity: { type: 'EXTERNAL', value: 'ann' } }));
    let answer = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/v1/external-events?dry_run=true', async (route) => {
      await isHeld;
      await route.continue();
    });
    await button(page, 'Dry run').click();
    expect(await button(page, 'Replay corrected event').isDisabled()).toBe(true);
    await editor.fill(JSON.stringify({ ...event, identity: {} }));
    answer();
    await page.getByRole('status', { name: 'Result' }).getByText('before the last change').waitFor();
    expect(await button(page, 'Replay corrected event').isDisabled()).toBe(false);
  });

  it('keeps the values that a key may not see', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['review:read', 'review:write', 'external-events:write'] });
    const { page, client } = await browser.signedIn({ tenant, key, path: 'review' });
    const refused = anExternalEvent({ type: undefined, identity: { type: 'EXTERNAL', value: 'customer-4711' } });
    await client.post('/v1/external-events', refused);
    await page.reload();
    await entriesTable(page).getByRole('link', { name: 'required' }).click();
    await button(page, 'Correct and replay').click();
    await page.getByText('A replay keeps the stored values of: identity.value').waitFor();
    expect(await button(page, 'Dry run').isDisabled()).toBe(true);
    const editor = page.getByLabel('Event as JSON');
    const event = JSON.parse(await editor.inputValue());
    await editor.fill(JSON.stringify({ ...event, type: 'purchase' }));
    await button(page, 'Replay corrected event').click();
    await page.getByText('The event is stored, with its own id').waitFor();
    const admin = new Client(browser.service.url, tenant.adminKey);
    const lookup = await admin.post('/v1/cdp/profiles:lookup', { type: 'EXTERNAL', value: 'customer-4711' });
    expect(lookup.status).toBe(200);
  });

  it('leads to the stored event that it differs from', async () => {
    const { page, client } = await browser.signedIn();
    const event = anExternalEvent({ external_event_id: 'order-1', attributes: { amount: 1 } });
    const { event_id: eventId } = (await client.post('/v1/external-events', event)).body;
    await client.post('/v1/external-events', { ...event, attributes: { amount: 2 } });
    await page.goto('review');
    const row = entriesTable(page).getByRole('row').filter({ hasText: 'payload_mismatch' });
    await row.getByRole('link', { name: 'order-1' }).click();
    await page.getByRole('dialog', { name: 'Event' }).getByText(eventId).waitFor();
    await page.keyboard.press('Escape');
    await row.getByRole('link', { name: 'payload_mismatch' }).press('Enter');
    await expectKeyboardDialog(page, page.getByRole('link', { name: eventId }), 'Event');
    await button(page, 'Copy event id').waitFor();
  });

  it('whose dismissal fails after its dialog was closed is named with the request id', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    await page.goto('review');
    await entriesTable(page).getByRole('link', { name: 'required' }).click();
    let answer = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => (answer = resolve));
    const problem = { status: 503, error_code: 'unavailable', message: 'Too busy now.', request_id: 'request-9' };
    await page.route('**/v1/review-entries/*:dismiss', async (route) => {
      await isHeld;
      await route.fulfill({ status: 503, json: problem });
    });
    await button(page, 'Dismiss').click();
    const dialog = page.getByRole('dialog', { name: 'Dismiss this entry' });
    await dialog.getByRole('button', { name: 'Dismiss', exact: true }).click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    answer();
    await page.getByText('Too busy now. request_id request-9').first().waitFor();
    expect(await axeOn(page)).toEqual([]);
  });

  it('that is dismissed after a replay has failed is no longer said to stay open', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    await page.goto('review');
    await entriesTable(page).getByRole('link', { name: 'required' }).click();
    await button(page, 'Replay as it is').click();
    await page.getByText('The entry stays open.').waitFor();
    await button(page, 'Dismiss').click();
    const dialog = page.getByRole('dialog', { name: 'Dismiss this entry' });
    await dialog.getByRole('button', { name: 'Dismiss', exact: true }).click();
    await page.getByText('No entry of this list is open').waitFor();
    expect(await page.getByText('The entry stays open.').count()).toBe(0);
  });

  it('is dismissed with a note', async () => {
    const { page, client } = await browser.signedIn({ path: 'review' });
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    await page.reload();
    await entriesTable(page).getByRole('link', { name: 'required' }).click();
    await button(page, 'Dismiss').click();
    const dialog = page.getByRole('dialog', { name: 'Dismiss this entry' });
    await dialog.getByLabel('Why it needs no action').fill('Test data');
    expect(await axeOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Dismiss', exact: true }).click();
    await page.getByText('No entry of this list is open').waitFor();
    const [entry] = (await client.get('/v1/review-entries')).body.items;
    expect(entry).toMatchObject({ status: 'dismissed', resolution: { note: 'Test data' } });
  });
});

describe('a bulk replay', () => {
  it('says how many events it would send, sends them, and shows its progress', async () => {
    const { page, client } = await browser.signedIn();
    await sendTooEarly(client, 30);
    await sendTooEarly(client, 2, { source: 'crm' });
    await registerTypes(client, [PURCHASE]);
    await page.goto('review?source=shop.orders');
    await button(page, 'Replay all that match').click();
    const dialog = page.getByRole('dialog', { name: 'Replay all that match' });
    await dialog.getByText('30 refused events').waitFor();
    expect(await axeOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Replay 30' }).click();
    await page.getByText('All entries were sent.').waitFor();
    await page.getByText('30 of 30').waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    await page.getByRole('link', { name: 'still open' }).click();
    await page.getByText('No entry matches').waitFor();
    expect((await client.get('/v1/review-entries:summary')).body.total).toBe(2);
  });

  it('is cancelled: what was sent stays, the others are open', async () => {
    const { page, client, tenant } = await browser.signedIn();
    await sendTooEarly(client, 250);
    await registerTypes(client, [PURCHASE]);
    await page.goto('review');
    await button(page, 'Replay all').click();
    await withClient(browser.service.databaseUrl, async (database) => {
      // The replay waits within its first piece for this entry.
      await database.query('BEGIN');
      const first = 'SELECT id FROM review_entries WHERE tenant_id = $1 ORDER BY first_seen_at, id LIMIT 1 FOR UPDATE';
      await database.query(first, [tenant.tenantId]);
      await page.getByRole('button', { name: 'Replay 250' }).click();
      await button(page, 'Cancel replay').waitFor();
      // The page says when it cannot read how far the replay is, and goes on then, also after a reload.
      const answerAgain = await refuseCalls(page, '/v1/review-replays/*');
      await expectFailure(page);
      await answerAgain();
      await page.getByRole('alert').waitFor({ state: 'detached' });
      await page.reload();
      const sent = page.waitForRequest((request) => request.url().endsWith(':cancel'));
      await button(page, 'Cancel replay').click();
      await sent;
      await database.query('COMMIT');
    });
    await page.getByText('What was sent stays; the other entries are still open.').waitFor();
    const { total } = (await client.get('/v1/review-entries:summary')).body;
    expect(total).toBeGreaterThan(0);
  });
});

describe('a bulk dismissal', () => {
  it('says how many entries it would close, closes them with a note, and can be looked at again', async () => {
    const { page, client } = await browser.signedIn();
    await sendTooEarly(client, 30);
    await sendTooEarly(client, 2, { source: 'crm' });
    await page.goto('review?source=shop.orders');
    await button(page, 'Dismiss all that match').click();
    const dialog = page.getByRole('dialog', { name: 'Dismiss all that match' });
    await dialog.getByText('30 entries').waitFor();
    await dialog.getByLabel('Why they need no action').fill('Test data');
    expect(await axeOn(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Dismiss 30' }).click();
    await page.getByText('All entries were closed').waitFor();
    await page.reload();
    await page.getByText('30 of 30').waitFor();
    await page.getByText('Test data').waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    await page.getByRole('link', { name: 'still open' }).click();
    await page.getByText('No entry matches').waitFor();
    const { items } = (await client.get('/v1/review-entries?status=open')).body;
    expect(items.map(({ source }: { source: string }) => source)).toEqual(['crm', 'crm']);
  });
});

describe('an event that is being corrected', () => {
  it('is there again after the session has ended and the same key has signed in', async () => {
    const { page, client, tenant } = await browser.signedIn({ path: 'review' });
    await client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    await page.reload();
    await entriesTable(page).getByRole('link', { name: 'required' }).click();
    await button(page, 'Correct and replay').click();
    const editor = page.getByLabel('Event as JSON');
    await editor.fill('{ "half": "written"');
    await page.context().clearCookies();
    await button(page, 'Dismiss').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Dismiss', exact: true }).click();
    await page.getByText('Your session has ended').waitFor();
    expect(await page.content()).not.toContain('written');
    await signIn(page, tenant.adminKey);
    await editor.waitFor();
    expect(await editor.inputValue()).toBe('{ "half": "written"');
    // Another key sees nothing of it.
    await page.context().clearCookies();
    await button(page, 'Dismiss').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Dismiss', exact: true }).click();
    await page.getByText('Your session has ended').waitFor();
    await signIn(page, await tenant.key({ scopes: ['review:read', 'review:write'] }));
    await button(page, 'Correct and replay').waitFor();
    expect(await editor.count()).toBe(0);
  });
});

describe('the review page', () => {
  it('says what to do first when there is nothing, and pages through many entries', async () => {
    const { page, client } = await browser.signedIn({ path: 'review' });
    await page.getByRole('heading', { name: 'Nothing to review' }).waitFor();
    await page.getByText('curl -X POST').waitFor();
    expect(await axeOn(page)).toEqual([]);
    await sendTooEarly(client, 60);
    await page.reload();
    await page.getByText('50 shown').waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    await button(page, 'Show more').click();
    await page.getByText('60 shown').waitFor();
    await page.getByLabel('Status', { exact: true }).selectOption('dismissed');
    await page.getByText('No entry matches').waitFor();
    await page.goto('review?status=wrong');
    await page.getByRole('alert').getByText('request_id').first().waitFor();
  });

  it('looks further for the entries that a filter has left where a page ended without any', async () => {
    const { page, tenant, client } = await browser.signedIn();
    await sendTooEarly(client, 1);
    await withClient(browser.service.databaseUrl, async (database) => {
      // More than one page looks at, all of them newer.
      await database.query(
        `INSERT INTO review_entries (tenant_id, id, severity, stage, reason, message, details, family, payload, payload_form,
           occurrences, first_seen_at, last_seen_at, status)
         SELECT $1, gen_random_uuid(), 'error', 'identity', 'required', 'm', '[]', 'external', '{}', 'json', 1,
           now() + interval '1 hour', now(), 'open'
         FROM generate_series(1, 20001)`,
        [tenant.tenantId],
      );
    });
    await page.goto('review?eventType=purchase');
    await page.getByText('No match among those looked at so far').waitFor();
    expect(await axeOn(page)).toEqual([]);
    await button(page, 'Look further').click();
    await entriesTable(page).getByRole('link', { name: 'unregistered_event_type' }).waitFor();
  });

  it('is read also by a browser that thinks it is offline', async () => {
    const { page } = await browser.signedIn({ path: 'review' });
    await page.getByRole('heading', { name: 'Nothing to review' }).waitFor();
    await page.evaluate(`dispatchEvent(new Event('offline'))`);
    await page.getByLabel('Status', { exact: true }).selectOption('dismissed');
    await page.getByText('No entry matches').waitFor();
  });

  it('says which scope a key lacks, and offers nothing that it may not do', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['events:read'] });
    const { page } = await browser.signedIn({ tenant, key, path: 'review' });
    await page.getByText('Your key does not allow this').waitFor();
    await page.getByText('review:read').waitFor();
    expect(await axeOn(page)).toEqual([]);
    const reader = await tenant.key({ scopes: ['review:read', 'external-events:write'] });
    const other = await browser.signedIn({ tenant, key: reader, path: 'review' });
    await other.client.post('/v1/external-events', anExternalEvent({ identity: {} }));
    await other.page.reload();
    await entriesTable(other.page).getByRole('link', { name: 'required' }).click();
    await other.page.getByText('What was sent').waitFor();
    expect(await other.page.getByRole('button', { name: /Replay|Correct|Dismiss/ }).count()).toBe(0);
  });
});
