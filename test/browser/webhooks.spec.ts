import { anExternalEvent } from '../support/builders';
import type { Client } from '../support/client';
import { axeInBothWidths, axeOn, useConsoleBrowser } from '../support/console-browser';
import {
  buttonOf,
  dialogOf,
  expectFailure,
  expectKeyboardDialog,
  refuseCalls,
  takeSecret,
} from '../support/console-parts';
import { endProofs } from '../support/console-proof';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';
import { aWebhook, startReceiver, type Receiver } from '../support/webhooks';

const browser = useConsoleBrowser();

const MARKUP = '<img src=x onerror="document.title=1"> \u202egnp.exe';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
beforeEach(() => receiver.answer(() => ({ status: 204 })));
afterAll(() => receiver.stop());

/** A path that no other test calls. */
function anAddress(name: string): { readonly url: string; readonly calls: () => number } {
  const path = `/${name}`;
  return { url: `${receiver.url}${path}`, calls: () => receiver.calls.filter((call) => call.path === path).length };
}

async function send(client: Client, count = 1): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    expect((await client.post('/v1/external-events', anExternalEvent())).status).toBe(202);
  }
}

describe('an endpoint', () => {
  it('is created with a secret that is shown once, is tested, changed, disabled, enabled and deleted', async () => {
    const { page, client } = await browser.signedIn({ path: 'webhooks' });
    await page.getByText('There is no endpoint yet').waitFor();
    await buttonOf(page, 'Create endpoint').click();
    const form = dialogOf(page, 'Create an endpoint');
    const address = anAddress('first');
    await form.getByLabel('Address').fill('ftp://example.com/');
    await buttonOf(form, 'Create endpoint').click();
    await form.getByText('request_id').waitFor();
    await form.getByLabel('Address').fill(address.url);
    await form.getByLabel('Description').fill(MARKUP);
    expect(await axeOn(page)).toEqual([]);
    await buttonOf(form, 'Create endpoint').click();
    const secret = await takeSecret(page, 'The signing secret of the endpoint', 'secret');
    expect(secret).toMatch(/^whsec_/);
    await page.getByText('Nothing was delivered yet').waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(await page.locator('main img').count()).toBe(0);

    await buttonOf(page, 'Send a test call').click();
    await dialogOf(page, 'Test call').getByText('204 delivered').waitFor();
    expect(address.calls()).toBe(1);
    await page.keyboard.press('Escape');

    await buttonOf(page, 'Rotate secret').click();
    await buttonOf(dialogOf(page, 'Rotate the secret?'), 'Rotate secret').click();
    expect(await takeSecret(page, 'The signing secret of the endpoint', 'secret')).not.toBe(secret);

    await buttonOf(page, 'Change').click();
    const change = dialogOf(page, 'Change the endpoint');
    await change.getByLabel('Rules: what is sent').fill('[{ "eventType": "signup" }]');
    await buttonOf(change, 'Save').click();
    await change.waitFor({ state: 'hidden' });
    await buttonOf(page, 'Disable').click();
    await buttonOf(dialogOf(page, 'Disable this endpoint?'), 'Disable endpoint').click();
    await buttonOf(page, 'Enable').click();
    const [webhook] = (await client.get('/v1/webhooks')).body.items;
    expect(webhook).toMatchObject({ enabled: false, events: [{ eventType: 'signup' }] });
    await buttonOf(dialogOf(page, 'Enable this endpoint?'), 'Enable endpoint').click();
    await buttonOf(page, 'Disable').waitFor();
    expect(await axeOn(page)).toEqual([]);

    await buttonOf(page, 'Delete').click();
    const asked = dialogOf(page, 'Delete this endpoint?');
    await asked.getByRole('textbox').fill(webhook.id.slice(-4));
    await buttonOf(asked, 'Delete endpoint').click();
    await page.getByText('There is no endpoint yet').waitFor();
  });

  it('that fails shows each attempt with its answer as text, and delivers on a retry', async () => {
    const { page, client } = await browser.signedIn();
    const address = anAddress('failing');
    const { id } = await aWebhook(client, address.url);
    receiver.answer(() => ({ status: 500, body: `<h1>Oops</h1>${MARKUP}` }));
    await send(client);
    await until(() => address.calls() > 0);
    await page.goto('webhooks');
    await page.getByText('failing', { exact: true }).waitFor();
    await page.getByRole('link', { name: address.url }).click();
    await page.getByText('500 refused by its status').waitFor();
    await page.getByRole('link', { name: /^Show \d+ attempts?$/ }).click();
    const shown = dialogOf(page, 'Delivery');
    await shown.getByText('<h1>Oops</h1>').first().waitFor();
    expect(await page.locator('h1:text("Oops"), img').count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('delivery')).not.toBeNull();
    expect(await axeOn(page)).toEqual([]);
    receiver.answer(() => ({ status: 204 }));
    await buttonOf(shown, 'Try now').click();
    await shown.getByText('204 delivered').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('State').selectOption('pending');
    await page.getByText('No delivery is in this state').waitFor();
    await page.setViewportSize({ width: 360, height: 720 });
    await until(async () => (await page.evaluate<number>('document.documentElement.scrollWidth')) === 360);
    const deliveries = (await client.get(`/v1/webhooks/${id}/deliveries`)).body.items;
    expect(deliveries.map(({ state }: { state: string }) => state)).toEqual(['delivered']);
  });

  it('keeps a delivery open that leaves the list while somebody looks at it', async () => {
    const { page, client } = await browser.signedIn();
    const address = anAddress('leaving');
    const { id } = await aWebhook(client, address.url);
    receiver.answer(() => ({ status: 500 }));
    await send(client);
    await until(() => address.calls() > 0);
    await page.goto(`webhooks/${id}?state=pending`);
    await page.getByRole('link', { name: /^Show \d+ attempts?$/ }).click();
    const shown = dialogOf(page, 'Delivery');
    receiver.answer(() => ({ status: 204 }));
    await buttonOf(shown, 'Try now').click();
    await page.getByText('No delivery is in this state').waitFor();
    await shown.getByText('Its state has changed').waitFor();
    await shown.getByText('500 refused by its status').first().waitFor();
    expect(await axeOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await shown.waitFor({ state: 'hidden' });
    const [delivery] = (await client.get(`/v1/webhooks/${id}/deliveries`)).body.items;
    await page.goto(`webhooks/${id}?state=failed&delivery=${delivery.id}`);
    await page.getByText('The delivery that the address names is not among these').waitFor();
  });

  it('has a list of deliveries that is read again the less often the longer it is', async () => {
    const { page, client } = await browser.signedIn();
    const { id } = await aWebhook(client, anAddress('long').url);
    const at = new Date().toISOString();
    const pending = { kind: 'change', state: 'pending', reason: null, attempts: [], attemptCount: 0, doneAt: null };
    let reads = 0;
    await page.route(`**/v1/webhooks/${id}/deliveries*`, (route) => {
      reads += 1;
      const number = Number(new URL(route.request().url()).searchParams.get('cursor'));
      const items = [{ ...pending, id: `delivery-${number}`, createdAt: at }];
      return route.fulfill({ json: { items, nextCursor: `${number + 1}` } });
    });
    await page.clock.install();
    await page.goto(`webhooks/${id}`);
    for (let pages = 1; pages <= 5; pages += 1) {
      await page.getByText(`${pages} shown`).waitFor();
      await buttonOf(page, 'Show more').click();
    }
    await page.getByText('6 shown').waitFor();
    reads = 0;
    for (let seconds = 0; seconds < 18; seconds += 3) {
      await page.clock.runFor(3_000);
      // Time for what was asked for meanwhile.
      for (let turn = 0; turn < 6; turn += 1) await page.evaluate('fetch("api/sign-in-methods")');
    }
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThanOrEqual(6);
  });

  it('signs with Ed25519, whose public key is shown, and hears of changes of values', async () => {
    const { page, client } = await browser.signedIn({ path: 'webhooks' });
    const points = { scope: 'user', name: 'points', type: 'number', default: 0 };
    await client.post('/v1/campaigns/spring-sale/variables:define', points);
    await buttonOf(page, 'Create endpoint').click();
    const form = dialogOf(page, 'Create an endpoint');
    await form.getByLabel('Address').fill(anAddress('changes').url);
    await form.getByLabel('Calls are signed with').selectOption('ed25519');
    const rules = form.getByLabel('Rules: what is sent');
    await rules.fill('[{ "change": { "scope": "user" } }]');
    await buttonOf(form, 'Create endpoint').click();
    await form.getByText('events[0].change.name').first().waitFor();
    await rules.fill('[{ "change": { "scope": "user", "name": "points" } }]');
    await buttonOf(form, 'Create endpoint').click();
    const shown = dialogOf(page, 'The public key of the endpoint');
    await buttonOf(shown, 'Copy public key').waitFor();
    expect(await axeInBothWidths(page)).toEqual([]);
    expect(await takeSecret(page, 'The public key of the endpoint', 'public key')).toMatch(/^whpk_/);
    await page.getByText('ed25519', { exact: true }).waitFor();

    const ops = [{ path: 'state.user.points', op: 'inc', value: 5 }];
    await client.post('/v1/campaigns/spring-sale/participants/ann/state:mutate', { ops });
    const change = page.getByRole('row').filter({ hasText: 'change' });
    await until(async () => {
      if ((await change.count()) === 0) await page.reload();
      await page.getByRole('tab', { name: 'Deliveries' }).waitFor();
      return (await change.getByText('204 delivered').count()) === 1;
    });
    await buttonOf(change, 'Copy change id').waitFor();

    await buttonOf(page, 'Change').click();
    const edit = dialogOf(page, 'Change the endpoint');
    expect(await edit.getByLabel('Calls are signed with').count()).toBe(0);
    const both = [
      { change: { scope: 'campaign', name: 'budget', campaignId: 'spring-sale' } },
      { eventType: 'signup', source: 'web' },
    ];
    await edit.getByLabel('Rules: what is sent').fill(JSON.stringify(both));
    await buttonOf(edit, 'Save').click();
    await edit.waitFor({ state: 'hidden' });
    expect((await client.get('/v1/webhooks')).body.items[0]).toMatchObject({ events: both, algorithm: 'ed25519' });
    await page.getByRole('link', { name: 'All endpoints' }).click();
    await page.getByText('changes of campaign.budget, signup').waitFor();
  });

  it('gets personal data only after a fresh proof, which does not interrupt what was written', async () => {
    const { page, client, tenant } = await browser.signedIn({ path: 'webhooks' });
    await buttonOf(page, 'Create endpoint').click();
    const form = dialogOf(page, 'Create an endpoint');
    await form.getByLabel('Address').fill(anAddress('unmasked').url);
    await form.getByLabel('Send identity and personal properties as they are').check();
    await endProofs(browser.service.databaseUrl, tenant.tenantId);
    await buttonOf(form, 'Create endpoint').click();
    const proof = dialogOf(page, 'Show that it is you');
    await proof.waitFor();
    expect(await axeOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await proof.waitFor({ state: 'hidden' });
    await form.getByRole('alert').getByText('request_id').waitFor();
    expect((await client.get('/v1/webhooks')).body.items).toEqual([]);
    await buttonOf(form, 'Create endpoint').click();
    await proof.getByLabel('API key').fill(tenant.adminKey);
    await page.keyboard.press('Enter');
    await takeSecret(page, 'The signing secret of the endpoint', 'secret');
    await page.getByText('sent as they are').waitFor();
    expect((await client.get('/v1/webhooks')).body.items).toMatchObject([{ unmask: true }]);
  });

  it('leads from a delivery to its event and back, with the keyboard alone', async () => {
    const { page, client } = await browser.signedIn();
    const address = anAddress('keys');
    const { id } = await aWebhook(client, address.url);
    await send(client);
    await until(() => address.calls() === 1);
    const [{ eventId, profileId }] = (await client.get('/v1/events')).body.items;
    await page.goto(`webhooks/${id}`);
    await page.getByRole('link', { name: 'Show 1 attempt' }).focus();
    await page.keyboard.press('Enter');
    const delivery = dialogOf(page, 'Delivery');
    await expectKeyboardDialog(page, delivery.getByRole('link', { name: eventId }), 'Event', async () => {
      await dialogOf(page, 'Event').getByText('delivered, 1 attempt').waitFor();
      expect(await axeInBothWidths(page)).toEqual([]);
    });
    await delivery.waitFor();
    await page.keyboard.press('Escape');
    await delivery.waitFor({ state: 'hidden' });
    await page.getByRole('row').filter({ hasText: eventId }).getByText('delivered', { exact: true }).click();
    await delivery.getByRole('link', { name: eventId }).click();
    await dialogOf(page, 'Event').getByRole('link', { name: profileId }).click();
    await page.waitForURL(`**/console/customers/${profileId}`);
    await page.getByRole('heading', { level: 1, name: 'Customer' }).waitFor();
  });

  it('gets a time range again by a replay', async () => {
    const { page, client } = await browser.signedIn();
    const address = anAddress('replayed');
    const { id } = await aWebhook(client, address.url);
    await send(client, 3);
    await until(() => address.calls() === 3);
    await page.goto(`webhooks/${id}?tab=replays`);
    await page.getByText('Nothing was replayed yet').waitFor();
    // What was received in this minute, too.
    await buttonOf(page, 'Start replay').click();
    const replay = page.getByRole('article', { name: 'Replay' });
    await replay.getByText('done').waitFor();
    await replay.getByText('3 of 3').waitFor();
    await until(() => address.calls() === 6);
    expect(await axeOn(page)).toEqual([]);
  });

  it('has a replay that is cancelled on its way', async () => {
    const { page, client } = await browser.signedIn();
    const address = anAddress('cancelled');
    const { id } = await aWebhook(client, address.url);
    await send(client, 3);
    await until(() => address.calls() === 3);
    // A replay waits for its endpoint to be enabled.
    await client.post(`/v1/webhooks/${id}:disable`, {});
    await page.goto(`webhooks/${id}?tab=replays`);
    await page.getByLabel('Received before').fill('2999-01-01T00:00');
    await buttonOf(page, 'Start replay').click();
    const replay = page.getByRole('article', { name: 'Replay' });
    await replay.getByText('running').waitFor();
    await replay.getByText('0 of 3').waitFor();
    const asked = dialogOf(page, 'Cancel this replay?');
    await expectKeyboardDialog(page, buttonOf(replay, 'Cancel'), 'Cancel this replay?', async () => {
      expect(await axeInBothWidths(page)).toEqual([]);
    });
    await buttonOf(replay, 'Cancel').click();
    await buttonOf(asked, 'Cancel replay').click();
    await replay.getByText('cancelled').waitFor();
    expect(await buttonOf(replay, 'Cancel').count()).toBe(0);
    expect((await client.get(`/v1/webhooks/${id}/replays`)).body.items).toMatchObject([
      { state: 'cancelled', total: 3, queued: 0 },
    ]);
    expect(address.calls()).toBe(3);
  });
});

describe('the review entry of an endpoint that was disabled', () => {
  it('has no event that could be replayed, alone or with others', async () => {
    const { page, client } = await browser.signedIn();
    receiver.answer(() => ({ status: 410 }));
    await aWebhook(client, anAddress('gone').url);
    await send(client);
    await until(async () => (await client.get('/v1/review-entries')).body.items.length === 1);
    await page.goto('review');
    await buttonOf(page, 'Replay all').click();
    const dialog = dialogOf(page, 'Replay all that match');
    await dialog.getByText('0 refused events').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Review entries' }).getByRole('link', { name: 'webhook_disabled' }).click();
    await buttonOf(page, 'Dismiss').waitFor();
    expect(await buttonOf(page, 'Replay as it is').count()).toBe(0);
    expect(await page.getByText('The event itself is stored').count()).toBe(0);
  });
});

describe('the webhooks page', () => {
  it('says which scope is lacking, and leaves out what the key may not do', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const strangers = await browser.signedIn({
      tenant,
      key: await tenant.key({ scopes: ['events:read'] }),
      path: 'webhooks',
    });
    await strangers.page.getByRole('heading', { name: 'Your key does not allow this' }).waitFor();
    expect(await buttonOf(strangers.page, 'Create endpoint').count()).toBe(0);
    const key = await tenant.key({ scopes: ['webhooks:read'] });
    const readers = await browser.signedIn({ tenant, key, path: 'webhooks' });
    await readers.page.getByText('There is no endpoint yet').waitFor();
    await readers.page.getByText('curl -X POST').waitFor();
    expect(await buttonOf(readers.page, 'Create endpoint').count()).toBe(0);
  });

  it('says why it could not be read, with the request id, and reads it again', async () => {
    const { page } = await browser.signedIn();
    const answerAgain = await refuseCalls(page, '/v1/webhooks*');
    await page.goto('webhooks');
    await expectFailure(page);
    expect(await axeOn(page)).toEqual([]);
    await answerAgain();
    await buttonOf(page, 'Try again').first().click();
    await page.getByText('There is no endpoint yet').waitFor();
  });
});
