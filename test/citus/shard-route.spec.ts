import { randomUUID } from 'node:crypto';
import { eventWritersEnded } from '../../src/ingest/store/event-writers';
import { INSERT_QUEUED_BUNDLES } from '../../src/ingest/store/event.sql';
import { connectionToNode } from '../../src/platform/postgres/distribution/node-connections';
import { WorkspaceNodes } from '../../src/platform/postgres/distribution/workspace-nodes';
import {
  RolledBackError,
  SeveralShardsError,
  type PipelinedConnection,
} from '../../src/platform/postgres/pipelined-connection';
import type { Statement } from '../../src/platform/postgres/statement';
import { isolateWorkspace, moveShard, placeOf, workerNodesOf, type NodePlace } from '../support/citus';
import { freshDatabaseUrl, rowsOf, serversOf, waitingForLocks } from '../support/database';
import { until } from '../support/until';

/** A move takes some seventy tables along, one after the other. */
const MOVE_MS = 300_000;
const OPTIONS = { applicationName: 'test-route', lockTimeoutMs: 60_000, statementTimeoutMs: 60_000 };
const FIND_BUNDLES: Statement = {
  name: 'test_find_bundles',
  text: 'SELECT id FROM queued_bundles WHERE tenant_id = $1::uuid',
};
const HOLD_EVENTS: Statement = {
  name: 'test_hold_events',
  text: 'UPDATE events SET source = source WHERE tenant_id = $1::uuid',
};

let url: string;
let nodes: WorkspaceNodes;
let connection: PipelinedConnection;
/** In one shard of the node of `connection`. */
let tenantId: string;
let neighbour: string;
/** In another shard of that node. */
let elsewhere: string;
let from: NodePlace;
let to: NodePlace;

beforeAll(async () => {
  url = await freshDatabaseUrl('route');
  const settings = { url, isDistributed: true, isOneWorkspace: true };
  nodes = new WorkspaceNodes(settings);
  tenantId = randomUUID();
  const { shard, port } = await placeOf(url, tenantId);
  neighbour = await aWorkspaceAt((place) => place.shard === shard);
  elsewhere = await aWorkspaceAt((place) => place.shard !== shard && place.port === port);
  const places = await workerNodesOf(url);
  from = places.find((place) => place.port === port)!;
  to = places.find((place) => place.port !== port)!;
  connection = connectionToNode({ ...settings, url: await nodes.of(tenantId) }, nodes, OPTIONS);
  for (const workspace of [neighbour, elsewhere]) await nodes.of(workspace);
});

afterAll(async () => {
  await connection.close();
  await nodes.beforeApplicationShutdown();
});

async function aWorkspaceAt(isWanted: (place: { shard: string; port: number }) => boolean): Promise<string> {
  for (;;) {
    const workspace = randomUUID();
    if (isWanted(await placeOf(url, workspace))) return workspace;
  }
}

/** Queues a bundle of each workspace in one transaction, and answers its id. `during`: before COMMIT. */
async function store(
  workspaces: readonly string[],
  during: () => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  const id = randomUUID();
  await connection.transaction(
    async (open) => {
      await open.send(INSERT_QUEUED_BUNDLES, [id, workspaces, workspaces.map(() => 1)]);
      await during();
    },
    workspaces.map((workspace) => ({ tenantId: workspace })),
  );
  return id;
}

function stored(workspace: string): Promise<string[]> {
  return rowsOf<{ id: string }>(url, 'SELECT id FROM queued_bundles WHERE tenant_id = $1', [workspace]).then((rows) =>
    rows.map(({ id }) => id),
  );
}

/** The tables that the connection has locked to write, on whichever server. */
async function writtenTables(): Promise<string[]> {
  const text = `SELECT l.relation::regclass::text AS "table" FROM pg_locks l JOIN pg_stat_activity USING (pid)
    WHERE application_name = 'test-route' AND mode = 'RowExclusiveLock' AND locktype = 'relation'`;
  const found = await Promise.all((await serversOf(url)).map((server) => rowsOf<{ table: string }>(server, text)));
  return found.flat().map(({ table }) => table);
}

it('writes to the shard by its name, without the table that Citus plans for', async () => {
  await store([tenantId], async () => {
    const tables = await writtenTables();
    expect(tables.filter((table) => table.includes('queued_bundles'))).toEqual([
      expect.stringMatching(/^queued_bundles(_pkey)?_\d+$/),
    ]);
  });
});

it('lets workspaces of one shard share a transaction, and no others', async () => {
  const id = await store([tenantId, neighbour]);
  expect(await stored(tenantId)).toContain(id);
  expect(await stored(neighbour)).toEqual([id]);
  await expect(store([tenantId, elsewhere])).rejects.toThrow(SeveralShardsError);
  expect(await stored(elsewhere)).toEqual([]);
});

it('shows who waits for the writers of events a transaction that writes to a shard', async () => {
  const read = (statement: Statement, values: readonly unknown[]) =>
    rowsOf<{ id: string }>(url, statement.text, values);
  await connection.transaction(
    async (open) => {
      await open.send(HOLD_EVENTS, [tenantId]);
      expect(await eventWritersEnded(read, 200, { isDistributed: true })).toEqual({ isOver: false, wasAny: true });
    },
    [{ tenantId }],
  );
  expect((await eventWritersEnded(read, 200, { isDistributed: true })).isOver).toBe(true);
});

it(
  'holds the shard where it is until a transaction ends, then notices that it has gone, and leaves it to Citus',
  async () => {
    const { shard } = await placeOf(url, tenantId);
    const known = await stored(tenantId);
    let moving: Promise<unknown> | undefined;
    const before = await store([tenantId], async () => {
      moving = moveShard(url, shard, from, to);
      await until(async () => (await waitingForLocks(url)) > 0);
    });
    await moving;
    // The connection knows of nothing yet: its next transaction fails without having stored anything, the one behind it works.
    expect(connection.shardOf(tenantId)).toBe(shard);
    await expect(store([tenantId])).rejects.toThrow(RolledBackError);
    expect(connection.shardOf(tenantId)).toBeUndefined();
    const after = await store([tenantId]);
    expect(new Set(await stored(tenantId))).toEqual(new Set([...known, before, after]));
  },
  MOVE_MS,
);

it(
  'uses the new shard of a workspace that was given one of its own',
  async () => {
    const before = await store([elsewhere]);
    const { shard } = await placeOf(url, elsewhere);
    await isolateWorkspace(url, elsewhere);
    expect(connection.shardOf(elsewhere)).toBe(shard);
    await expect(store([elsewhere])).rejects.toThrow(RolledBackError);
    await until(async () => {
      await nodes.of(elsewhere);
      return ![undefined, shard].includes(connection.shardOf(elsewhere));
    });
    const after = await store([elsewhere]);
    expect(new Set(await stored(elsewhere))).toEqual(new Set([before, after]));
  },
  MOVE_MS,
);

it(
  'reads again by Citus what it does not find on the node any more',
  async () => {
    const id = await store([elsewhere]);
    const { shard } = await placeOf(url, elsewhere);
    expect(connection.shardOf(elsewhere)).toBe(shard);
    await moveShard(url, shard, from, to);
    expect(await connection.query(FIND_BUNDLES, [elsewhere], [{ tenantId: elsewhere }])).toContainEqual({ id });
    expect(connection.shardOf(elsewhere)).toBeUndefined();
  },
  MOVE_MS,
);
