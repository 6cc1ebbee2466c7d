import { startApp, type TestApp } from '../support/app';
import { aClient, aWorkspace, type Answer, type Client, expectProblem, type Workspace } from '../support/client';
import { withClient } from '../support/database';
import { pagesOf } from '../support/pages';
import { aSigningKey } from '../support/tokens';

const PATH = '/v1/jwt-issuers';
const SECRET = 'a shared secret, as long as it has to be';
const EC = aSigningKey('ES256').jwk;
const RSA = aSigningKey('RS256').jwk;
const { alg: _alg, ...ANY_RSA } = RSA;
const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000';
/** A workspace can register the same issuer and audience once. */
let count = 0;

let service: TestApp;
let workspace: Workspace;
let admin: Client;

beforeAll(async () => {
  service = await startApp();
});

beforeEach(async () => {
  workspace = await aWorkspace(service);
  ({ admin } = workspace);
});

afterAll(() => service.stop());

const names = () => ({ issuer: `https://${(count += 1)}.${workspace.tenantId}.example.com`, audience: 'campaigns' });
const create = (fields: object, client = admin): Promise<Answer> =>
  client.post(PATH, { ...names(), jwksUri: 'https://login.example.com/jwks', ...fields });
const createWith = (source: object): Promise<Answer> => admin.post(PATH, { ...names(), ...source });
const remove = (id: string, client = admin): Promise<Answer> =>
  client.send(`${PATH}/${id}`, undefined, { method: 'DELETE' });

