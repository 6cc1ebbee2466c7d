import { anExternalEvent } from '../support/builders';
import { Client } from '../support/client';
import { signedIn } from '../support/console';
import { freshDatabaseUrl, withClient } from '../support/database';
import { openLive } from '../support/live';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';
import { until } from '../support/until';

const ADMIN_KEY = 'console-live-admin-key-console-live-admin-key';

describe('live events of two processes on one database', () => {
  let url: string;
  let nodes: ServiceProcess[];

  beforeAll(async () => {
    url = await freshDatabaseUrl('console_live');
    const environment = { DATABASE_URL: url, BOOTSTRAP_ADMIN_KEY: ADMIN_KEY };
    const first = await startServiceProcess(environment);
    nodes = [first, await startServiceProcess(environment)];
  });

  it('reach a viewer of the other process, also after its connection was lost, and end when that one stops', async () => {
    const [viewed, other] = nodes as [ServiceProcess, ServiceProcess];
    const client = new Client(other.url, ADMIN_KEY);
    const stream = await openLive(await signedIn(viewed.url, ADMIN_KEY));
    // The other process hears of the viewer within a third of a second.
    const arrives = async (source: string): Promise<void> =>
      until(async () => {
        await client.post('/v1/external-events', anExternalEvent({ source }));
        return stream.items.some((item) => item.source === source);
      });
    await arrives('first');
    await withClient(url, (admin) =>
      admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cds-console-live'`),
    );
    await arrives('second');
    // In the order of the answers of a process, each once.
    const ids = stream.items.map(({ eventId }) => eventId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await viewed.stop()).toBe(0);
    await until(() => stream.ended() !== undefined);
    expect(stream.ended()).toBe('stopping');
    expect(await other.stop()).toBe(0);
  });
});
