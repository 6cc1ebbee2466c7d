import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { useConsoleBrowser } from '../support/console-browser';
import { buttonOf, dialogOf, inTimeZone } from '../support/console-parts';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

const browser = useConsoleBrowser();

const CAMPAIGN = '/v1/campaigns/spring-sale';

async function define(client: Client, variable: object): Promise<void> {
  expect((await client.post(`${CAMPAIGN}/variables:define`, variable)).status).toBe(200);
}

const POINTS = { scope: 'user', name: 'points', type: 'number', default: 0 };

describe('a new variable', () => {
  it('does not get the default that was written for another type', async () => {
    const { page, client } = await browser.signedIn({ path: 'campaigns/spring-sale' });
    await buttonOf(page, 'Define variable').click();
    const form = dialogOf(page, 'Define a variable');
    await form.getByLabel('Name').fill('invited');
    await form.getByLabel('Type').selectOption('string');
    await form.getByLabel('Default (optional)').fill('yes');
    await form.getByLabel('Type').selectOption('boolean');
    await buttonOf(form, 'Define variable').click();
    await page.getByRole('link', { name: 'state.user.invited' }).waitFor();
    const [variable] = (await client.get(`${CAMPAIGN}/variables`)).body.variables;
    expect(variable).toEqual({ scope: 'user', name: 'invited', type: 'boolean' });
  });
});

describe('a range of receipt', () => {
  it('is that of the fields in the hour that comes twice, when clocks are set back', async () => {
    const { page, client } = await browser.signedIn();
    const webhook = { url: 'http://127.0.0.1:9/', events: [{ eventType: 'purchase' }] };
    const { id } = (await client.post('/v1/webhooks', webhook)).body.webhook;
    await inTimeZone(page, 'Europe/Berlin');
    // For the second time it is half past two.
    const time = new Date('2026-10-25T01:30:20Z');
    await page.clock.install({ time });
    await page.route('**/console/api/**', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), date: time.toUTCString() } });
    });
    await page.goto(`webhooks/${id}?tab=replays`);
    await page.getByLabel('Received from').waitFor();
    const sent = page.waitForRequest('**/webhooks/*:replay');
    await buttonOf(page, 'Start replay').click();
    expect((await sent).postDataJSON()).toEqual({ from: '2026-10-25T00:30:00.000Z', to: '2026-10-25T01:31:00.000Z' });
    await page.unrouteAll({ behavior: 'wait' });
  });
});

describe('times of the hour that comes twice', () => {
  it('are told apart', async () => {
    const { page, client } = await browser.signedIn();
    await inTimeZone(page, 'Europe/Berlin');
    const identity = { type: 'EXTERNAL', value: 'ann' };
    for (const hour of ['00', '01', '02']) {
      const event = anExternalEvent({ identity, occurred_at: `2025-10-26T${hour}:30:00Z` });
      expect((await client.post('/v1/external-events', event)).status).toBe(202);
    }
    const [{ profileId }] = (await client.get('/v1/events')).body.items;
    await page.goto(`customers/${profileId}`);
    const times = page.getByRole('region', { name: 'Timeline' }).locator('td time');
    await times.first().waitFor();
    const shown = (await times.allTextContents()).map((text) => text.replaceAll('\u202f', ' '));
    expect(shown).toEqual([
      'Oct 26, 2025, 3:30:00 AM',
      'Oct 26, 2025, 2:30:00 AM GMT+1',
      'Oct 26, 2025, 2:30:00 AM GMT+2',
    ]);
  });
});

describe('a filter by time', () => {
  it('takes years of four digits', async () => {
    const { page } = await browser.signedIn({ path: 'access?tab=audit' });
    const from = page.getByLabel('From', { exact: true });
    await from.focus();
    // What follows the year of four digits is the hour.
    await page.keyboard.type('01012026110900AM');
    expect(await from.inputValue()).toBe('2026-01-01T11:09');
    await from.press('Enter');
    await page.waitForURL(/from=2026-01-01T/);
  });
});

