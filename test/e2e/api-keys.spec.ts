import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { SCOPES } from '../../src/platform/auth/scopes';
import { sharedApp, type SharedApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { Client, type Answer } from '../support/client';
import { withClient } from '../support/database';
import { aTenant, type KeyOptions, type Tenant } from '../support/tenant';

const DAY_MS = 24 * 60 * 60 * 1000;
/** The clock of the test and that of the service are one; a request takes less. */
const REQUEST_MS_MAX = 10_000;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const WANTED = { name: 'web shop', scopes: ['cdp-events:write', 'events:read'] };

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

const create = (fields: object, client = admin): Promise<Answer> =>
  client.post('/v1/api-keys', { ...WANTED, ...fields });
const as = async (options: KeyOptions): Promise<Client> => new Client(service.url, await tenant.key(options));
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

/** How long the new key of an answer lives, in days. */
function daysOf({ body }: Answer): number {
  return (Date.parse(body.apiKey.expiresAt) - Date.parse(body.apiKey.createdAt)) / DAY_MS;
}

/** Every fault of a refusal, as `path code`, in the order of the alphabet. */
function faultsOf({ status, body }: Answer): unknown {
  return [status, body.error_code, body.details.map(({ path, code }: any) => `${path} ${code}`).sort()];
}

function rowsOf(table: 'api_keys' | 'api_key_audit'): Promise<any[]> {
  return withClient(service.databaseUrl, async (client) => {
    const sql = `SELECT row_to_json(t)::text AS text, t.* FROM ${table} t WHERE tenant_id = $1`;
    return (await client.query(sql, [tenant.tenantId])).rows;
  });
}

describe('POST /v1/api-keys', () => {
  it('answers 201 with the record and, this once, the key, which works at once', async () => {
    const { status, headers, body } = await create({ sources: ['shop.orders'] });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(Object.keys(body).sort()).toEqual(['apiKey', 'key']);
    const anyTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(body.apiKey).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'web shop',
      hint: `${body.key.slice(0, 8)}…${body.key.slice(-4)}`,
      scopes: WANTED.scopes,
      sources: ['shop.orders'],
      state: 'ACTIVE',
      createdAt: anyTime,
      createdBy: expect.stringMatching(/^[0-9a-f-]{36}$/),
      expiresAt: anyTime,
      lastUsedAt: null,
      revokedAt: null,
      rotatedFrom: null,
      rotatedTo: null,
    });
    expect(Math.abs(Date.parse(body.apiKey.createdAt) - Date.now())).toBeLessThan(REQUEST_MS_MAX);
    expect((await new Client(service.url, body.key).get('/v1/events')).status).toBe(200);
  });

  it('makes keys of 32 random base62 characters and their CRC-32 in 6, no two alike', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, async () => (await create({})).body.key as string));
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) {
      const [, random, checksum] = /^cds_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/.exec(key) ?? [];
      const read = [...(checksum ?? '')].reduce((sum, digit) => sum * ALPHABET.length + ALPHABET.indexOf(digit), 0);
      expect([key.length, read]).toEqual([42, crc32(random ?? '')]);
    }
  });

  it('stores the SHA-256 of a key and nothing that would give it away', async () => {
    const { key, apiKey } = (await create({})).body;
    const rows = await rowsOf('api_keys');
    const row = rows.find(({ id }) => id === apiKey.id);
    expect(row.key_hash.equals(createHash('sha256').update(key).digest())).toBe(true);
    expect(row.hint).toHaveLength(8 + 1 + 4);
    const stored = [...rows, ...(await rowsOf('api_key_audit'))].map(({ text }) => text).join('\n');
    const pieces = [key, key.slice(4, -6), key.slice(8, 24), Buffer.from(key).toString('hex'), btoa(key)];
    expect(pieces.filter((piece) => stored.includes(piece))).toEqual([]);
  });

  it('writes who made the key, when, and from where, into its audit', async () => {
    const { apiKey } = (await create({})).body;
    const audit = (await rowsOf('api_key_audit')).filter(({ key_id: id }) => id === apiKey.id);
    expect(audit).toMatchObject([{ action: 'created', by: apiKey.createdBy, at: new Date(apiKey.createdAt) }]);
    expect(audit[0].address).toMatch(/^(?:::ffff:)?127\.0\.0\.1$|^::1$/);
    const maker = (await rowsOf('api_keys')).find(({ id }) => id === apiKey.createdBy);
    expect(maker.key_hash.equals(createHash('sha256').update(tenant.adminKey).digest())).toBe(true);
  });

  it('repeats no key in a refusal', async () => {
    const { body } = await create({ name: tenant.adminKey, scopes: [tenant.adminKey], sources: [7] });
    expect(JSON.stringify(body)).not.toContain(tenant.adminKey);
  });
});