describe('POST /v1/jwt-issuers', () => {
  it('answers 201 with the record, with what holds where the caller said nothing', async () => {
    const wanted = names();
    const { status, body } = await admin.post(PATH, { ...wanted, jwksUri: 'https://login.example.com/jwks' });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        ...wanted,
        algorithms: ['RS256', 'PS256', 'ES256'],
        keySource: 'jwksUri',
        jwksUri: 'https://login.example.com/jwks',
        jwks: null,
        claims: { campaign: 'campaign_id', app: 'app_id' },
        defaultCampaignId: null,
        allowedCampaignIds: null,
        clockToleranceSeconds: 5,
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        createdBy: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ]);
  });

  it('answers everything that the caller said', async () => {
    const wanted = {
      ...names(),
      algorithms: ['ES256', 'PS256'],
      claims: { campaign: 'https://example.com/campaign', app: 'azp' },
      defaultCampaignId: 'spring-sale',
      allowedCampaignIds: ['summer.2026', 'spring-sale'],
      clockToleranceSeconds: 0,
    };
    const { status, body } = await admin.post(PATH, { ...wanted, jwks: { keys: [EC, ANY_RSA] } });
    expect([status, body]).toMatchObject([201, { ...wanted, keySource: 'jwks', jwksUri: null }]);
    expect(body.jwks.keys.map(({ kid }: any) => kid)).toEqual([EC['kid'], RSA['kid']]);
  });

  it('takes null for what is not said', async () => {
    const nothing = { algorithms: null, jwks: null, secret: null, claims: { campaign: null, app: null } };
    const { status, body } = await create({ ...nothing, defaultCampaignId: null, allowedCampaignIds: null });
    expect([status, body.claims]).toEqual([201, { campaign: 'campaign_id', app: 'app_id' }]);
  });

  it.each([
    ['0 keys', { jwks: { keys: [] } }],
    ['no list of keys', { jwks: {} }],
    ['a private key', { jwks: { keys: [{ ...EC, d: 'AAAA' }] } }],
    ['a secret key', { jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }],
    ['21 keys', { jwks: { keys: Array.from({ length: 21 }, () => ({ ...EC, kid: String(Math.random()) })) } }],
    ['a key of another curve', { jwks: { keys: [{ ...EC, crv: 'P-384' }] } }],
    ['an exponent of 256 bits', { jwks: { keys: [{ ...RSA, e: Buffer.alloc(32, 0xff).toString('base64url') }] } }],
    ['an even exponent', { jwks: { keys: [{ ...RSA, e: 'AQAC' }] } }],
    ['a key that is used by none of the algorithms', { jwks: { keys: [RSA, EC] }, algorithms: ['ES256'] }],
    ['more than 64 KiB of keys', { jwks: { keys: [EC], note: 'x'.repeat(65_536) } }],
    ['a list for keys', { jwks: [EC] }],
    ['text for keys', { jwks: JSON.stringify({ keys: [EC] }) }],
    ['a private address', { jwksUri: 'https://127.0.0.1/jwks' }],
    ['an address by http', { jwksUri: 'http://login.example.com/jwks' }],
    ['an empty address', { jwksUri: '' }],
    ['a secret of 31 bytes', { secret: 'x'.repeat(31) }],
    ['a secret of 1,025 bytes', { secret: 'x'.repeat(1_025) }],
    ['a secret with U+0000', { secret: `${SECRET}\u0000` }],
    ['a secret with half a character', { secret: `${SECRET}\ud800` }],
    ['no source of keys', {}],
    ['two sources of keys', { secret: SECRET, jwks: { keys: [EC] } }],
    ['three sources of keys', { secret: SECRET, jwks: { keys: [EC] }, jwksUri: 'https://login.example.com/jwks' }],
  ])('is refused with %s, naming the field and repeating nothing', async (_name, source) => {
    const answer = await createWith(source);
    expectProblem(answer, 422, 'validation_failed');
    const named = Object.keys(source).at(0) ?? '';
    expect(answer.body.details.map(({ path }: any) => path).join()).toContain(named);
    expect(JSON.stringify(answer.body)).not.toContain('x'.repeat(31));
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
  });

  it('names the key of a set whose verification would cost too much, and what of it', async () => {
    const huge = { ...RSA, kid: 'huge', e: Buffer.alloc(384, 0x7f).toString('base64url') };
    const long = { ...RSA, kid: 'long', n: Buffer.alloc(1_025, 0xff).toString('base64url') };
    const answer = await createWith({ jwks: { keys: [EC, huge, RSA, long] } });
    expectProblem(answer, 422, 'validation_failed', ['jwks.keys[1].e range', 'jwks.keys[3].n range']);
    expect(answer.body.message).toMatch(/odd number from 3 to 4294967295, such as 65537/);
  });

  it.each([
    ['none', { algorithms: ['none'] }, ['algorithms[0] enum']],
    ['an unknown one', { algorithms: ['RS256', 'EdDSA', 'rs256'] }, ['algorithms[1] enum', 'algorithms[2] enum']],
    ['an empty list', { algorithms: [] }, ['algorithms too_few_items']],
    ['one twice', { algorithms: ['RS256', 'RS256'] }, ['algorithms duplicate']],
    ['text', { algorithms: 'RS256' }, ['algorithms type']],
    ['HS256 with public keys', { algorithms: ['HS256'] }, ['algorithms[0] enum']],
    ['HS256 beside others', { algorithms: ['RS256', 'HS256'] }, ['algorithms[1] enum']],
    ['RS256 with a secret', { jwksUri: null, secret: SECRET, algorithms: ['RS256'] }, ['algorithms[0] enum']],
    [
      'HS256 beside others with a secret',
      { jwksUri: null, secret: SECRET, algorithms: ['HS256', 'ES256'] },
      ['algorithms[1] enum'],
    ],
  ])('refuses as algorithms: %s', async (_name, fields, faults) => {
    expectProblem(await create(fields), 422, 'validation_failed', faults);
  });

  it.each([
    ['an empty issuer', { issuer: '' }, ['issuer empty']],
    ['an issuer of 513 characters', { issuer: 'x'.repeat(513) }, ['issuer too_long']],
    ['an audience of 513 characters', { audience: 'x'.repeat(513) }, ['audience too_long']],
    ['names too long to be found', { issuer: '🎉'.repeat(512) }, ['issuer too_long']],
    ['an issuer with U+0000', { issuer: 'a\u0000' }, ['issuer invalid_characters']],
    ['an audience with half a character', { audience: 'a\ud800' }, ['audience invalid_characters']],
    ['an audience that is a list', { audience: ['campaigns'] }, ['audience type']],
    ['a claim without a name', { claims: { campaign: '' } }, ['claims.campaign empty']],
    ['a claim of 129 characters', { claims: { app: 'x'.repeat(129) } }, ['claims.app too_long']],
    ['a claim with U+0000', { claims: { app: 'a\u0000' } }, ['claims.app invalid_characters']],
    ['an unknown claim', { claims: { tenant: 'x' } }, ['claims.tenant unknown_field']],
    ['claims as a list', { claims: ['campaign'] }, ['claims type']],
    ['a campaign that is no name', { defaultCampaignId: 'spring sale' }, ['defaultCampaignId format']],
    ['no campaign', { allowedCampaignIds: [] }, ['allowedCampaignIds too_few_items']],
    ['a campaign twice', { allowedCampaignIds: ['a', 'a'] }, ['allowedCampaignIds duplicate']],
    [
      'an odd campaign',
      { allowedCampaignIds: ['a', '-a', 7] },
      ['allowedCampaignIds[1] format', 'allowedCampaignIds[2] type'],
    ],
    [
      'a default that is not allowed',
      { defaultCampaignId: 'a', allowedCampaignIds: ['b'] },
      ['defaultCampaignId enum'],
    ],
    ['a tolerance of 301', { clockToleranceSeconds: 301 }, ['clockToleranceSeconds range']],
    ['a tolerance of -1', { clockToleranceSeconds: -1 }, ['clockToleranceSeconds range']],
    ['half a second', { clockToleranceSeconds: 0.5 }, ['clockToleranceSeconds type']],
    ['an unknown field', { tenantId: 'x' }, ['tenantId unknown_field']],
  ])('is refused with %s', async (_name, fields, faults) => {
    expectProblem(await create(fields), 422, 'validation_failed', faults);
  });

  it('takes each limit itself', async () => {
    const campaigns = Array.from({ length: 1_000 }, (_, at) => `c${at}`);
    const { status } = await create({
      issuer: `${workspace.tenantId}${'x'.repeat(512 - 36)}`,
      audience: '\u00e9'.repeat(512),
      claims: { campaign: 'c'.repeat(128), app: 'a'.repeat(128) },
      allowedCampaignIds: campaigns,
      defaultCampaignId: 'c999',
      clockToleranceSeconds: 300,
    });
    expect(status).toBe(201);
    expectProblem(await create({ allowedCampaignIds: [...campaigns, 'x'] }), 422, 'validation_failed', [
      'allowedCampaignIds too_many_items',
    ]);
  });

  it('takes the longest names that there can be', async () => {
    const random = () =>
      String.fromCodePoint(...Array.from({ length: 325 }, () => 0x10000 + Math.floor(Math.random() * 0xfffff)));
    expect((await create({ issuer: random(), audience: random() })).status).toBe(201);
  });

  it('names every fault of shape and of meaning at once', async () => {
    const body = { audience: 7, algorithms: ['HS256', 'none'], jwksUri: 'ftp://x', secret: 'short', tolerance: 5 };
    const faults = ['issuer required', 'audience type', 'algorithms[1] enum', 'jwksUri format', 'secret too_short'];
    const more = ['secret conflicting_fields', 'tolerance unknown_field'];
    expectProblem(await admin.post(PATH, body), 422, 'validation_failed', [...faults, ...more]);
  });

  it.each([[[]], ['text'], [null], [7]])('refuses %j for a body', async (body) => {
    expectProblem(await admin.post(PATH, body), 422, 'validation_failed', [' type']);
  });

  it('leaves nothing behind when it is refused', async () => {
    await create({ algorithms: ['none'] });
    expect((await admin.get(PATH)).body.items).toEqual([]);
  });
});

