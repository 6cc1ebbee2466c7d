import type { Page } from 'playwright-core';
import { aCdpEvent, ANYTHING, PURCHASE, registerTypes } from '../support/builders';
import { axeInBothWidths, axeOn, useConsoleBrowser } from '../support/console-browser';
import { expectFailure, refuseCalls } from '../support/console-parts';
import { sendTooEarly } from '../support/review';
import { aTenant } from '../support/tenant';

const browser = useConsoleBrowser();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const editor = (page: Page) => page.getByLabel('Event type as JSON');

describe('an event type', () => {
  it('is drafted from refused events, checked and published, and the events can then be replayed', async () => {
    const { page, client } = await browser.signedIn({ path: 'event-types' });
    await page.getByRole('heading', { name: 'No event type is registered' }).waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    const properties = {
      plan: 'max',
      seats: 3,
      price: 9.5,
      trial: true,
      at: '2026-01-02T03:04:05Z',
      email: 'a@example.com',
    };
    await sendTooEarly(client, 2, { eventType: 'upgrade', properties });
    await sendTooEarly(client, 1, { eventType: 'upgrade', properties: { ...properties, seats: 2.5, plan: undefined } });
    await page.reload();
    await page.getByRole('link', { name: 'Draft upgrade from its events' }).click();
    await page.getByRole('note').getByText('3 refused and 0 stored events').waitFor();
    expect(JSON.parse(await editor(page).inputValue())).toEqual({
      eventType: 'upgrade',
      additionalProperties: 'reject',
      properties: {
        plan: { type: 'string' },
        seats: { type: 'number', required: true },
        price: { type: 'number', required: true },
        trial: { type: 'boolean', required: true },
        at: { type: 'timestamp', required: true },
        email: { type: 'string', format: 'email', pii: true, required: true },
      },
    });
    expect(await button(page, 'Publish').isDisabled()).toBe(true);
    await button(page, 'Check').click();
    await page.getByText('Would fail 0 of the last 3').waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    await button(page, 'Publish').click();
    await page.getByRole('heading', { level: 1, name: 'upgrade' }).waitFor();
    await page.getByRole('link', { name: 'Refused events of this type' }).click();
    await button(page, 'Replay all that match').click();
    await page.getByRole('button', { name: 'Replay 3' }).click();
    await page.getByText('3 of 3').waitFor();
    expect((await client.get('/v1/events?eventType=upgrade')).body.items).toHaveLength(3);
  });

  it('gets a version that breaks events only after its name was typed', async () => {
    const { page, client } = await browser.signedIn();
    await registerTypes(client, [PURCHASE]);
    for (let sent = 0; sent < 2; sent += 1) await client.post('/v1/cdp/events', aCdpEvent());
    await client.post('/v1/cdp/events', aCdpEvent({ properties: { amount: 1, quantity: 2 } }));
    await page.goto('event-types');
    await page.getByRole('searchbox', { name: 'Event type' }).fill('purchase');
    await button(page, 'Open event type').click();
    await button(page, 'New version').click();
    const definition = JSON.parse(await editor(page).inputValue());
    await button(page, 'Check').click();
    await page.getByText('This equals the current version').waitFor();
    expect(await button(page, 'Publish').isDisabled()).toBe(true);
    definition.properties.quantity.required = true;
    await editor(page).fill(JSON.stringify(definition));
    await button(page, 'Check').click();
    await page.getByText('Would fail 2 of the last 3').waitFor();
    await page.getByRole('region', { name: 'Why they would fail' }).getByText('properties.quantity').waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    // What was changed after the check cannot be published.
    await editor(page).fill(JSON.stringify({ ...definition, description: 'A sale' }));
    expect(await button(page, 'Publish').isDisabled()).toBe(true);
    await button(page, 'Check').click();
    await button(page, 'Publish').click();
    const dialog = page.getByRole('dialog', { name: 'Publish a version that breaks events' });
    const publish = dialog.getByRole('button', { name: 'Publish' });
    expect(await publish.isDisabled()).toBe(true);
    await dialog.getByLabel('Type').fill('purchase');
    await publish.click();
    await page.getByText('2 (current)').waitFor({ state: 'attached' });
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByText('~quantity').waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    await page.getByRole('tab', { name: 'JSON Schema' }).click();
    await page.getByText('"$schema"').waitFor();
    await button(page, 'Deprecate').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Deprecate' }).click();
    await page.getByText('deprecated', { exact: true }).waitFor();
    const { body } = await client.get('/v1/cdp/event-types/purchase');
    expect(body.versions.map(({ version }: { version: number }) => version)).toEqual([2, 1]);
    expect(body.deprecatedAt).not.toBeNull();
  });

  it('is edited as itself after going back over several pages', async () => {
    const { page, client } = await browser.signedIn();
    await registerTypes(client, [PURCHASE, ANYTHING]);
    await page.goto('event-types/_new?base=anything');
    await editor(page).waitFor();
    await page.getByRole('link', { name: 'anything' }).click();
    await page.getByRole('link', { name: 'All event types' }).click();
    const list = page.getByRole('region', { name: 'Event types, newest first' });
    await list.getByRole('link', { name: 'purchase' }).click();
    await button(page, 'New version').click();
    await editor(page).waitFor();
    await page.evaluate('history.go(-4)');
    await page.getByRole('heading', { level: 1, name: 'New version of anything' }).waitFor();
    expect(JSON.parse(await editor(page).inputValue()).eventType).toBe('anything');
  });

  it('shows which properties a version adds and removes, whatever they are called', async () => {
    const { page, client } = await browser.signedIn();
    const [number, string] = [{ type: 'number' }, { type: 'string' }];
    for (const properties of [{ amount: number }, { amount: number, constructor: string }, { amount: string }]) {
      await client.post('/v1/cdp/event-types', { eventType: 'purchase', properties, force: true });
    }
    await page.goto('event-types/purchase?tab=versions');
    await page.getByText('~amount, -constructor').waitFor();
    await page.getByText('+constructor').waitFor();
  });

  it('shows what is wrong with a definition', async () => {
    const { page } = await browser.signedIn({ path: 'event-types/_new' });
    await editor(page).fill('{"eventType": "sale", "properties": {"amount": {"type": "money"}}}');
    await button(page, 'Check').click();
    await page.getByRole('alert').getByText('properties.amount.type', { exact: true }).waitFor();
    await page.getByRole('alert').getByText('request_id').waitFor();
    await editor(page).fill('{"eventType": ');
    expect(await button(page, 'Check').isDisabled()).toBe(true);
    expect(await axeInBothWidths(page)).toEqual([]);
  });
});

