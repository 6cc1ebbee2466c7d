import { setTimeout as wait } from 'node:timers/promises';
import { InvalidationFeed } from '../../src/platform/invalidation/invalidation-feed';
import { startApp, type TestApp } from '../support/app';
import { Client } from '../support/client';
import { freshDatabaseUrl, rowsOf, withClient } from '../support/database';
import { aTenant, type Tenant } from '../support/tenant';

const PATIENCE_MS = 10_000;

let databaseUrl: string;
let nodes: TestApp[];
let tenant: Tenant;
let admin: Client;

/** A database of its own: a trigger counts the writes. */
beforeAll(async () => {
  databaseUrl = await freshDatabaseUrl('last_use');
  await sql('CREATE TABLE writes_of_last_use (key_id uuid)');
  await sql(`CREATE FUNCTION note_write() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO writes_of_last_use VALUES (NEW.id); RETURN NEW; END $$`);
  await sql(`CREATE TRIGGER note_write AFTER UPDATE OF last_used_at ON api_keys
    FOR EACH ROW EXECUTE FUNCTION note_write()`);
  nodes = await Promise.all([startApp({}, databaseUrl), startApp({}, databaseUrl)]);
});

beforeEach(async () => {
  tenant = await aTenant(databaseUrl);
  admin = new Client(nodes[0]!.url, tenant.adminKey);
});

afterAll(() => Promise.all(nodes.map((node) => node.stop())));

function sql(text: string, values: unknown[] = []): Promise<any[]> {
  return rowsOf(databaseUrl, text, values);
}

const statusOf = async (node: TestApp, key: string): Promise<number> =>
  (await new Client(node.url, key).get('/v1/events')).status;
const create = async (fields: object = {}): Promise<any> =>
  (await admin.post('/v1/api-keys', { name: 'x', scopes: ['events:read'], ...fields })).body;
const lastUseOf = async (id: string): Promise<string | null> => (await admin.get(`/v1/api-keys/${id}`)).body.lastUsedAt;
const writesOf = async (id: string): Promise<number> =>
  (await sql('SELECT 1 FROM writes_of_last_use WHERE key_id = $1', [id])).length;

/** Has every node verify the key anew at its next use, as happens by itself after 45 s. */
function forget(id: string): void {
  for (const { app } of nodes) app.get(InvalidationFeed).forget({ tenantId: tenant.tenantId, kind: 'api_key', id });
}

/** Uses are stored behind the requests, one after the other. */
async function untilStored(id: string): Promise<string> {
  for (const until = performance.now() + PATIENCE_MS; performance.now() < until;) {
    const at = await lastUseOf(id);
    if (at !== null) return at;
    await wait(5);
  }
  throw new Error(`No use was stored within ${PATIENCE_MS} ms`);
}

/** Once the use of a fresh key is stored on each node, whatever was noted there before it has been dealt with. */
async function untilAllIsStored(): Promise<void> {
  for (const node of nodes) {
    const { apiKey, key } = await create();
    await statusOf(node, key);
    await untilStored(apiKey.id);
  }
}

async function setLastUse(id: string, secondsAgo: number): Promise<string> {
  const at = new Date(Date.now() - secondsAgo * 1_000);
  await sql('UPDATE api_keys SET last_used_at = $3 WHERE tenant_id = $1 AND id = $2', [tenant.tenantId, id, at]);
  await sql('DELETE FROM writes_of_last_use');
  return at.toISOString();
}

describe('lastUsedAt', () => {
  it('is null until the key is used, and then tells when', async () => {
    const { apiKey, key } = await create();
    expect([apiKey.lastUsedAt, await lastUseOf(apiKey.id)]).toEqual([null, null]);
    const before = Date.now();
    await statusOf(nodes[0]!, key);
    const at = Date.parse(await untilStored(apiKey.id));
    expect([at >= before, at <= Date.now()]).toEqual([true, true]);
    const { items } = (await admin.get('/v1/api-keys')).body;
    expect(items.find(({ id }: any) => id === apiKey.id).lastUsedAt).toBe(new Date(at).toISOString());
  });

  it('is written once for uses of one minute, however often and on however many nodes the key is verified', async () => {
    const { apiKey, key } = await create();
    for (let round = 0; round < 5; round += 1) {
      forget(apiKey.id);
      await Promise.all(Array.from({ length: 20 }, (_unused, call) => statusOf(nodes[call % 2]!, key)));
    }
    await untilAllIsStored();
    expect(await writesOf(apiKey.id)).toBe(1);
  });

  it.each([
    ['moves on when it is more than a minute old', 61, true],
    ['stays as it is within a minute', 30, false],
    ['moves back when it is ahead, since the clock was set back', -61 * 60, true],
    ['stays as it is where another node is some seconds ahead', -5, false],
  ])('%s', async (_name, secondsAgo, moves) => {
    const { apiKey, key } = await create();
    const before = await setLastUse(apiKey.id, secondsAgo);
    for (const node of nodes) await statusOf(node, key);
    await untilAllIsStored();
    expect([(await lastUseOf(apiKey.id)) !== before, await writesOf(apiKey.id)]).toEqual([moves, moves ? 1 : 0]);
  });

  it('does not move by a use that is refused', async () => {
    const past = new Date(Date.now() - 1_000);
    for (const key of [await tenant.key({ revokedAt: past }), await tenant.key({ expiresAt: past })]) {
      expect(await statusOf(nodes[0]!, key)).toBe(401);
    }
    await untilAllIsStored();
    for (const state of ['REVOKED', 'EXPIRED']) {
      const { items } = (await admin.get(`/v1/api-keys?state=${state}`)).body;
      expect(items.map(({ lastUsedAt }: any) => lastUsedAt)).toEqual([null]);
    }
  });

  it('holds up no request, and fails none, when it cannot be written', async () => {
    const { apiKey, key } = await create();
    await withClient(databaseUrl, async (blocker) => {
      await blocker.query('BEGIN');
      await blocker.query('SELECT 1 FROM api_keys WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
        ...[tenant.tenantId, apiKey.id],
      ]);
      const statuses = [];
      for (let call = 0; call < 10; call += 1) {
        forget(apiKey.id);
        statuses.push(await statusOf(nodes[0]!, key));
      }
      // Had one of them waited for the row, it would wait for ever: this connection gives it back only now.
      expect(new Set(statuses)).toEqual(new Set([200]));
      expect(await lastUseOf(apiKey.id)).toBeNull();
      await blocker.query('ROLLBACK');
    });
    await untilStored(apiKey.id);
  });

  it('is stored when the service stops right after the use', async () => {
    const { apiKey, key } = await create();
    const node = await startApp({}, databaseUrl);
    try {
      expect(await statusOf(node, key)).toBe(200);
    } finally {
      await node.stop();
    }
    expect(await lastUseOf(apiKey.id)).not.toBeNull();
  });

  it('is in no index, so that a row is updated within its page', async () => {
    const indexes = await sql(`SELECT indexname FROM pg_indexes
      WHERE tablename = 'api_keys' AND indexdef LIKE '%last_used_at%'`);
    const [{ count }] = await sql(`SELECT count(*)::int FROM pg_indexes WHERE tablename = 'api_keys'`);
    expect([indexes, count]).toEqual([[], 2]);
  });
});