describe('the life of a key', () => {
  it('is 90 days unless the caller says otherwise, also when it says null', async () => {
    for (const fields of [{}, { expiresAt: null, expiresInDays: null, sources: null }]) {
      expect(daysOf(await create(fields))).toBe(90);
    }
  });

  it.each([1, 30, 366])('is %d days when so many are wanted', async (days) => {
    expect(daysOf(await create({ expiresInDays: days }))).toBe(days);
  });

  it('ends at the moment wanted, in whatever offset that is written', async () => {
    const wanted = new Date(Math.floor(Date.parse(inDays(30)) / DAY_MS) * DAY_MS + 500).toISOString();
    const inIndia = wanted.replace('T00:00:00.500Z', 'T05:30:00.5+05:30');
    expect((await create({ expiresAt: inIndia })).body.apiKey.expiresAt).toBe(wanted);
  });

  it.each([
    ['0 days', { expiresInDays: 0 }, ['expiresInDays range']],
    ['367 days', { expiresInDays: 367 }, ['expiresInDays range']],
    ['half a day', { expiresInDays: 0.5 }, ['expiresInDays type']],
    ['days as text', { expiresInDays: '30' }, ['expiresInDays type']],
    ['both', { expiresInDays: 30, expiresAt: inDays(30) }, ['expiresAt conflicting_fields']],
    ['a time that is over', { expiresAt: inDays(-0.01) }, ['expiresAt range']],
    ['more than 366 days', { expiresAt: inDays(366.01) }, ['expiresAt range']],
    ['a time without an offset', { expiresAt: inDays(30).slice(0, -1) }, ['expiresAt missing_offset']],
    ['a date', { expiresAt: inDays(30).slice(0, 10) }, ['expiresAt format']],
    ['a number', { expiresAt: Date.now() }, ['expiresAt type']],
  ])('is refused as %s', async (_name, fields, faults) => {
    expect(faultsOf(await create(fields))).toEqual([422, 'validation_failed', faults]);
  });

  it.each([
    ['a name that is empty', { name: '', expiresAt: inDays(-1) }, ['expiresAt range', 'name empty']],
    [
      'no scope',
      { scopes: [], expiresInDays: 1, expiresAt: inDays(1) },
      ['expiresAt conflicting_fields', 'scopes too_few_items'],
    ],
    [
      'another type',
      { name: '', expiresAt: 5, expiresInDays: 0 },
      ['expiresAt type', 'expiresInDays range', 'name empty'],
    ],
    [
      'an unknown field',
      { wanted: 1, expiresAt: inDays(1).slice(0, 10) },
      ['expiresAt format', 'wanted unknown_field'],
    ],
  ])('is refused together with %s', async (_name, fields, faults) => {
    expect(faultsOf(await create(fields))).toEqual([422, 'validation_failed', faults]);
  });

  it('may be the longest of 366 days by either field', async () => {
    expect((await create({ expiresAt: inDays(365.99) })).status).toBe(201);
  });

  it('lives no longer than the key that makes it: 90 days are cut short, a wish for more is refused with the limit', async () => {
    const expiresAt = inDays(10);
    const maker = await as({ expiresAt: new Date(expiresAt) });
    for (const fields of [{}, { expiresAt }, { expiresAt: null, expiresInDays: null }]) {
      const { status, body } = await create(fields, maker);
      expect([status, body.apiKey.expiresAt]).toEqual([201, expiresAt]);
    }
    expect(daysOf(await create({ expiresInDays: 9 }, maker))).toBe(9);
    for (const [path, fields] of Object.entries({
      expiresInDays: { expiresInDays: 10 },
      expiresAt: { expiresAt: inDays(10.01) },
    })) {
      const answer = await create(fields, maker);
      expect(faultsOf(answer)).toEqual([422, 'validation_failed', [`${path} range`]]);
      expect(answer.body.message).toContain(expiresAt);
    }
    const child = new Client(service.url, (await create({ scopes: ['admin'] }, maker)).body.key);
    expect((await create({}, child)).body.apiKey.expiresAt).toBe(expiresAt);
  });
});

