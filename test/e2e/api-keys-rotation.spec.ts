import { SCOPES } from '../../src/platform/auth/scopes';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { Client, expectProblem, type Answer } from '../support/client';
import { rowsOf } from '../support/database';
import { untilRemembered } from '../support/remembered-key';
import { aTenant, type KeyOptions, type Tenant } from '../support/tenant';
import { placesOf } from '../support/traces';

const DAY_MS = 24 * 60 * 60 * 1000;
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

let service: TestApp;
let tenant: Tenant;
let admin: Client;

beforeAll(async () => {
  service = await startApp();
});

afterAll(() => service.stop());

beforeEach(async () => {
  tenant = await aTenant(service.databaseUrl);
  admin = new Client(service.url, tenant.adminKey);
});

const as = async (options: KeyOptions): Promise<Client> => new Client(service.url, await tenant.key(options));
const create = async (fields: object = {}): Promise<any> =>
  (await admin.post('/v1/api-keys', { name: 'web shop', scopes: ['events:read'], ...fields })).body;
const act = (action: 'rotate' | 'revoke', id: string, client = admin): Promise<Answer> =>
  client.send(`/v1/api-keys/${id}:${action}`, undefined);
const get = async (id: string): Promise<any> => (await admin.get(`/v1/api-keys/${id}`)).body;
const auditOf = async (id: string): Promise<string[]> =>
  (await admin.get(`/v1/api-keys/${id}/audit`)).body.items.map(({ action }: any) => action);
