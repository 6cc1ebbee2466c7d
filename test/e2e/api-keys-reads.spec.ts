import { newId } from '../../src/platform/values/ids';
import { encodeCursor } from '../../src/platform/pagination/cursor';
import { sharedApp, type SharedApp } from '../support/app';
import { Client, expectProblem } from '../support/client';
import { rowsOf } from '../support/database';
import { pagesOf } from '../support/pages';
import { aTenant, type Tenant } from '../support/tenant';

const DAY_MS = 24 * 60 * 60 * 1000;
const past = (): Date => new Date(Date.now() - DAY_MS);
const ahead = (): Date => new Date(Date.now() + DAY_MS);

let service: SharedApp;
let tenant: Tenant;
let admin: Client;

beforeAll(async () => {
  service = await sharedApp();
});

beforeEach(async () => {
  tenant = await aTenant(service.databaseUrl);
  admin = new Client(service.url, tenant.adminKey);
});

async function create(name: string): Promise<any> {
  return (await admin.post('/v1/api-keys', { name, scopes: ['events:read'] })).body.apiKey;
}

const namesOf = (found: any[][]): string[][] => found.map((items) => items.map(({ name }) => name));

function sql(text: string, values: unknown[]): Promise<any[]> {
  return rowsOf(service.databaseUrl, text, values);
}

describe('GET /v1/api-keys', () => {
  it('lists every key of the workspace, newest first, as its creation answered it', async () => {
    const made = [await create('a'), await create('b'), await create('c')];
    const { body } = await admin.get('/v1/api-keys');
    expect(body.nextCursor).toBeNull();
    expect(body.items.slice(0, 3)).toEqual(made.toReversed());
    expect(body.items[3]).toMatchObject({ name: 'test', scopes: ['admin'], state: 'ACTIVE', expiresAt: null });
    expect(body.items).toHaveLength(4);
  });

  it('shows no hash and nothing else that is not of the record', async () => {
    await create('a');
    const fields = [
      ...['createdAt', 'createdBy', 'expiresAt', 'hint', 'id', 'lastUsedAt', 'name', 'revokedAt', 'rotatedFrom'],
      ...['rotatedTo', 'scopes', 'sources', 'state'],
    ];
    for (const item of (await admin.get('/v1/api-keys')).body.items) expect(Object.keys(item).sort()).toEqual(fields);
  });

  it('pages without losing or repeating a key while new ones are made', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await create(name);
    const found = await pagesOf(admin, '/v1/api-keys?limit=2', () => create('late'));
    expect(namesOf(found)).toEqual([
      ['e', 'd'],
      ['c', 'b'],
      ['a', 'test'],
    ]);
  });

  it('has pages of 50 unless told otherwise, and of 200 at most', async () => {
    const copies = `INSERT INTO api_keys (tenant_id, id, name, key_hash, hint, scopes, origin, created_at, created_by)
      SELECT tenant_id, gen_random_uuid(), name, sha256(gen_random_uuid()::text::bytea), hint, scopes, origin, created_at,
        created_by FROM api_keys, generate_series(1, 200) WHERE tenant_id = $1`;
    await sql(copies, [tenant.tenantId]);
    const lengths = (found: any[][]): number[] => found.map((items) => items.length);
    expect(lengths(await pagesOf(admin, '/v1/api-keys'))).toEqual([50, 50, 50, 50, 1]);
    expect(lengths(await pagesOf(admin, '/v1/api-keys?limit=200'))).toEqual([200, 1]);
    expect(lengths(await pagesOf(admin, '/v1/api-keys?limit=67'))).toEqual([67, 67, 67]);
  });

  it('refuses a limit, a cursor, a state and a parameter that it does not know', async () => {
    for (const limit of ['0', '201', '-1', '1.5', 'x', '']) {
      expectProblem(await admin.get(`/v1/api-keys?limit=${limit}`), 422, 'validation_failed');
    }
    const foreign = encodeCursor([new Date().toISOString(), newId()]);
    for (const cursor of ['x', newId(), foreign, encodeCursor(["' OR true --"])]) {
      expectProblem(await admin.get(`/v1/api-keys?cursor=${cursor}`), 422, 'validation_failed', ['cursor format']);
    }
    for (const query of ['state=active', 'state=', 'state=ACTIVE&state=REVOKED', 'status=ACTIVE']) {
      expectProblem(await admin.get(`/v1/api-keys?${query}`), 422, 'validation_failed');
    }
  });
});

