import { startApp, type TestApp } from '../support/app';
import { aWorkspace, expectProblem } from '../support/client';
import { Browser, signedIn } from '../support/console';

let service: TestApp;

beforeAll(async () => {
  service = await startApp();
});

afterAll(() => service.stop());

describe('a session', () => {
  it('is opened with a key, shows who is signed in, and ends', async () => {
    const { admin, name } = await aWorkspace(service);
    const browser = new Browser(service.url);
    expectProblem(await browser.get('/session'), 401, 'unauthenticated');
    const { status, body } = await browser.signIn(admin.key!);
    expect([status, body]).toEqual([
      200,
      {
        ...{ signedIn: true, workspace: name, name: 'test', scopes: ['admin'], via: 'key' },
        ...{ expiresAt: expect.any(String), idleExpiresAt: expect.any(String), provenUntil: expect.any(String) },
      },
    ]);
    expect(browser.cookie).toMatch(/^cds_console=[\w-]{43}$/);
    expect((await browser.get('/session')).body).toMatchObject({ signedIn: true, workspace: name });
    expect((await browser.get('/v1/api-keys')).body.items).toHaveLength(1);
    expect((await browser.delete('/session')).body).toEqual({ signedIn: false });
    expect(browser.cookie).toBeUndefined();
    expectProblem(await browser.get('/v1/api-keys'), 401, 'unauthenticated');
  });

  it('has just the scopes of its key', async () => {
    const workspace = await aWorkspace(service);
    const browser = await signedIn(service.url, (await workspace.client({ scopes: ['events:read'] })).key!);
    expect((await browser.get('/v1/events')).status).toBe(200);
    expectProblem(await browser.get('/v1/api-keys'), 403, 'insufficient_scope');
  });
});