describe('a filter by a text with a line break', () => {
  it('stays when its field is left, which cannot show it', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', anExternalEvent({ source: 'shop\norders', identity: {} }));
    await page.goto('review');
    const groups = page.getByRole('region', { name: 'Groups' });
    await groups.getByRole('button', { name: /shop\s+orders/ }).click();
    await page.waitForURL(/source=shop%0Aorders/);
    const source = page.getByLabel('Source', { exact: true });
    await source.focus();
    await source.press('Tab');
    expect(new URL(page.url()).searchParams.get('source')).toBe('shop\norders');
    await page.getByRole('region', { name: 'Review entries' }).getByRole('link', { name: 'required' }).waitFor();
    await source.fill('crm');
    await source.press('Enter');
    await page.waitForURL(/source=crm/);
  });
});

describe('a text that is longer than its field takes', () => {
  it('is neither cut nor sent: the form says so', async () => {
    const { page, client } = await browser.signedIn({ path: 'access?tab=credentials' });
    await buttonOf(page, 'Create credential').click();
    const form = dialogOf(page, 'Create a service credential');
    await form.getByLabel('Requests are signed with').selectOption('hmac-sha256');
    const name = form.getByLabel('Name');
    await name.focus();
    // As it is pasted. An emoji is one character, although it has two code units.
    await page.keyboard.insertText(`${'🎁'.repeat(129)} `);
    await buttonOf(form, 'Create credential').click();
    const fault = await name.evaluate((input) => (input as unknown as { validationMessage: string }).validationMessage);
    expect(fault).toBe('At most 128 characters; these are 129.');
    expect((await client.get('/v1/service-credentials')).body.items).toEqual([]);
    await name.press('Home');
    await name.press('Delete');
    await buttonOf(form, 'Create credential').click();
    await dialogOf(page, 'The new service credential').waitFor();
    const [credential] = (await client.get('/v1/service-credentials')).body.items;
    expect(credential.name).toBe('🎁'.repeat(128));
  });
});

describe('a participant whose name browsers would change', () => {
  it('is the one that is shown', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    for (const [sub, value] of [
      ['100%25', 1],
      ['100%', 2],
      ['a%41', 3],
      ['aA', 4],
    ] as const) {
      const ops = [{ path: 'state.user.points', op: 'set', value }];
      await client.post(`${CAMPAIGN}/participants/${encodeURIComponent(sub)}/state:mutate`, { ops });
    }
    for (const [sub, value] of [
      ['100%25', 1],
      ['a%41', 3],
    ] as const) {
      await page.goto('campaigns/spring-sale?tab=participants');
      await buttonOf(page, sub).click();
      await page.getByRole('heading', { name: sub, exact: true }).waitFor();
      await page.getByText(`set 0 → ${value}`).waitFor();
      expect(await page.getByLabel('Participant (sub)').inputValue()).toBe(sub);
      await page.reload();
      await page.getByText(`set 0 → ${value}`).waitFor();
    }
  });

  it('is not looked for at another address: the page says why', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto('campaigns/spring-sale?tab=participants&sub=..');
    await page.getByText('A browser cannot ask for ..').first().waitFor();
    expect(asked.filter((path) => /spring-sale\/(?:state|history)$/.test(path))).toEqual([]);
  });
});

describe('changes of one moment that are alike', () => {
  it('are each shown once, also after the next change', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    const path = `${CAMPAIGN}/participants/ann/state:mutate`;
    const operation = (op: string) => ({ path: 'state.user.points', op, value: 1 });
    const ops = ['inc', 'dec', 'inc', 'dec'].map(operation);
    expect((await client.post(path, { ops })).status).toBe(200);
    await page.goto('campaigns/spring-sale?tab=participants&sub=ann');
    const rows = page.getByRole('region', { name: 'Changes' }).locator('tbody tr');
    await until(async () => (await rows.count()) === 4);
    expect((await client.post(path, { ops: [{ ...operation('set'), value: 7 }] })).status).toBe(200);
    const again = page.waitForResponse((response) => response.url().includes('/history'));
    await page.clock.install({ time: Date.now() + 60_000 });
    await page.evaluate(`dispatchEvent(new Event('visibilitychange'))`);
    await again;
    await rows.getByText('set 0 → 7').waitFor();
    const shown = await rows.locator('td:nth-child(3)').allTextContents();
    expect(shown).toEqual(['set 0 → 7', 'dec 1 → 0', 'inc 0 → 1', 'dec 1 → 0', 'inc 0 → 1']);
  });
});

