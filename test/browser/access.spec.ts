import { generateKeyPairSync } from 'node:crypto';
import type { Scope } from '../../src/platform/auth/scopes';
import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { axeInBothWidths, axeOn, signIn, useConsoleBrowser } from '../support/console-browser';
import { endProofs } from '../support/console-proof';
import { buttonOf, dialogOf, expectFailure, refuseCalls, takeSecret } from '../support/console-parts';
import { aTenant } from '../support/tenant';
import { until } from '../support/until';

const browser = useConsoleBrowser();

async function aPageOf(scopes: readonly Scope[], path: string) {
  const tenant = await aTenant(browser.service.databaseUrl);
  return browser.signedIn({ tenant, key: await tenant.key({ scopes }), path });
}

describe('an API key', () => {
  it('is created after a fresh proof, is shown once, works, is rotated and revoked', async () => {
    const { page, tenant, client } = await browser.signedIn({ path: 'access' });
    await endProofs(browser.service.databaseUrl, tenant.tenantId);
    await buttonOf(page, 'Create key').click();
    const form = dialogOf(page, 'Create an API key');
    await form.getByLabel('Name').fill('web shop');
    await form.getByRole('group', { name: 'Send events' }).getByLabel('external').check();
    await form.getByLabel('Sources').fill('shop.orders\nshop.web');
    await form.getByLabel('Expires').selectOption('in 30 days');
    expect(await axeOn(page)).toEqual([]);
    await buttonOf(form, 'Create key').click();
    const proof = dialogOf(page, 'Show that it is you');
    await proof.getByLabel('API key').fill(tenant.adminKey);
    await buttonOf(proof, 'Continue').click();
    const shown = dialogOf(page, 'The new API key');
    await shown.getByText('This is shown once.').waitFor();
    expect(await axeOn(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await shown.getByText('Tick the box when the API key is stored').waitFor();
    const key = await takeSecret(page, 'The new API key', 'API key');
    expect(await page.content()).not.toContain(key);

    const sender = new Client(browser.service.url, key);
    expect((await sender.post('/v1/external-events', anExternalEvent())).status).toBe(202);
    expect((await sender.post('/v1/external-events', anExternalEvent({ source: 'other' }))).status).toBe(403);
    await page.getByRole('link', { name: 'web shop' }).click();
    await page.getByText('shop.orders, shop.web').waitFor();

    await buttonOf(page, 'Rotate').click();
    await buttonOf(dialogOf(page, 'Rotate this key?'), 'Rotate key').click();
    const next = await takeSecret(page, 'The new API key', 'API key');
    await page.getByText('REVOKED', { exact: true }).waitFor();
    expect((await sender.post('/v1/external-events', anExternalEvent())).status).toBe(401);
    const rotated = new Client(browser.service.url, next);
    expect((await rotated.post('/v1/external-events', anExternalEvent())).status).toBe(202);

    const { items } = (await client.get('/v1/api-keys?state=ACTIVE')).body;
    const { id } = items.find(({ name }: { name: string }) => name === 'web shop');
    await page.goto(`access/keys/${id}`);
    await buttonOf(page, 'Revoke').click();
    const asked = dialogOf(page, 'Revoke this key?');
    expect(await buttonOf(asked, 'Revoke key').isDisabled()).toBe(true);
    await asked.getByRole('textbox').fill(next.slice(-4));
    await buttonOf(asked, 'Revoke key').click();
    await asked.waitFor({ state: 'hidden' });
    await page.getByRole('cell', { name: 'revoked' }).waitFor();
    expect((await rotated.post('/v1/external-events', anExternalEvent())).status).toBe(401);
  });

  it('that somebody has signed in with is rotated: the new one is shown, although the session ends', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['admin'] });
    const { page, client } = await browser.signedIn({ tenant, key });
    const { items } = (await client.get('/v1/api-keys')).body;
    const { id } = items.find(({ hint }: { hint: string }) => hint.endsWith(key.slice(-4)));
    await page.goto(`access/keys/${id}`);
    await buttonOf(page, 'Rotate').click();
    await buttonOf(dialogOf(page, 'Rotate this key?'), 'Rotate key').click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'detached' });
    const next = await takeSecret(page, 'The new API key', 'API key');
    await page.getByText('Your session has ended').waitFor();
    await signIn(page, next);
    await page.getByText('REVOKED', { exact: true }).waitFor();
  });

  it('that is shown is not lost by a reload that nobody has confirmed', async () => {
    const { page } = await browser.signedIn({ path: 'access' });
    await buttonOf(page, 'Create key').click();
    const form = dialogOf(page, 'Create an API key');
    await form.getByLabel('Name').fill('web shop');
    await form.getByLabel('admin').check();
    await buttonOf(form, 'Create key').click();
    const shown = dialogOf(page, 'The new API key');
    await shown.waitFor();
    const asked = page.waitForEvent('dialog');
    const reload = page.evaluate('location.reload()');
    await (await asked).dismiss();
    await reload;
    expect((await asked).type()).toBe('beforeunload');
    await takeSecret(page, 'The new API key', 'API key');
    await page.reload();
    await page.getByRole('link', { name: 'web shop' }).waitFor();
  });

  it('grants only what its creator may do', async () => {
    const { page } = await aPageOf(['api-keys:read', 'api-keys:write', 'events:read'], 'access');
    await buttonOf(page, 'Create key').click();
    const form = dialogOf(page, 'Create an API key');
    await form.getByText('You can grant only what your own key may do.').waitFor();
    const offered = await form.getByRole('checkbox').evaluateAll((boxes) => boxes.length);
    expect(offered).toBe(3);
  });

  it('that is like another one begins with what its creator may grant', async () => {
    const tenant = await aTenant(browser.service.databaseUrl);
    const key = await tenant.key({ scopes: ['api-keys:read', 'api-keys:write', 'events:read'] });
    const { page, client } = await browser.signedIn({ tenant, key });
    const { items } = (await client.get('/v1/api-keys')).body;
    const { id } = items.find(({ scopes }: { scopes: string[] }) => scopes.includes('admin'));
    await page.goto(`access/keys/${id}`);
    await buttonOf(page, 'Create a key like this').click();
    const form = dialogOf(page, 'Create an API key');
    await form.getByRole('group', { name: 'Events', exact: true }).getByLabel('read').check();
    await buttonOf(form, 'Create key').click();
    await takeSecret(page, 'The new API key', 'API key');
    const created = (await client.get('/v1/api-keys')).body.items[0];
    expect(created.scopes).toEqual(['events:read']);
  });

  it('cannot be created without the scope, nor seen', async () => {
    const readers = await aPageOf(['api-keys:read'], 'access');
    await readers.page.getByRole('table').waitFor();
    expect(await buttonOf(readers.page, 'Create key').count()).toBe(0);
    const strangers = await aPageOf(['events:read'], 'access');
    await strangers.page.getByRole('heading', { name: 'Your key does not allow this' }).waitFor();
    await strangers.page.getByText('request_id').waitFor();
  });
});

