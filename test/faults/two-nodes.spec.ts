import { anExternalEvent, shuffled } from '../support/builders';
import { Client } from '../support/client';
import { freshDatabaseUrl, withClient } from '../support/database';
import { startServiceProcess, type ServiceProcess } from '../support/service-process';

interface ItemResult {
  readonly status: string;
  readonly event_id?: string;
  readonly original_event_id?: string;
}

describe('two service processes on one database', () => {
  let url: string;
  let nodes: ServiceProcess[];
  let clients: Client[];

  beforeAll(async () => {
    url = await freshDatabaseUrl('two_nodes', 'template1');
    const environment = { DATABASE_URL: url, BOOTSTRAP_ADMIN_KEY: 'two-nodes-admin-key-two-nodes-admin-key' };
    // At once, on an empty database: one of them migrates and makes the workspace.
    nodes = await Promise.all([startServiceProcess(environment), startServiceProcess(environment)]);
    clients = nodes.map((node) => new Client(node.url, node.adminKey));
  });

  afterAll(async () => {
    expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0]);
  });

  const count = (table: string) =>
    withClient(url, async (client) => {
      const rows = await client.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`);
      return rows.rows[0]?.n;
    });

  it('accept one of 64 simultaneous copies of an event and name it to the other 63', async () => {
    const event = anExternalEvent();
    const before = (await count('events')) ?? 0;
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_unused, copy) => clients[copy % 2]!.post('/v1/external-events', event)),
    );
    const accepted = answers.filter(({ status }) => status === 202);
    const duplicates = answers.filter(({ status }) => status === 200);
    expect([accepted.length, duplicates.length]).toEqual([1, 63]);
    expect(new Set(duplicates.map(({ body }) => body.original_event_id))).toEqual(
      new Set([accepted[0]?.body.event_id]),
    );
    expect(await count('events')).toBe(before + 1);
  });

  it('accept each event of twelve shuffled copies of one batch once', async () => {
    const events = Array.from({ length: 400 }, (_unused, number) =>
      anExternalEvent({ identity: { type: 'EMAIL', value: `shared-${number % 50}@example.com` } }),
    );
    const before = (await count('events')) ?? 0;
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_unused, copy) =>
        clients[copy % 2]!.post('/v1/external-events:batch', { items: shuffled(events) }),
      ),
    );
    const results = answers.flatMap(({ body }) => body.results as ItemResult[]);
    const accepted = results.flatMap((result) => result.event_id ?? []);
    const named = results.flatMap((result) => result.original_event_id ?? []);
    expect(accepted).toHaveLength(400);
    expect(new Set(accepted).size).toBe(400);
    expect(named).toHaveLength(11 * 400);
    expect(new Set(named)).toEqual(new Set(accepted));
    expect(await count('events')).toBe(before + 400);
  });

  it('had one of them migrate and one make the workspace', async () => {
    expect(await count('workspaces')).toBe(1);
    expect(await count('api_keys')).toBe(1);
  });
});