describe('the event types page', () => {
  it('says when it could not look for types that are not registered', async () => {
    const { page, client } = await browser.signedIn();
    await sendTooEarly(client, 1, { eventType: 'upgrade' });
    const answerAgain = await refuseCalls(page, '/v1/review-entries*');
    await page.goto('event-types');
    await expectFailure(page);
    await answerAgain();
    await button(page, 'Try again').click();
    await page.getByRole('link', { name: 'Draft upgrade from its events' }).waitFor();
  });

  it('says which scope a key lacks, and offers nothing that it may not do', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const { page } = await browser.signedIn({
      tenant,
      key: await tenant.key({ scopes: ['events:read'] }),
      path: 'event-types',
    });
    await page.getByText('event-types:read').waitFor();
    expect(await axeOn(page)).toEqual([]);
    const reader = await tenant.key({ scopes: ['event-types:read'] });
    const other = await browser.signedIn({ tenant, key: reader, path: 'event-types/_new' });
    await button(other.page, 'Check').waitFor();
    expect(await button(other.page, 'Publish').count()).toBe(0);
    await other.page.goto('event-types');
    await other.page.getByRole('heading', { name: 'No event type is registered' }).waitFor();
    expect(await button(other.page, 'New event type').count()).toBe(0);
  });
});