describe('an issuer and audience', () => {
  it('are registered once in a workspace, and in any other as if nobody else had', async () => {
    const wanted = names();
    const first = await create(wanted);
    const other = await aWorkspace(service);
    const second = await create(wanted, other.admin);
    expect([second.status, { ...second.body, id: 0, createdAt: 0, createdBy: 0 }]).toEqual([
      201,
      { ...first.body, id: 0, createdAt: 0, createdBy: 0 },
    ]);
    for (const client of [other.admin, admin]) {
      const answer = await create(wanted, client);
      expectProblem(answer, 409, 'issuer_taken', []);
      const told = JSON.stringify(answer.body);
      expect([workspace.tenantId, first.body.id, wanted.issuer].filter((value) => told.includes(value))).toEqual([]);
    }
    expect((await create({ ...wanted, audience: 'others' }, other.admin)).status).toBe(201);
    expect((await create({ ...wanted, audience: 'Campaigns' }, other.admin)).status).toBe(201);
  });

  it('go to one of ten who ask at the same time in a workspace, and to one in each other', async () => {
    const clients = [admin, await aClient(service)];
    const wanted = names();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => create(wanted, clients[at % 2])));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, ...Array.from({ length: 18 }, () => 409)]);
    const created = answers.filter(({ status }) => status === 201).map(({ body }) => body);
    const listed = await Promise.all(clients.map(async (client) => (await client.get(PATH)).body.items));
    expect(listed.map(({ length }) => length)).toEqual([1, 1]);
    expect(listed.flat()).toEqual(expect.arrayContaining(created));
    // One of them was first.
    expect(created[0].createdAt).not.toBe(created[1].createdAt);
  });

  it('are free again when the issuer is deleted', async () => {
    const wanted = names();
    const { id } = (await create(wanted)).body;
    await remove(id);
    expect((await create(wanted, await aClient(service))).status).toBe(201);
  });
});

