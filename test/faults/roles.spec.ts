import { anExternalEvent } from '../support/builders';
import { Client, expectProblem, storedEvent } from '../support/client';
import { freshDatabaseUrl } from '../support/database';
import { until } from '../support/until';
import { startServiceProcess } from '../support/service-process';

const KEY = 'roles-admin-key-roles-admin-key-roles-admin';
const EVENTS = '/v1/external-events';

describe('a service whose processes have roles', () => {
  it('takes events where they are taken, and processes them where they are processed', async () => {
    const shared = { DATABASE_URL: await freshDatabaseUrl('roles'), BOOTSTRAP_ADMIN_KEY: KEY };
    const api = await startServiceProcess({ ...shared, ROLE: 'api' });
    const client = new Client(api.url, KEY);
    const taken = await client.post(EVENTS, anExternalEvent());
    expect((await storedEvent(client, taken)).processing.state).toBe('queued');
    const worker = await startServiceProcess({ ...shared, ROLE: 'worker' });
    await until(async () => (await storedEvent(client, taken)).processing.state === 'processed');
    const workerClient = new Client(worker.url, KEY);
    for (const path of [EVENTS, '/v1/events', '/docs-json', '/']) {
      expectProblem(await workerClient.get(path), 404, 'not_found');
    }
    expect(await worker.stop()).toBe(0);
    const left = await client.post(EVENTS, anExternalEvent());
    expect((await storedEvent(client, left)).processing.state).toBe('queued');
    expect(await api.stop()).toBe(0);
    const all = await startServiceProcess(shared);
    const allClient = new Client(all.url, KEY);
    await until(async () => (await storedEvent(allClient, left)).processing.state === 'processed');
    expect(await all.stop()).toBe(0);
  });
});