describe('a correction by a key that may not see personal data', () => {
  it('keeps its masked values beside a number that would change on the way', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['review:read', 'review:write', 'external-events:write'] });
    const { page, client } = await browser.signedIn({ tenant, key });
    const event = anExternalEvent({ identity: { type: 'EXTERNAL', value: 'customer-4711' }, attributes: { order: 1 } });
    const refused = JSON.stringify(event).replace('"order":1', '"order":9007199254740993');
    expect((await client.send('/v1/external-events', refused)).status).toBe(422);
    await page.goto('review');
    await page.getByRole('region', { name: 'Review entries' }).getByRole('link', { name: 'range' }).click();
    await buttonOf(page, 'Correct and replay').click();
    const editor = page.getByLabel('Event as JSON');
    await page.getByText('9007199254740993 is larger or has more digits than a number can keep').waitFor();
    await editor.fill((await editor.inputValue()).replace('9007199254740993', '"9007199254740993"'));
    await page.getByText('A replay keeps the stored values of: identity.value').waitFor();
    await buttonOf(page, 'Replay corrected event').click();
    await page.getByText('The event is stored, with its own id').waitFor();
    const admin = new Client(browser.service.url, tenant.adminKey);
    const [stored] = (await admin.get('/v1/events?unmask=true')).body.items;
    expect([stored.identity.value, stored.properties]).toEqual(['customer-4711', { order: '9007199254740993' }]);
  });
});

describe('an issuer whose audience nobody can type', () => {
  it('is deleted by its id', async () => {
    const { page, client } = await browser.signedIn();
    const secret = 'a secret of more than 32 bytes, surely';
    const { id } = (await client.post('/v1/jwt-issuers', { issuer: 'urn:x', audience: 'two\nlines', secret })).body;
    await page.goto(`access/issuers/${id}`);
    await buttonOf(page, 'Delete').click();
    const asked = dialogOf(page, 'Delete this issuer?');
    await asked.getByRole('textbox').fill(id.slice(-4));
    await buttonOf(asked, 'Delete issuer').click();
    await page.getByText('No issuer is registered yet').waitFor();
  });
});

describe('an id that is shortened', () => {
  it('is not cut within a character', async () => {
    const { page, client } = await browser.signedIn();
    const event = anExternalEvent({ identity: {}, external_event_id: 'order-4711-🎁12345' });
    await client.post('/v1/external-events', event);
    await page.goto('review');
    const id = page.getByRole('region', { name: 'Review entries' }).locator('code');
    expect(await id.locator('span').textContent()).toBe('order-4711-');
  });
});

describe('an answer of which only the beginning arrives', () => {
  it('is named as such, with the request id', async () => {
    const { page } = await browser.signedIn({ path: 'campaigns/spring-sale' });
    await page.route('**/variables:define', (route) =>
      route.fulfill({ status: 200, headers: { 'x-request-id': 'request-8' }, body: '{"status":"defi' }),
    );
    await buttonOf(page, 'Define variable').click();
    const form = dialogOf(page, 'Define a variable');
    await form.getByLabel('Name').fill('points');
    await buttonOf(form, 'Define variable').click();
    await form.getByRole('alert').getByText('not all of it has arrived').waitFor();
    await form.getByRole('alert').getByText('request-8').waitFor();
  });
});

describe('a slow answer', () => {
  it('leads nobody away from the page that they have opened meanwhile', async () => {
    const { page, client } = await browser.signedIn();
    await define(client, POINTS);
    await page.goto('campaigns/spring-sale/variables/user/points');
    let answer = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/variables:archive', async (route) => {
      await isHeld;
      await route.continue();
    });
    await buttonOf(page, 'Archive').click();
    const asked = dialogOf(page, 'Archive this variable?');
    await asked.getByRole('textbox').fill('points');
    await buttonOf(asked, 'Archive variable').click();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('There is no endpoint yet').waitFor();
    answer();
    await page.getByText('The variable is archived.').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/webhooks');
  });
});
