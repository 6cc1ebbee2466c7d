import { hash, randomUUID } from 'node:crypto';
import { nameId } from '../../src/platform/values/ids';
import { KeyedIds } from '../../src/platform/secrets/keyed-ids';
import { startApp } from '../support/app';
import { aWorkspace, theReviewEntry } from '../support/client';
import { databaseUrl, freshDatabaseUrl, rowsOf } from '../support/database';
import { startNode } from '../support/ingest';

const PARTS = ['review entry', randomUUID(), 'required'];

async function idsOf(url: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const node = await startNode(url, environment);
  try {
    return node.get(KeyedIds).of(PARTS);
  } finally {
    await node.close();
  }
}

describe('the id of a review entry', () => {
  it('is not made from the payload in a way that guesses could be tried on', async () => {
    const service = await startApp();
    try {
      const { tenantId, admin } = await aWorkspace(service);
      const body = '{"identity":{"type":"PHONE","value":"+4917612345678"';
      await admin.send('/v1/external-events', body);
      const { id } = await theReviewEntry(admin);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(id).not.toBe(nameId([tenantId, 'malformed_json', 'payload', hash('sha256', body)]));
      // The same problem has the same id all the same.
      await admin.send('/v1/external-events', body);
      expect(await theReviewEntry(admin)).toMatchObject({ id, occurrences: 2 });
    } finally {
      await service.stop();
    }
  });

  it('is the same on every node, and another one under another SECRETS_KEY', async () => {
    const url = await databaseUrl();
    const key = (text: string) => ({ SECRETS_KEY: text.repeat(40) });
    const [first, second, other] = [await idsOf(url, key('a')), await idsOf(url, key('a')), await idsOf(url, key('b'))];
    expect(first).toBe(second);
    expect(other).not.toBe(first);
  });

  it('is the same on nodes without a SECRETS_KEY that start at once, and another one in another installation', async () => {
    const [here, there] = [await freshDatabaseUrl('ids'), await freshDatabaseUrl('other_ids')];
    const ids = await Promise.all([here, here, here, there].map((url) => idsOf(url, {})));
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    expect(ids[3]).not.toBe(ids[0]);
    expect(await rowsOf(here, 'SELECT purpose, octet_length(key) AS bytes FROM installation_keys')).toEqual([
      { purpose: 'ids', bytes: 32 },
    ]);
  });
});