describe('a JWT issuer', () => {
  it('is added, changed and deleted', async () => {
    const { page, client } = await browser.signedIn({ path: 'access?tab=issuers' });
    await page.getByText('No issuer is registered yet').waitFor();
    await page.getByText('curl -X POST').waitFor();
    await buttonOf(page, 'Add issuer').click();
    const form = dialogOf(page, 'Add a JWT issuer');
    await form.getByLabel('Issuer').fill('https://login.example.com/');
    await form.getByLabel('Audience').fill('campaigns');
    await form.getByLabel('Keys that verify').selectOption('secret');
    await form.getByLabel('Secret').fill('too short by far, but of 32 bytes or more');
    expect(await form.getByLabel('Secret').getAttribute('autocomplete')).toBe('new-password');
    await form.getByLabel('Default campaign').fill('spring sale');
    await buttonOf(form, 'Add issuer').click();
    await form.getByText('request_id').waitFor();
    await form.getByLabel('Default campaign').fill('spring-sale');
    expect(await axeOn(page)).toEqual([]);
    await buttonOf(form, 'Add issuer').click();
    await page.getByRole('link', { name: 'https://login.example.com/' }).click();

    await buttonOf(page, 'Change').click();
    const change = dialogOf(page, 'Change the JWT issuer');
    const [{ id }] = (await client.get('/v1/jwt-issuers')).body.items;
    // Without a new secret the stored one stays.
    await change.getByLabel('Default campaign').fill('summer-sale');
    expect(await axeOn(page)).toEqual([]);
    await buttonOf(change, 'Save changes').click();
    await page.getByText('summer-sale').waitFor();
    const { items } = (await client.get('/v1/jwt-issuers')).body;
    expect(items).toMatchObject([{ id, defaultCampaignId: 'summer-sale', keySource: 'secret' }]);

    await buttonOf(page, 'Delete').click();
    const asked = dialogOf(page, 'Delete this issuer?');
    await asked.getByRole('textbox').fill(id.slice(-4));
    await buttonOf(asked, 'Delete issuer').click();
    await page.getByText('No issuer is registered yet').waitFor();
  });

  it('stays as it is when its change is refused', async () => {
    const { page, client } = await browser.signedIn();
    const body = {
      issuer: 'https://login.example.com/',
      audience: 'a',
      secret: 'a secret of more than 32 bytes, surely',
    };
    const { id } = (await client.post('/v1/jwt-issuers', body)).body;
    await page.goto(`access/issuers/${id}`);
    await buttonOf(page, 'Change').click();
    const change = dialogOf(page, 'Change the JWT issuer');
    await change.getByLabel('New secret').fill('another secret of more than 32 bytes');
    await change.getByLabel('Default campaign').fill('no campaign');
    await buttonOf(change, 'Save changes').click();
    await change.getByText('request_id').waitFor();
    expect((await client.get(`/v1/jwt-issuers/${id}`)).body.defaultCampaignId).toBeNull();
  });
});