describe('a secret', () => {
  it('is shown in no answer', async () => {
    const created = await createWith({ secret: SECRET });
    expect([created.status, created.body]).toMatchObject([
      201,
      { algorithms: ['HS256'], keySource: 'secret', jwks: null, jwksUri: null },
    ]);
    const { id } = created.body;
    const answers = [created, await admin.get(`${PATH}/${id}`), await admin.get(PATH), await remove(id)];
    expect(JSON.stringify(answers)).not.toContain(SECRET);
    expect(JSON.stringify(answers)).not.toContain('"secret":');
  });

  it('stands in no table, in no encoding', async () => {
    const { id } = (await createWith({ secret: SECRET })).body;
    const tables = await withClient(service.databaseUrl, async (client) => {
      const found = await client.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
      const texts: string[] = [];
      for (const { tablename } of found.rows) {
        const { rows } = await client.query(`SELECT t::text AS text FROM ${tablename} t`);
        texts.push(...rows.map(({ text }) => text));
      }
      return texts.join('\n');
    });
    expect(tables).toContain(id);
    const spellings = (['utf8', 'hex', 'base64', 'base64url'] as const).map((form) =>
      Buffer.from(SECRET).toString(form),
    );
    expect(spellings.filter((spelling) => tables.includes(spelling))).toEqual([]);
  });

  it('is not taken where there is no SECRETS_KEY to keep it under', async () => {
    const keyless = await startApp({ SECRETS_KEY: '' });
    try {
      const client = (await aWorkspace(keyless)).admin;
      const answer = await client.post(PATH, { ...names(), secret: SECRET });
      expectProblem(answer, 422, 'validation_failed', ['secret secrets_key_missing']);
      expect(answer.body.message).toMatch(/SECRETS_KEY/);
      expect((await create({}, client)).status).toBe(201);
    } finally {
      await keyless.stop();
    }
  });
});

describe('GET and DELETE /v1/jwt-issuers', () => {
  it('show the record that was answered, and the deleted one once more', async () => {
    const { body } = await create({});
    expect(await admin.get(`${PATH}/${body.id}`)).toMatchObject({ status: 200, body });
    expect(await remove(body.id)).toMatchObject({ status: 200, body });
    for (const answer of [await admin.get(`${PATH}/${body.id}`), await remove(body.id)]) {
      expectProblem(answer, 404, 'not_found', []);
    }
    expect((await admin.get(PATH)).body).toEqual({ items: [], nextCursor: null });
  });

  it.each([UNKNOWN_ID, 'x', '1', `${UNKNOWN_ID}0`, '%00'])('know nothing of %s', async (id) => {
    expectProblem(await admin.get(`${PATH}/${id}`), 404, 'not_found', []);
    expectProblem(await remove(id), 404, 'not_found', []);
  });

  it('know nothing of another workspace', async () => {
    const { id } = (await create({})).body;
    const stranger = await aClient(service);
    expectProblem(await stranger.get(`${PATH}/${id}`), 404, 'not_found', []);
    expectProblem(await remove(id, stranger), 404, 'not_found', []);
    expect((await stranger.get(PATH)).body.items).toEqual([]);
    expect((await admin.get(`${PATH}/${id}`)).status).toBe(200);
  });

  it('list page by page, newest first, while others arrive', async () => {
    const created: string[] = [];
    for (let at = 0; at < 5; at += 1) created.push((await create({})).body.id);
    const pages = await pagesOf(admin, `${PATH}?limit=2`, () => create({}));
    expect(pages.flat().map(({ id }) => id)).toEqual(created.toReversed());
  });

  it('let one of ten who delete at the same time see what it was', async () => {
    const { id } = (await create({})).body;
    const statuses = (await Promise.all(Array.from({ length: 10 }, () => remove(id)))).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, ...Array.from({ length: 9 }, () => 404)]);
  });
});

