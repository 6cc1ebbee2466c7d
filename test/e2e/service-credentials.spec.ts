import { randomUUID } from 'node:crypto';
import { SCOPES } from '../../src/platform/auth/scopes';
import { startApp, type TestApp } from '../support/app';
import { anExternalEvent } from '../support/builders';
import { aWorkspace, expectProblem, type Answer, type Client, type Workspace } from '../support/client';
import { withClient } from '../support/database';
import { aKeyPair, hmacSigner, sendSigned } from '../support/signatures';

const PATH = '/v1/service-credentials';
const ANY_ID = expect.stringMatching(/^[0-9a-f-]{36}$/);
const ANY_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const { publicPem, privateKey } = aKeyPair();
const ED25519 = { name: 'web shop', algorithm: 'ed25519', publicKey: publicPem };
const HMAC = { name: 'till', algorithm: 'hmac-sha256' };

let service: TestApp;
let workspace: Workspace;
let admin: Client;

beforeAll(async () => {
  service = await startApp();
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  admin = workspace.admin;
});

afterAll(() => service.stop());

const create = (body: object, client = admin): Promise<Answer> => client.post(PATH, body);
const created = async (body: object = ED25519): Promise<any> => (await create(body)).body.serviceCredential;
const revoke = (id: string, client = admin): Promise<Answer> => client.send(`${PATH}/${id}:revoke`, undefined);

function rows(): Promise<any[]> {
  return withClient(service.databaseUrl, async (client) => {
    const sql = 'SELECT row_to_json(t)::text AS text, t.* FROM service_credentials t WHERE tenant_id = $1';
    return (await client.query(sql, [workspace.tenantId])).rows;
  });
}

describe('POST /v1/service-credentials', () => {
  it('answers 201 with the record of an Ed25519 credential, whose private half nobody but the caller has', async () => {
    const { status, headers, body } = await create({
      ...ED25519,
      publicKey: `\r\n${publicPem.replaceAll('\n', '\r\n')}`,
    });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(body).toEqual({
      serviceCredential: {
        id: ANY_ID,
        name: 'web shop',
        algorithm: 'ed25519',
        publicKey: publicPem,
        state: 'ACTIVE',
        createdAt: ANY_TIME,
        createdBy: ANY_ID,
        lastUsedAt: null,
        revokedAt: null,
      },
    });
  });

  it('answers the secret of an HMAC credential this once, of 256 random bits, no two alike', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(HMAC)));
    for (const { status, headers, body } of answers) {
      expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
      expect(Object.keys(body).sort()).toEqual(['secret', 'serviceCredential']);
      expect(body.serviceCredential).toMatchObject({ algorithm: 'hmac-sha256', publicKey: null, state: 'ACTIVE' });
      expect(body.secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
      const record = await admin.get(`${PATH}/${body.serviceCredential.id}`);
      expect(JSON.stringify([record.body, (await admin.get(PATH)).body])).not.toContain(body.secret);
    }
    expect(new Set(answers.map(({ body }) => body.secret)).size).toBe(answers.length);
  });

  it('stores the secret sealed, and nothing that would give it away', async () => {
    const { secret, serviceCredential } = (await create(HMAC)).body;
    await create(ED25519);
    const stored = (await rows()).map(({ text }) => text).join('\n');
    const pieces = [secret, secret.slice(8, 24), Buffer.from(secret).toString('hex'), btoa(secret)];
    const bytes = Buffer.from(secret, 'base64url').toString('hex');
    expect([...pieces, bytes].filter((piece) => stored.includes(piece))).toEqual([]);
    const sealed = (await rows()).find(({ id }) => id === serviceCredential.id).secret;
    expect(sealed.length).toBeGreaterThan(secret.length);
  });

  it('seals a secret for its own record: put into another one it opens nothing', async () => {
    const [one, other] = [(await create(HMAC)).body, (await create(HMAC)).body];
    await withClient(service.databaseUrl, (client) =>
      client.query(
        `UPDATE service_credentials t SET secret = (SELECT secret FROM service_credentials WHERE id = $1)
         WHERE tenant_id = $2 AND id = $3`,
        [one.serviceCredential.id, workspace.tenantId, other.serviceCredential.id],
      ),
    );
    const message = { target: '/v1/external-events', body: JSON.stringify(anExternalEvent()) };
    const answer = await sendSigned(service.url, hmacSigner(other.serviceCredential.id, one.secret), message);
    expectProblem(answer, 503, 'unavailable');
  });

  it('makes a credential whose signatures are good at once', async () => {
    const { secret, serviceCredential } = (await create(HMAC)).body;
    const message = { target: '/v1/external-events', body: JSON.stringify(anExternalEvent()) };
    const answers = await sendSigned(service.url, hmacSigner(serviceCredential.id, secret), message);
    expect(answers.status).toBe(202);
  });
});