const statusOf = async (key: string): Promise<number> => (await new Client(service.url, key).get('/v1/events')).status;
const daysOf = ({ createdAt, expiresAt }: any): number => (Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS;
/** The id of the credential that a client calls with. */
const idOf = async ({ key }: Client): Promise<string> =>
  (await sql('SELECT id FROM api_keys WHERE key_hash = sha256($1::bytea)', [Buffer.from(key ?? '')]))[0].id;

function sql(text: string, values: unknown[]): Promise<any[]> {
  return rowsOf(service.databaseUrl, text, values);
}

/** Moves the whole life of a key into the past. */
function age(id: string, days: number): Promise<unknown> {
  const text = `UPDATE api_keys SET created_at = created_at - make_interval(hours => $3),
    expires_at = expires_at - make_interval(hours => $3) WHERE tenant_id = $1 AND id = $2`;
  return sql(text, [tenant.tenantId, id, days * 24]);
}

async function expectRefused(key: string): Promise<void> {
  expectProblem(await new Client(service.url, key).get('/v1/events'), 401, 'api_key_revoked', []);
}

describe('POST /v1/api-keys/{id}:rotate', () => {
  it('answers 201 with a new active key of the same configuration, and shows its plaintext this once', async () => {
    const sources = ['shop.orders', 'shop.returns'];
    const old = await create({ scopes: ['events:read', 'external-events:write'], sources, expiresInDays: 30 });
    const { status, headers, body } = await act('rotate', old.apiKey.id);
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(Object.keys(body).sort()).toEqual(['apiKey', 'key']);
    expect(body.key).toMatch(/^cds_[0-9A-Za-z]{38}$/);
    expect(body.apiKey).toEqual({
      ...old.apiKey,
      id: expect.not.stringMatching(old.apiKey.id),
      hint: `${body.key.slice(0, 8)}…${body.key.slice(-4)}`,
      createdAt: expect.stringMatching(/Z$/),
      createdBy: await idOf(admin),
      expiresAt: expect.stringMatching(/Z$/),
      rotatedFrom: old.apiKey.id,
    });
    expect([daysOf(body.apiKey), await statusOf(body.key)]).toEqual([30, 200]);
    expect(await get(body.apiKey.id)).toMatchObject({ ...body.apiKey, lastUsedAt: expect.anything() });
  });

  it('revokes the old key in the same moment, and each names the other', async () => {
    const old = await create();
    const { apiKey } = (await act('rotate', old.apiKey.id)).body;
    expect(await get(old.apiKey.id)).toEqual({
      ...old.apiKey,
      state: 'REVOKED',
      revokedAt: apiKey.createdAt,
      rotatedTo: apiKey.id,
    });
    expect(await auditOf(old.apiKey.id)).toEqual(['rotated', 'created']);
    expect(await auditOf(apiKey.id)).toEqual(['created']);
  });

  it('has the very next request with the old key refused, although the node remembered it', async () => {
    for (const idAsSent of [(id: string) => id, (id: string) => id.toUpperCase()]) {
      const old = await create();
      await untilRemembered(service.url, service.databaseUrl, old.key);
      expect((await act('rotate', idAsSent(old.apiKey.id))).status).toBe(201);
      await expectRefused(old.key);
    }
  });

  it('may be of the key that it is called with', async () => {
    const self = await as({ scopes: ['api-keys:write', 'events:read'] });
    const { status, body } = await act('rotate', await idOf(self), self);
    expect([status, body.apiKey.createdBy]).toEqual([201, await idOf(self)]);
    await expectRefused(self.key ?? '');
    const successor = new Client(service.url, body.key);
    expect((await act('rotate', body.apiKey.id, successor)).status).toBe(201);
  });

  it('holds the new key to the sources of the old one', async () => {
    const { apiKey } = await create({ scopes: ['external-events:write'], sources: ['shop.orders'] });
    const successor = new Client(service.url, (await act('rotate', apiKey.id)).body.key);
    const send = async (source: string) =>
      (await successor.post('/v1/external-events', anExternalEvent({ source }))).status;
    expect([await send('shop.orders'), await send('crm.contacts')]).toEqual([202, 403]);
  });
});

describe('the life of the successor', () => {
  it.each([1, 90, 366])('is %d days as that of the key before it, counted anew', async (days) => {
    const { apiKey } = await create({ expiresInDays: days });
    await age(apiKey.id, days / 2);
    const first = (await act('rotate', apiKey.id)).body.apiKey;
    const second = (await act('rotate', first.id)).body.apiKey;
    expect([daysOf(first), daysOf(second)]).toEqual([days, days]);
    expect(Math.abs(Date.parse(second.createdAt) - Date.now())).toBeLessThan(10_000);
  });

  it('is given to a key that has expired too', async () => {
    const old = await create({ expiresInDays: 30 });
    await age(old.apiKey.id, 100);
    expect((await get(old.apiKey.id)).state).toBe('EXPIRED');
    const { status, body } = await act('rotate', old.apiKey.id);
    expect([status, body.apiKey.state, daysOf(body.apiKey)]).toEqual([201, 'ACTIVE', 30]);
    expect([await statusOf(body.key), (await get(old.apiKey.id)).state]).toEqual([200, 'REVOKED']);
  });

  it('has no end where that of a bootstrap key had none, and it is no bootstrap key, which a start would replace', async () => {
    await sql(`UPDATE api_keys SET origin = 'bootstrap' WHERE tenant_id = $1`, [tenant.tenantId]);
    const { body } = await act('rotate', await idOf(admin));
    expect(body.apiKey).toMatchObject({ state: 'ACTIVE', expiresAt: null, scopes: ['admin'] });
    const [row] = await sql('SELECT origin FROM api_keys WHERE tenant_id = $1 AND id = $2', [
      ...[tenant.tenantId, body.apiKey.id],
    ]);
    expect(row).toEqual({ origin: 'api' });
  });

  it('ends no later than that of the other key that rotates it, also where it had no end', async () => {
    const expiresAt = new Date(Date.now() + 5 * DAY_MS);
    const short = await as({ expiresAt });
    for (const id of [(await create({ expiresInDays: 30 })).apiKey.id, await idOf(await as({}))]) {
      const { status, body } = await act('rotate', id, short);
      expect([status, body.apiKey.expiresAt]).toEqual([201, expiresAt.toISOString()]);
    }
    const { apiKey } = await create({ expiresInDays: 2 });
    expect(daysOf((await act('rotate', apiKey.id, short)).body.apiKey)).toBe(2);
  });

  it('is as long as before when a key rotates itself, however often', async () => {
    let { apiKey, key } = await create({ scopes: ['api-keys:write'], expiresInDays: 30 });
    for (let round = 0; round < 3; round += 1) {
      await age(apiKey.id, 29);
      const answer = await act('rotate', apiKey.id.toUpperCase(), new Client(service.url, key));
      ({ apiKey, key } = answer.body);
      expect([answer.status, daysOf(apiKey)]).toEqual([201, 30]);
    }
  });
});

describe('a key that is out of use', () => {
  it('is not rotated: 409 says to create a new one, or that another one replaced it', async () => {
    const revoked = await create();
    await act('revoke', revoked.apiKey.id);
    const rotated = await create();
    await act('rotate', rotated.apiKey.id);
    const answers = [await act('rotate', revoked.apiKey.id), await act('rotate', rotated.apiKey.id)];
    for (const answer of answers) expectProblem(answer, 409, 'key_revoked', []);
    expect(answers.map(({ body }) => body.message)).toEqual([
      expect.stringMatching(/create a new one/),
      expect.stringMatching(/rotatedTo/),
    ]);
  });

  it('is left to exactly one of twenty callers who rotate it at once', async () => {
    const { apiKey } = await create();
    const answers = await Promise.all(Array.from({ length: 20 }, () => act('rotate', apiKey.id)));
    const won = answers.filter(({ status }) => status === 201);
    const lost = answers.filter(({ status, body }) => status === 409 && body.error_code === 'key_revoked');
    expect([won.length, lost.length]).toEqual([1, 19]);
    const { items } = (await admin.get('/v1/api-keys?state=ACTIVE')).body;
    const successors = items.filter(({ rotatedFrom }: any) => rotatedFrom === apiKey.id);
    expect(successors).toEqual([won[0]?.body.apiKey]);
    expect(await auditOf(apiKey.id)).toEqual(['rotated', 'created']);
    expect(await sql('SELECT 1 FROM api_keys WHERE tenant_id = $1', [tenant.tenantId])).toHaveLength(3);
  });

  it('is either rotated or revoked by callers who do both at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { apiKey } = await create();
      const [rotated, ...revoked] = await Promise.all([
        act('rotate', apiKey.id),
        ...Array.from({ length: 4 }, () => act('revoke', apiKey.id)),
      ]);
      expect(revoked.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(new Set(revoked.map(({ body }) => body.revokedAt)).size).toBe(1);
      const isRotated = rotated.status === 201;
      expect(await auditOf(apiKey.id)).toEqual([isRotated ? 'rotated' : 'revoked', 'created']);
      expect((await get(apiKey.id)).rotatedTo).toBe(isRotated ? rotated.body.apiKey.id : null);
    }
  });
});

