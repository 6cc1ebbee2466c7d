import { BootstrapService } from '../../src/workspaces/bootstrap.service';
import { startApp, type TestApp } from '../support/app';
import { Client } from '../support/client';
import { freshDatabaseUrl } from '../support/database';

const OLD = 'the-first-bootstrap-key-of-a-test-000001';
const NEW = 'the-second-bootstrap-key-of-a-test-00002';

let databaseUrl: string;
const running: TestApp[] = [];

beforeEach(async () => {
  databaseUrl = await freshDatabaseUrl('bootstrap_rotation');
});

afterEach(async () => {
  await Promise.all(running.splice(0).map((app) => app.stop()));
});

/** Starts a node in this process, as `startService` does, with the admin key that the environment names. */
async function start(key: string): Promise<TestApp> {
  const service = await startApp({ BOOTSTRAP_ADMIN_KEY: key }, databaseUrl);
  running.push(service);
  await service.app.get(BootstrapService).run();
  return service;
}

const statusOf = async ({ url }: TestApp, key: string): Promise<number> =>
  (await new Client(url, key).get('/v1/api-keys')).status;

/** Rotates a key by itself. Returns its successor. */
async function rotated({ url }: TestApp, key: string): Promise<string> {
  const client = new Client(url, key);
  const { items } = (await client.get('/v1/api-keys?state=ACTIVE')).body;
  const { id } = items.find(({ hint }: { hint: string }) => hint.endsWith(key.slice(-4)));
  const { status, body } = await client.send(`/v1/api-keys/${id}:rotate`, undefined);
  expect([status, body.apiKey.expiresAt]).toEqual([201, null]);
  return body.key;
}

describe('a bootstrap key that was rotated', () => {
  it('stays out of use at the next starts, and its successor in use whatever the environment names then', async () => {
    const first = await start(OLD);
    const successor = await rotated(first, OLD);

    const again = await start(OLD);
    expect([await statusOf(again, OLD), await statusOf(again, successor)]).toEqual([401, 200]);

    const changed = await start(NEW);
    const statuses = [];
    for (const key of [OLD, successor, NEW]) statuses.push(await statusOf(changed, key));
    expect(statuses).toEqual([401, 200, 200]);
  });

  it('has a successor that the next value replaces once the environment has named it, and that may be rotated', async () => {
    const successor = await rotated(await start(OLD), OLD);
    const named = await start(successor);
    expect([await statusOf(named, OLD), await statusOf(named, successor)]).toEqual([401, 200]);
    const second = await rotated(named, successor);
    expect(await statusOf(await start(successor), second)).toBe(200);
    expect(await statusOf(await start(second), second)).toBe(200);
    const changed = await start(NEW);
    const statuses = [];
    for (const key of [successor, second, NEW]) statuses.push(await statusOf(changed, key));
    expect(statuses).toEqual([401, 401, 200]);
  });

  it('has an audit that says who acted: the environment from nowhere, a caller from an address', async () => {
    const node = await start(OLD);
    const [{ id }] = (await new Client(node.url, OLD).get('/v1/api-keys')).body.items;
    const changed = await start(NEW);
    const { items } = (await new Client(changed.url, NEW).get(`/v1/api-keys/${id}/audit`)).body;
    expect(items).toEqual(
      ['revoked', 'created'].map((action) => ({ action, at: expect.any(String), by: 'bootstrap', address: null })),
    );
  });
});