describe('the shape of the request', () => {
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

  it.each([
    ['nothing', {}, ['algorithm required', 'name required']],
    ['an empty name', { ...HMAC, name: '' }, ['name empty']],
    ['a name of 129 characters', { ...HMAC, name: 'x'.repeat(129) }, ['name too_long']],
    ['a name with U+0000', { ...HMAC, name: 'a\u0000b' }, ['name invalid_characters']],
    ['an unknown algorithm', { ...ED25519, algorithm: 'rsa-pss-sha512' }, ['algorithm enum']],
    ['Ed25519 without a key', { ...ED25519, publicKey: undefined }, ['publicKey required']],
    ['Ed25519 with null for a key', { ...ED25519, publicKey: null }, ['publicKey required']],
    ['a key that is none', { ...ED25519, publicKey: 'ssh-ed25519 AAAA' }, ['publicKey format']],
    ['a key of another type', { ...ED25519, publicKey: 7 }, ['publicKey type']],
    ['a key of 8,193 characters', { ...ED25519, publicKey: 'x'.repeat(8_193) }, ['publicKey too_long']],
    ['a private key', { ...ED25519, publicKey: privatePem }, ['publicKey format']],
    ['a private key for an HMAC', { ...HMAC, publicKey: privatePem }, ['publicKey format']],
    ['a key for an HMAC', { ...HMAC, publicKey: publicPem }, ['publicKey conflicting_fields']],
    ['a secret of the caller', { ...HMAC, secret: 'my secret' }, ['secret unknown_field']],
    ['several faults', { name: 5, algorithm: 'x', publicKey: 5 }, ['algorithm enum', 'name type', 'publicKey type']],
  ])('is refused with %s', async (_name, body, faults) => {
    const answer = await create(body);
    expectProblem(answer, 422, 'validation_failed', faults);
    expect(await rows()).toEqual([]);
  });

  it('is refused in words that repeat no private key, and say that it is no secret any more', async () => {
    const { body } = await create({ ...ED25519, publicKey: privatePem });
    expect(body.message).toMatch(/private key.*no secret any more/);
    expect(JSON.stringify(body)).not.toContain(privatePem.split('\n')[1]);
  });

  it('takes null for the key of an HMAC', async () => {
    expect((await create({ ...HMAC, publicKey: null })).status).toBe(201);
  });
});

describe('a service without SECRETS_KEY', () => {
  it('makes Ed25519 credentials, and says why it can make no other', async () => {
    const poor = await startApp({ SECRETS_KEY: '' });
    try {
      const client = (await aWorkspace(poor)).admin;
      expect((await create(ED25519, client)).status).toBe(201);
      const refused = await create(HMAC, client);
      expectProblem(refused, 422, 'validation_failed', ['algorithm secrets_key_missing']);
      expect(refused.body.message).toMatch(/^The service has no SECRETS_KEY, so it cannot keep secrets/);
    } finally {
      await poor.stop();
    }
  });
});