describe('POST /v1/api-keys/{id}:revoke', () => {
  it('answers 200 with the record, and the very next request with the key is refused, although it was remembered', async () => {
    for (const idAsSent of [(id: string) => id, (id: string) => id.toUpperCase()]) {
      const { apiKey, key } = await create();
      await untilRemembered(service.url, service.databaseUrl, key);
      const { status, body } = await act('revoke', idAsSent(apiKey.id));
      await expectRefused(key);
      const changed = { state: 'REVOKED', revokedAt: expect.stringMatching(/Z$/), lastUsedAt: expect.anything() };
      expect([status, body]).toEqual([200, { ...apiKey, ...changed }]);
      expect(Math.abs(Date.parse(body.revokedAt) - Date.now())).toBeLessThan(10_000);
      expect(await get(apiKey.id)).toEqual(body);
    }
  });

  it('changes nothing when it is called again, by any number of callers', async () => {
    const { apiKey } = await create();
    const first = await act('revoke', apiKey.id);
    const others = await Promise.all(Array.from({ length: 5 }, () => act('revoke', apiKey.id)));
    for (const { status, body } of others) expect([status, body]).toEqual([200, first.body]);
    expect(await auditOf(apiKey.id)).toEqual(['revoked', 'created']);
  });

  it('takes an expired key and one that was rotated, which stay revoked', async () => {
    const expired = await create();
    await age(expired.apiKey.id, 100);
    expect((await act('revoke', expired.apiKey.id)).body.state).toBe('REVOKED');
    const rotated = await create();
    await act('rotate', rotated.apiKey.id);
    const before = await get(rotated.apiKey.id);
    expect((await act('revoke', rotated.apiKey.id)).body).toEqual(before);
  });

  it('may be of a key that has more than the caller, and of the one that it is called with', async () => {
    const guard = await as({ scopes: ['api-keys:write'], sources: ['shop.orders'] });
    const statuses = [];
    for (const id of [await idOf(admin), await idOf(guard)]) statuses.push((await act('revoke', id, guard)).status);
    expect(statuses).toEqual([200, 200]);
    for (const key of [tenant.adminKey, guard.key ?? '']) await expectRefused(key);
  });
});

describe('what a caller can rotate', () => {
  it('is a key whose scopes it has itself: api-keys:write is no way to admin', async () => {
    const caller = await as({ scopes: SCOPES.filter((scope) => scope !== 'admin' && scope !== 'pii:read') });
    const { apiKey, key } = await create({ scopes: ['events:read', 'pii:read'] });
    for (const id of [apiKey.id, await idOf(admin)]) {
      const answer = await act('rotate', id, caller);
      expectProblem(answer, 403, 'insufficient_scope', []);
      expect(answer.headers.get('www-authenticate')).toMatch(/error="insufficient_scope", scope="(?:pii:read|admin)"/);
    }
    expect([await statusOf(key), await statusOf(tenant.adminKey)]).toEqual([200, 200]);
    expect(await auditOf(apiKey.id)).toEqual(['created']);
    expect((await act('rotate', (await create()).apiKey.id, caller)).status).toBe(201);
  });

  it('is a key whose sources it may send itself, and never one that may send all', async () => {
    const caller = await as({ sources: ['shop.orders', 'shop.returns'] });
    const wide = [await create(), await create({ sources: ['shop.orders', 'crm.contacts'] })];
    for (const { apiKey, key } of wide) {
      expectProblem(await act('rotate', apiKey.id, caller), 403, 'source_not_allowed', []);
      expect(await statusOf(key)).toBe(200);
    }
    const narrow = await create({ sources: ['shop.orders'] });
    expect((await act('rotate', narrow.apiKey.id, caller)).body.apiKey.sources).toEqual(['shop.orders']);
  });
});