describe('GET /v1/api-keys?state=', () => {
  /** Keys of all states, mixed, so that a page of one state has to look past the others. */
  async function aMixture(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      await tenant.key({ expiresAt: ahead() });
      await tenant.key({ expiresAt: past() });
      await tenant.key({ revokedAt: past() });
      await tenant.key({ expiresAt: past(), revokedAt: past() });
    }
  }

  it.each([
    ['ACTIVE', [2, 2]],
    ['EXPIRED', [2, 1]],
    ['REVOKED', [2, 2, 2]],
  ])('has full pages of keys that are %s and of no others', async (state, lengths) => {
    await aMixture();
    const found = await pagesOf(admin, `/v1/api-keys?limit=2&state=${state}`);
    expect(found.map((items) => items.length)).toEqual(lengths);
    expect(new Set(found.flat().map((item) => item.state))).toEqual(new Set([state]));
    expect(new Set(found.flat().map(({ id }) => id)).size).toBe(lengths.reduce((sum, length) => sum + length));
  });

  it('shares all keys out among the three states, and without it none is left out', async () => {
    await aMixture();
    const ids = async (query: string) => (await pagesOf(admin, `/v1/api-keys?${query}`)).flat().map(({ id }) => id);
    const byState = [await ids('state=ACTIVE'), await ids('state=EXPIRED'), await ids('state=REVOKED')];
    expect(byState.map((list) => list.length)).toEqual([4, 3, 6]);
    expect(byState.flat().sort()).toEqual((await ids('limit=5')).sort());
  });

  it('is worked out when it is read: a key turns EXPIRED by itself', async () => {
    const { id } = await create('a');
    const seen = async () => {
      const lists = ['ACTIVE', 'EXPIRED'].map(async (state) => {
        const { items } = (await admin.get(`/v1/api-keys?state=${state}`)).body;
        return items.some((item: any) => item.id === id);
      });
      return [...(await Promise.all(lists)), (await admin.get(`/v1/api-keys/${id}`)).body.state];
    };
    expect(await seen()).toEqual([true, false, 'ACTIVE']);
    const expire = `UPDATE api_keys SET expires_at = now() - interval '1 minute' WHERE tenant_id = $1 AND id = $2`;
    await sql(expire, [tenant.tenantId, id]);
    expect(await seen()).toEqual([false, true, 'EXPIRED']);
  });
});

describe('GET /v1/api-keys/{id}', () => {
  it('shows the record, also of a revoked and of an expired key', async () => {
    const made = await create('a');
    expect((await admin.get(`/v1/api-keys/${made.id}`)).body).toEqual(made);
    await tenant.key({ revokedAt: past() });
    await tenant.key({ expiresAt: past() });
    for (const item of (await admin.get('/v1/api-keys?limit=2')).body.items) {
      expect((await admin.get(`/v1/api-keys/${item.id}`)).body).toEqual(item);
    }
  });

  it('takes an id in upper case', async () => {
    const { id } = await create('a');
    expect((await admin.get(`/v1/api-keys/${id.toUpperCase()}`)).body.id).toBe(id);
  });
});

describe('GET /v1/api-keys/{id}/audit', () => {
  it('lists what was done, when, by whom and from where, newest first', async () => {
    const { id, createdAt, createdBy } = await create('a');
    const hand = new Client(service.url, await tenant.key({ scopes: ['api-keys:write', 'events:read'] }));
    const { apiKey } = (await hand.send(`/v1/api-keys/${id}:rotate`, undefined)).body;
    const { revokedAt } = (await admin.send(`/v1/api-keys/${apiKey.id}:revoke`, undefined)).body;
    const address = expect.stringMatching(/^(?:::ffff:)?127\.0\.0\.1$|^::1$/);
    const by = apiKey.createdBy;
    expect(by).not.toBe(createdBy);
    expect((await admin.get(`/v1/api-keys/${id}/audit`)).body).toEqual({
      items: [
        { action: 'rotated', at: apiKey.createdAt, by, address },
        { action: 'created', at: createdAt, by: createdBy, address },
      ],
      nextCursor: null,
    });
    expect((await admin.get(`/v1/api-keys/${apiKey.id}/audit`)).body.items).toEqual([
      { action: 'revoked', at: revokedAt, by: createdBy, address },
      { action: 'created', at: apiKey.createdAt, by, address },
    ]);
  });

  it('pages, and refuses what is no page', async () => {
    const { id } = await create('a');
    await admin.send(`/v1/api-keys/${id}:revoke`, undefined);
    const found = await pagesOf(admin, `/v1/api-keys/${id}/audit?limit=1`);
    expect(found.map((items) => items.map(({ action }) => action))).toEqual([['revoked'], ['created']]);
    for (const query of ['limit=0', 'cursor=x', 'state=ACTIVE']) {
      expectProblem(await admin.get(`/v1/api-keys/${id}/audit?${query}`), 422, 'validation_failed');
    }
  });
});

describe('another workspace', () => {
  it('sees no key and no audit of this one, by list, id or cursor', async () => {
    const { id } = await create('ours');
    const second = await create('ours too');
    const stranger = new Client(service.url, (await aTenant(service.databaseUrl)).adminKey);
    const { nextCursor } = (await admin.get('/v1/api-keys?limit=1')).body;
    const foreign = await stranger.get(`/v1/api-keys?cursor=${nextCursor}`);
    expectProblem(foreign, 422, 'validation_failed', ['cursor format']);
    for (const query of ['', '?state=ACTIVE']) {
      const { items } = (await stranger.get(`/v1/api-keys${query}`)).body;
      expect(items.filter(({ name }: any) => name !== 'test')).toEqual([]);
    }
    for (const key of [id, second.id, newId(), 'nonsense']) {
      for (const path of [`/v1/api-keys/${key}`, `/v1/api-keys/${key}/audit`]) {
        expectProblem(await stranger.get(path), 404, 'not_found', []);
      }
    }
  });
});
