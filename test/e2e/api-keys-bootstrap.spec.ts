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

describe('a bootstrap key that was rotated', () => {
  it('stays out of use at the next starts, and its successor in use whatever the environment names then', async () => {
    const first = await start(OLD);
    const admin = new Client(first.url, OLD);
    const { id } = (await admin.get('/v1/api-keys')).body.items[0];
    const { status, body } = await admin.send(`/v1/api-keys/${id}:rotate`, undefined);
    expect([status, body.apiKey.expiresAt]).toEqual([201, null]);

    const again = await start(OLD);
    expect([await statusOf(again, OLD), await statusOf(again, body.key)]).toEqual([401, 200]);

    const changed = await start(NEW);
    const statuses = [];
    for (const key of [OLD, body.key, NEW]) statuses.push(await statusOf(changed, key));
    expect(statuses).toEqual([401, 200, 200]);
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