describe('what a caller can grant', () => {
  it('takes external-events:write, which signed requests have', async () => {
    const scopes = ['service-credentials:write', 'external-events:write'] as const;
    expect((await create(ED25519, await workspace.client({ scopes }))).status).toBe(201);
    const all = SCOPES.filter((scope) => scope !== 'external-events:write' && scope !== 'admin');
    const refused = await create(ED25519, await workspace.client({ scopes: all }));
    expectProblem(refused, 403, 'insufficient_scope');
    expect(refused.headers.get('www-authenticate')).toContain('scope="external-events:write"');
  });

  it('takes all sources, which signed requests may send', async () => {
    const refused = await create(ED25519, await workspace.client({ sources: ['shop.orders'] }));
    expectProblem(refused, 403, 'source_not_allowed');
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer /);
    expect(await rows()).toEqual([]);
  });
});

describe('GET /v1/service-credentials', () => {
  it('lists them newest first, revoked ones too, page by page while others are made', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.unshift((await created({ ...HMAC, name: `till ${index}` })).id);
    await revoke(ids[2]!);
    const first = (await admin.get(`${PATH}?limit=2`)).body;
    await created();
    const second = (await admin.get(`${PATH}?limit=2&cursor=${first.nextCursor}`)).body;
    const third = (await admin.get(`${PATH}?limit=2&cursor=${second.nextCursor}`)).body;
    const items = [first, second, third].flatMap((page) => page.items);
    expect(items.map(({ id }: any) => id)).toEqual(ids);
    expect(items.map(({ state }: any) => state)).toEqual(['ACTIVE', 'ACTIVE', 'REVOKED', 'ACTIVE', 'ACTIVE']);
    expect([typeof first.nextCursor, third.nextCursor]).toEqual(['string', null]);
    expect((await admin.get(`${PATH}/${ids[2]}`)).body).toEqual(items[2]);
  });

  it('is empty in a workspace that has none, and refuses a cursor that is none', async () => {
    expect((await admin.get(PATH)).body).toEqual({ items: [], nextCursor: null });
    expectProblem(await admin.get(`${PATH}?cursor=nonsense`), 422, 'validation_failed', ['cursor format']);
  });
});

describe('POST /v1/service-credentials/{id}:revoke', () => {
  it('answers the record, and the same record when it is called again, also at the same time', async () => {
    const { id } = await created();
    const answers = await Promise.all(Array.from({ length: 10 }, () => revoke(id)));
    const [first] = answers;
    expect([first?.status, first?.body]).toMatchObject([200, { id, state: 'REVOKED', revokedAt: ANY_TIME }]);
    for (const { status, body } of [...answers, await revoke(id)]) expect([status, body]).toEqual([200, first?.body]);
    expect((await admin.get(`${PATH}/${id}`)).body).toEqual(first?.body);
  });

  it('takes an empty object for a body, and nothing else', async () => {
    const { id } = await created();
    expectProblem(await admin.post(`${PATH}/${id}:revoke`, { at: 'once' }), 422, 'validation_failed', [
      'at unknown_field',
    ]);
    expect((await admin.get(`${PATH}/${id}`)).body.state).toBe('ACTIVE');
    expect((await admin.post(`${PATH}/${id}:revoke`, {})).body.state).toBe('REVOKED');
  });

  it('is 404 for what is not there, is no id, or is another workspace’s, which stays in force', async () => {
    const stranger = (await aWorkspace(service)).admin;
    const { id } = await created();
    for (const answer of [await revoke(randomUUID()), await revoke('nonsense'), await revoke(id, stranger)]) {
      expectProblem(answer, 404, 'not_found');
    }
    expectProblem(await stranger.get(`${PATH}/${id}`), 404, 'not_found');
    expect((await admin.get(`${PATH}/${id}`)).body.state).toBe('ACTIVE');
  });
});