describe('PUT /v1/jwt-issuers/{id}', () => {
  const change = (id: string, body: object, client = admin): Promise<Answer> =>
    client.send(`${PATH}/${id}`, JSON.stringify(body), { method: 'PUT' });

  it('puts a definition in the place of the other: what it leaves out has its default', async () => {
    const wanted = { claims: { campaign: 'c', app: 'a' }, defaultCampaignId: 'spring', clockToleranceSeconds: 9 };
    const { body: created } = await create({ ...wanted, allowedCampaignIds: ['spring'] });
    const { status, body } = await change(created.id, { jwks: { keys: [EC] }, algorithms: ['ES256'] });
    const { issuer, audience, createdAt, createdBy, id } = created;
    expect([status, body]).toEqual([
      200,
      {
        id,
        issuer,
        audience,
        createdAt,
        createdBy,
        algorithms: ['ES256'],
        keySource: 'jwks',
        jwksUri: null,
        jwks: { keys: [expect.objectContaining({ kid: EC['kid'] })] },
        claims: { campaign: 'campaign_id', app: 'app_id' },
        defaultCampaignId: null,
        allowedCampaignIds: null,
        clockToleranceSeconds: 5,
      },
    ]);
    expect((await admin.get(`${PATH}/${id}`)).body).toEqual(body);
  });

  it.each([
    ['jwksUri', { jwksUri: 'https://login.example.com/jwks' }],
    ['jwks', { jwks: { keys: [EC] } }],
    ['secret', { secret: SECRET }],
  ])('leaves the keys as they are without a source of keys: %s', async (keySource, source) => {
    const { body: created } = await createWith(source);
    const { status, body } = await change(created.id, { defaultCampaignId: 'spring' });
    expect([status, body]).toEqual([200, { ...created, defaultCampaignId: 'spring' }]);
    expect(body.keySource).toBe(keySource);
  });

  it.each([
    [
      'the pair',
      { issuer: 'https://other.example.com', audience: 'x' },
      ['issuer unknown_field', 'audience unknown_field'],
    ],
    ['two sources of keys', { secret: SECRET, jwks: { keys: [EC] } }, ['secret conflicting_fields']],
    ['an algorithm that the stored key does not fit', { algorithms: ['RS256'] }, ['jwks.keys[0] format']],
    ['an algorithm of secrets', { algorithms: ['HS256'] }, ['algorithms[0] enum', 'jwks.keys[0] format']],
    [
      'a default that is not allowed',
      { defaultCampaignId: 'a', allowedCampaignIds: ['b'] },
      ['defaultCampaignId enum'],
    ],
  ])('is refused with %s, and changes nothing', async (_name, body, faults) => {
    const { body: created } = await createWith({ jwks: { keys: [EC] } });
    const answer = await change(created.id, body);
    expectProblem(answer, 422, 'validation_failed');
    const found = answer.body.details.map(({ path, code }: any) => `${path} ${code}`);
    expect(found.toSorted()).toEqual(faults.toSorted());
    expect((await admin.get(`${PATH}/${created.id}`)).body).toEqual(created);
  });

  it('is for issuers of the workspace, and needs jwt-issuers:write', async () => {
    const { body: created } = await create({});
    const stranger = await aClient(service);
    for (const answer of [
      await change(created.id, {}, stranger),
      await change(UNKNOWN_ID, {}),
      await change('x', {}),
    ]) {
      expectProblem(answer, 404, 'not_found');
    }
    const reader = await workspace.client({ scopes: ['jwt-issuers:read'] });
    expectProblem(await change(created.id, {}, reader), 403, 'insufficient_scope');
  });
});