describe.each(['rotate', 'revoke'] as const)('a request to %s', (action) => {
  it('needs no body, takes an empty object, and refuses a field', async () => {
    const done = action === 'rotate' ? 201 : 200;
    const path = async () => `/v1/api-keys/${(await create()).apiKey.id}:${action}`;
    expect((await admin.send(await path(), undefined)).status).toBe(done);
    expect((await admin.post(await path(), {})).status).toBe(done);
    expect((await admin.send((await path()).replace(':', '%3A'), '{}')).status).toBe(done);
    expectProblem(await admin.post(await path(), { expiresInDays: 366, scopes: ['admin'] }), 422, 'validation_failed', [
      'expiresInDays unknown_field',
      'scopes unknown_field',
    ]);
    expectProblem(await admin.post(await path(), []), 422, 'validation_failed');
    expectProblem(await admin.send(await path(), '{'), 400, 'malformed_json');
  });

  it('changes nothing when it is refused', async () => {
    const { apiKey, key } = await create();
    expect((await admin.post(`/v1/api-keys/${apiKey.id}:${action}`, { force: true })).status).toBe(422);
    expect([(await get(apiKey.id)).state, await statusOf(key)]).toEqual(['ACTIVE', 200]);
    expect(await auditOf(apiKey.id)).toEqual(['created']);
  });

  it("finds no key of another workspace, no unknown one, and no id that isn't one", async () => {
    const { apiKey, key } = await create();
    const stranger = new Client(service.url, (await aTenant(service.databaseUrl)).adminKey);
    for (const id of [apiKey.id, UNKNOWN_ID, 'nonsense', `${apiKey.id}x`]) {
      expectProblem(await act(action, id, stranger), 404, 'not_found', []);
    }
    for (const path of [`${apiKey.id}:${action}d`, `${apiKey.id}X${action}`, `${apiKey.id}:${action}/`.toUpperCase()]) {
      expect([404, 405]).toContain((await admin.send(`/v1/api-keys/${path}`, undefined)).status);
    }
    expect(await statusOf(key)).toBe(200);
  });
});

describe('the plaintext of a key', () => {
  it('is in no answer after the one that issues it, and in no row of any table', async () => {
    const issued = await create({ scopes: ['api-keys:read', 'api-keys:write', 'events:read'] });
    const holder = new Client(service.url, issued.key);
    const texts: string[] = [];
    const hear = ({ body }: Answer): void => void texts.push(JSON.stringify(body));
    hear(await holder.get('/v1/events'));
    const rotated = (await act('rotate', issued.apiKey.id, holder)).body;
    const successor = new Client(service.url, rotated.key);
    for (const { id } of [issued.apiKey, rotated.apiKey]) {
      hear(await successor.get(`/v1/api-keys/${id}`));
      hear(await successor.get(`/v1/api-keys/${id}/audit`));
      hear(await act('revoke', id));
      hear(await act('rotate', id));
    }
    for (const path of ['/v1/api-keys', '/v1/api-keys?state=REVOKED', '/v1/review-entries'])
      hear(await admin.get(path));
    hear(await successor.get('/v1/events'));
    const pieces = [issued.key, rotated.key].flatMap((key: string) => [
      ...[key, key.slice(4, -6), key.slice(8, 24), Buffer.from(key).toString('hex'), btoa(key).replaceAll('=', '')],
    ]);
    expect(pieces.filter((piece) => texts.join('\n').includes(piece))).toEqual([]);
    expect(await placesOf(service.databaseUrl, pieces)).toEqual([]);
    // The search finds what is there: the name of the key, and its hash.
    const hash = "SELECT encode(key_hash, 'hex') AS hash FROM api_keys WHERE tenant_id = $1 AND id = $2";
    const [row] = await sql(hash, [tenant.tenantId, issued.apiKey.id]);
    expect(await placesOf(service.databaseUrl, ['web shop', row.hash])).toEqual([
      'public.api_keys: web shop',
      `public.api_keys: ${row.hash}`,
    ]);
  });
});
