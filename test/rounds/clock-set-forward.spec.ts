import { randomUUID } from 'node:crypto';
import { InvalidationFeed } from '../../src/platform/invalidation/invalidation-feed';
import { startApp, type TestApp } from '../support/app';
import { aWorkspace, Client } from '../support/client';
import { withClient } from '../support/database';
import { aClockedDatabase, type ClockedDatabase } from '../support/database-clock';
import { until } from '../support/until';

/*
 * The database's clock is set forward, as by a failover to a server that is ahead, about when a key is revoked: that hides
 * the revocation from no node (docs/adr/0049).
 */

/** Longer than a poll looks back. */
const FORWARD_DAYS = 0.01;

let database: ClockedDatabase;
let node: TestApp;
let other: TestApp;
let polls: jest.SpyInstance;

beforeAll(async () => {
  database = await aClockedDatabase('clock_forward');
  node = await startApp({}, database.url);
  other = await startApp({}, database.url);
  polls = jest.spyOn<any, 'learnTime'>(other.app.get(InvalidationFeed), 'learnTime');
});
afterAll(() => Promise.all([node, other].map((each) => each.stop())));

/** Polls that begin from now on. */
async function untilPolled(count: number): Promise<void> {
  const before = polls.mock.calls.length;
  await until(() => polls.mock.calls.length > before + count);
}

async function aKeyKnownToTheOther() {
  const { admin } = await aWorkspace(node);
  const asked = { name: `key ${randomUUID()}`, scopes: ['api-keys:read'], expiresInDays: 30 };
  const { key, apiKey } = (await admin.post('/v1/api-keys', asked)).body as { key: string; apiKey: { id: string } };
  const client = new Client(other.url, key);
  const status = async (): Promise<number> => (await client.get('/v1/api-keys')).status;
  expect(await status()).toBe(200);
  return { admin, id: apiKey.id, status };
}

describe('a revoked key', () => {
  it('stays refused on a node that has seen the revocation before', async () => {
    const { admin, id, status } = await aKeyKnownToTheOther();
    expect((await admin.post(`/v1/api-keys/${id}:revoke`, {})).status).toBe(200);
    // Nobody uses the key there meanwhile.
    await untilPolled(1);
    await database.passDays(FORWARD_DAYS);
    await untilPolled(3);
    expect(await status()).toBe(401);
  });

  it('is refused on the other node where the revocation is committed some polls later', async () => {
    const { admin, id, status } = await aKeyKnownToTheOther();
    await withClient(database.url, async (revoking) => {
      await revoking.query('BEGIN');
      await revoking.query('UPDATE api_keys SET revoked_at = clock_timestamp() WHERE id = $1', [id]);
      await revoking.query(
        `INSERT INTO control_changes (tenant_id, kind, id, changed_at)
       SELECT tenant_id, 'api_key', id::text, clock_timestamp() FROM api_keys WHERE id = $1`,
        [id],
      );
      await database.passDays(FORWARD_DAYS);
      await untilPolled(3);
      await revoking.query('COMMIT');
    });
    await untilPolled(1);
    expect(await status()).toBe(401);
    expect((await admin.get(`/v1/api-keys/${id}`)).body.state).toBe('REVOKED');
  });
});