describe('a service credential', () => {
  it('is created with a secret that is shown once, or with a public key, and is revoked', async () => {
    const { page, client } = await browser.signedIn({ path: 'access?tab=credentials' });
    await buttonOf(page, 'Create credential').click();
    const form = dialogOf(page, 'Create a service credential');
    await form.getByLabel('Name').fill('warehouse');
    await form.getByLabel('Requests are signed with').selectOption('hmac-sha256');
    await buttonOf(form, 'Create credential').click();
    const secret = await takeSecret(page, 'The new service credential', 'secret');
    expect(await page.content()).not.toContain(secret);

    await buttonOf(page, 'Create credential').click();
    await form.getByLabel('Name').fill('crm');
    const { publicKey } = generateKeyPairSync('ed25519');
    await form.getByLabel('Public key').fill(publicKey.export({ type: 'spki', format: 'pem' }).toString());
    await buttonOf(form, 'Create credential').click();
    await page.getByRole('link', { name: 'crm' }).click();
    await page.getByText('BEGIN PUBLIC KEY').waitFor();
    await buttonOf(page, 'Revoke').click();
    const asked = dialogOf(page, 'Revoke this service credential?');
    const id = new URL(page.url()).pathname.slice(-4);
    await asked.getByRole('textbox').fill(id);
    await buttonOf(asked, 'Revoke credential').click();
    await page.getByText('REVOKED', { exact: true }).waitFor();
    const { items } = (await client.get('/v1/service-credentials')).body;
    expect(items.map(({ name, state }: any) => [name, state])).toEqual([
      ['crm', 'REVOKED'],
      ['warehouse', 'ACTIVE'],
    ]);
  });
});