describe('the shape of the request', () => {
  it.each([
    ['nothing', {}, ['name required', 'scopes required']],
    ['no scope', { ...WANTED, scopes: [] }, ['scopes too_few_items']],
    ['no source', { ...WANTED, sources: [] }, ['sources too_few_items']],
    ['an unknown scope', { ...WANTED, scopes: ['events:read', 'root', 'Admin'] }, ['scopes[1] enum', 'scopes[2] enum']],
    ['an empty name', { ...WANTED, name: '' }, ['name empty']],
    ['a name of 129 characters', { ...WANTED, name: 'x'.repeat(129) }, ['name too_long']],
    ['a source of 129 characters', { ...WANTED, sources: ['x'.repeat(129)] }, ['sources[0] too_long']],
    ['an unknown field', { ...WANTED, tenantId: 'x' }, ['tenantId unknown_field']],
    ['a name with U+0000', { ...WANTED, name: 'a\u0000b' }, ['name invalid_characters']],
    ['a name with half a character', { ...WANTED, name: 'a\ud800b' }, ['name invalid_characters']],
    ['a source with U+0000', { ...WANTED, sources: ['a\u0000b'] }, ['sources[0] invalid_characters']],
    ['a source twice', { ...WANTED, sources: ['a', 'a'] }, ['sources duplicate']],
  ])('is refused with %s', async (_name, body, faults) => {
    expect(faultsOf(await admin.post('/v1/api-keys', body))).toEqual([422, 'validation_failed', faults]);
  });

  it('is refused with every fault at once', async () => {
    const answer = await create({ name: 5, scopes: ['root'], expiresAt: 'tomorrow' });
    expect(faultsOf(answer)).toEqual([422, 'validation_failed', ['expiresAt format', 'name type', 'scopes[0] enum']]);
  });

  it('keeps a scope that is named twice once', async () => {
    const { body } = await create({ scopes: ['events:read', 'events:read'] });
    expect(body.apiKey.scopes).toEqual(['events:read']);
  });

  it('leaves no key behind when it is refused', async () => {
    await create({ expiresInDays: 367 });
    await create({ scopes: ['root'] });
    expect(await rowsOf('api_keys')).toHaveLength(1);
    expect(await rowsOf('api_key_audit')).toHaveLength(0);
  });
});

describe('what a caller can grant', () => {
  it('is every scope there is, by an admin', async () => {
    const { status, body } = await create({ scopes: SCOPES });
    expect([status, body.apiKey.scopes]).toEqual([201, [...SCOPES]]);
  });

  it('is the scopes that it has itself', async () => {
    const some = await as({ scopes: ['api-keys:write', 'events:read'] });
    expect((await create({ scopes: ['events:read', 'api-keys:write'] }, some)).status).toBe(201);
    const { status, headers, body } = await create({ scopes: ['events:read', 'pii:read'] }, some);
    expect([status, body.error_code]).toEqual([403, 'insufficient_scope']);
    expect(headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="pii:read"');
  });

  it('is not admin, even when it has every other scope', async () => {
    const all = await as({ scopes: SCOPES.filter((scope) => scope !== 'admin') });
    expect((await create({ scopes: ['admin'] }, all)).body.error_code).toBe('insufficient_scope');
    expect((await create({ scopes: SCOPES.filter((scope) => scope !== 'admin') }, all)).status).toBe(201);
  });

  it('is the sources that it may send itself, and never all of them', async () => {
    const limited = await as({ sources: ['shop.orders', 'shop.returns'] });
    expect((await create({ sources: ['shop.orders'] }, limited)).status).toBe(201);
    for (const sources of [undefined, null, ['shop.orders', 'crm.contacts'], ['Shop.Orders'], ['shop.*']]) {
      const { status, headers, body } = await create({ sources }, limited);
      expect([sources, status, body.error_code]).toEqual([sources, 403, 'source_not_allowed']);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer /);
    }
  });

  it('holds the new key to its scopes and sources', async () => {
    const { key } = (await create({ scopes: ['external-events:write'], sources: ['shop.orders'] })).body;
    const limited = new Client(service.url, key);
    const statuses = [];
    for (const source of ['shop.orders', 'crm.contacts']) {
      statuses.push((await limited.post('/v1/external-events', anExternalEvent({ source }))).status);
    }
    expect([...statuses, (await limited.get('/v1/events')).status]).toEqual([202, 403, 403]);
  });

  it('is a key of its own workspace', async () => {
    const { key } = (await create({ scopes: ['admin'] })).body;
    await admin.post('/v1/external-events', anExternalEvent());
    const seen = [];
    for (const client of [
      new Client(service.url, key),
      new Client(service.url, (await aTenant(service.databaseUrl)).adminKey),
    ]) {
      seen.push((await client.get('/v1/events')).body.items.length);
    }
    expect(seen).toEqual([1, 0]);
  });
});