describe('the access page', () => {
  const MARKUP = '<img src=x onerror="document.title=1"> \u202egnp.exe';

  it('shows names as text, and has no violations of accessibility', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/api-keys', { name: MARKUP, scopes: ['events:read'] });
    const jwks = {
      issuer: `https://x.example/${MARKUP}`,
      audience: MARKUP,
      secret: 'a secret of more than 32 bytes, surely',
    };
    await client.post('/v1/jwt-issuers', jwks);
    await client.post('/v1/service-credentials', { name: MARKUP, algorithm: 'hmac-sha256' });
    for (const tab of ['keys', 'issuers', 'credentials', 'audit']) {
      await page.goto(`access?tab=${tab}`);
      await page.getByText('\\u202egnp.exe').first().waitFor();
      expect(await page.locator('main img').count()).toBe(0);
      expect(await axeOn(page)).toEqual([]);
      await page.setViewportSize({ width: 360, height: 720 });
      await until(async () => (await page.evaluate<number>('document.documentElement.scrollWidth')) === 360);
      await page.setViewportSize({ width: 1280, height: 720 });
    }
  });

  it('tells what happened, newest first, by kind', async () => {
    const { page, client } = await browser.signedIn();
    const { apiKey } = (await client.post('/v1/api-keys', { name: 'shop', scopes: ['events:read'] })).body;
    await client.post(`/v1/api-keys/${apiKey.id}:revoke`, {});
    await client.post('/v1/service-credentials', { name: 'erp', algorithm: 'hmac-sha256' });
    await page.goto('access?tab=audit');
    const rows = page.getByRole('table').getByRole('row');
    await rows.filter({ hasText: 'API key revoked' }).filter({ hasText: 'shop' }).waitFor();
    await page.getByLabel('Kind').selectOption('service_credential');
    await until(async () => (await rows.count()) === 2);
    expect(new URL(page.url()).search).toContain('kind=service_credential');
    await rows.filter({ hasText: 'Service credential created' }).waitFor();
    await page.getByRole('link', { name: 'erp' }).waitFor();
    await page.getByLabel('Kind').selectOption('erasure');
    await page.getByText('No entry matches').waitFor();
  });

  it('tells who has seen the data of a customer, and what was done to a webhook', async () => {
    const { page, client } = await browser.signedIn();
    await client.post('/v1/external-events', anExternalEvent({ identity: { type: 'EXTERNAL', value: 'ann' } }));
    const [{ profileId }] = (await client.get('/v1/events?unmask=true')).body.items;
    const rules = [{ eventType: 'purchase' }];
    await client.post('/v1/webhooks', { url: 'https://hooks.example.com/', events: rules, description: 'crm' });
    await client.send('/v1/retention', '{"eventDays":365}', { method: 'PUT' });
    await page.goto(`customers/${profileId}`);
    await page.getByRole('link', { name: 'Who has seen this customer’s data' }).click();
    const rows = page.getByRole('table').getByRole('row');
    await rows.filter({ hasText: 'Personal data read' }).waitFor();
    expect(await rows.count()).toBe(2);
    expect(await axeInBothWidths(page)).toEqual([]);
    await buttonOf(page, 'Clear filters').click();
    expect(await page.getByLabel('Kind').and(page.locator(':focus')).count()).toBe(1);
    await rows.filter({ hasText: 'Retention changed' }).filter({ hasText: 'eventDays null → 365' }).waitFor();
    await rows.filter({ hasText: 'Webhook created' }).getByRole('link', { name: 'crm' }).click();
    await page.getByRole('heading', { name: 'crm', level: 1 }).waitFor();
  });

  it('says why it could not be read, with the request id, and reads it again', async () => {
    const { page } = await browser.signedIn();
    const answerAgain = await refuseCalls(page, '/v1/api-keys*');
    await page.goto('access');
    await expectFailure(page);
    expect(await axeOn(page)).toEqual([]);
    await answerAgain();
    await buttonOf(page, 'Try again').first().click();
    await page.getByRole('table').waitFor();
  });

  it('reads a list again that is shown and could not be read again', async () => {
    const { page } = await browser.signedIn({ path: 'access' });
    await page.getByRole('table').waitFor();
    const answerAgain = await refuseCalls(page, '/v1/api-keys');
    await page.route('**/console/api/v1/api-keys', (route) =>
      route.request().method() === 'POST' ? route.continue() : route.fallback(),
    );
    await buttonOf(page, 'Create key').click();
    const form = dialogOf(page, 'Create an API key');
    await form.getByLabel('Name').fill('web shop');
    await form.getByRole('group', { name: 'Send events' }).getByLabel('external').check();
    await buttonOf(form, 'Create key').click();
    await takeSecret(page, 'The new API key', 'API key');
    await expectFailure(page);
    await answerAgain();
    await buttonOf(page, 'Try again').click();
    await page.getByRole('link', { name: 'web shop' }).waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });
});
