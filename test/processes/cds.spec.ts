import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt, generateKeyPair, exportJWK } from 'jose';
import { cliProgram } from '../../src/cli/program';
import { startApp, type TestApp } from '../support/app';
import { type Answer, Client } from '../support/client';
import { runCds } from '../support/cds';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { startServiceProcess } from '../support/service-process';

/** The command within a service of this process: what it does, without the time that a process takes to start. */
async function within({ app }: TestApp, args: readonly string[]): Promise<{ out: string; said: string }> {
  const [out, said]: [string[], string[]] = [[], []];
  const program = cliProgram({
    out: (text) => out.push(text),
    say: (words) => said.push(words),
    within: (work) => work(app),
    withinMigrated: (work) => work(app),
    onDatabase: () => Promise.reject(new Error('Commands of the whole database run as processes here')),
  });
  await program.parseAsync(['node', 'cds', ...args]);
  return { out: out.join('\n'), said: said.join('\n') };
}

describe('cds, within a service', () => {
  let service: TestApp;
  let folder: string;

  beforeAll(async () => {
    service = await startApp({}, await freshDatabaseUrl('cds'));
    folder = await mkdtemp(join(tmpdir(), 'cds-files-'));
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });

  const aWorkspaceNamed = async (name: string): Promise<Client> =>
    new Client(service.url, (await within(service, ['workspaces', 'create', name])).out);

  it('makes a workspace once, and writes nothing but its admin key to standard output', async () => {
    const made = await within(service, ['workspaces', 'create', 'once']);
    expect(made.out).toMatch(/^cds_[0-9A-Za-z]{38}$/);
    expect(made.said).not.toContain(made.out);
    expect((await new Client(service.url, made.out).get('/v1/api-keys')).status).toBe(200);
    await expect(within(service, ['workspaces', 'create', 'once'])).rejects.toThrow(/exists/);
  });

  it('makes keys with the scopes, sources and days that it is told, by the command line', async () => {
    const admin = await aWorkspaceNamed('keys');
    const wanted = ['--scope', 'events:read', 'cdp-events:write', '--source', 'shop', 'till', '--expires-in-days', '3'];
    const made = await within(service, ['keys', 'create', '-w', 'keys', '--name', 'web shop', ...wanted]);
    expect((await new Client(service.url, made.out).get('/v1/events')).status).toBe(200);
    const { items } = (await admin.get('/v1/api-keys')).body;
    expect(items[0]).toMatchObject({
      name: 'web shop',
      scopes: ['events:read', 'cdp-events:write'],
      sources: ['shop', 'till'],
      createdBy: 'command line',
    });
    expect(Date.parse(items[0].expiresAt) - Date.parse(items[0].createdAt)).toBe(3 * 24 * 60 * 60 * 1000);
  });

  it('lists the keys of a workspace, and revokes one by its id, or by a hint that only one has', async () => {
    const admin = await aWorkspaceNamed('revoking');
    const create = ['keys', 'create', '-w', 'revoking', '--name', 'web shop', '--scope', 'events:read'];
    const [one, two] = [await within(service, create), await within(service, create)];
    const { items } = (await admin.get('/v1/api-keys')).body;
    const listed = await within(service, ['keys', 'list', '-w', 'revoking', '--json']);
    // The use by this very request is recorded a moment later.
    const unused = (keys: any[]) => keys.map((key) => ({ ...key, lastUsedAt: null }));
    expect(unused(listed.out.split('\n').map((line) => JSON.parse(line)))).toEqual(unused(items));
    const shown = (await within(service, ['keys', 'list', '-w', 'revoking'])).out.split('\n');
    expect(shown[0]).toMatch(/^id +hint +state +expires +scopes +name$/);
    expect(shown.slice(1).map((line) => line.split(/ {2,}/)[0])).toEqual(items.map(({ id }: any) => id));
    expect(listed.out + shown.join()).not.toContain(one.out);

    const revoke = (key: string) => within(service, ['keys', 'revoke', key, '-w', 'revoking']);
    await expect(revoke('web shop')).rejects.toThrow(/No key .* has this id or hint/);
    const [second, first] = items;
    expect((await revoke(first.id)).said).toContain(first.id);
    expect((await revoke(second.hint)).said).toContain(second.id);
    for (const { out } of [one, two]) expect((await new Client(service.url, out).get('/v1/events')).status).toBe(401);
    const active = await within(service, ['keys', 'list', '-w', 'revoking', '--state', 'ACTIVE', '--json']);
    expect(JSON.parse(active.out)).toMatchObject({ name: 'first admin key' });
    await aWorkspaceNamed('other-keys');
    const elsewhere = within(service, ['keys', 'revoke', items[2].id, '-w', 'other-keys']);
    await expect(elsewhere).rejects.toThrow(/No key of the workspace "other-keys"/);
  });

  it('asks for an id where several keys have one hint', async () => {
    const admin = await aWorkspaceNamed('hints');
    const create = ['keys', 'create', '-w', 'hints', '--name', 'x', '--scope', 'events:read'];
    await Promise.all([within(service, create), within(service, create)]);
    await rowsOf(service.databaseUrl, `UPDATE api_keys SET hint = 'cds_same…same' WHERE name = 'x'`);
    const revoking = within(service, ['keys', 'revoke', 'cds_same…same', '-w', 'hints']);
    await expect(revoking).rejects.toThrow(
      /2 keys have this hint\. Name one by its id: [0-9a-f-]{36}, [0-9a-f-]{36}\./,
    );
    expect((await admin.get('/v1/api-keys?state=ACTIVE')).body.items).toHaveLength(3);
  });

  it('lists the workspaces', async () => {
    await aWorkspaceNamed('listed');
    const lines = (await within(service, ['workspaces', 'list', '--json'])).out
      .split('\n')
      .map((each) => JSON.parse(each));
    expect(lines).toContainEqual({ name: 'listed', createdAt: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect((await within(service, ['workspaces', 'list'])).out).toMatch(/^name +made\n(?:.*\n)*listed +\d{4}/);
  });

  it('registers an issuer with keys from a file, and refuses what the service refuses', async () => {
    const admin = await aWorkspaceNamed('issuers');
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    const file = join(folder, 'jwks.json');
    await writeFile(file, JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: '1' }] }));
    const args = ['issuers', 'create', '-w', 'issuers', '--issuer', 'https://login.example.com/', '--audience', 'a'];
    const made = await within(service, [...args, '--jwks-file', file, '--default-campaign', 'summer']);
    const { items } = (await admin.get('/v1/jwt-issuers')).body;
    expect(items).toEqual([JSON.parse(made.out)]);
    expect(items[0]).toMatchObject({ keySource: 'jwks', defaultCampaignId: 'summer' });
    await expect(within(service, [...args, '--jwks-file', file])).rejects.toThrow(/registered already/);
    await expect(within(service, [...args, '--jwks-file', file, '--clock-tolerance', ''])).rejects.toThrow(
      /clock-tolerance.*whole number of seconds/,
    );
    await writeFile(file, 'no JSON');
    await expect(within(service, [...args, '--jwks-file', file])).rejects.toThrow(
      'The file of --jwks-file holds no JSON.',
    );
  });

  it('names the options that say where the keys of an issuer come from, and a file that cannot be read', async () => {
    const args = ['issuers', 'create', '--issuer', 'https://login.example.com/', '--audience', 'a'];
    const refusal = (...options: string[]) => within(service, [...args, ...options]).catch((error: unknown) => error);
    expect(await refusal()).toMatchObject({
      message: expect.stringMatching(/--jwks-uri, --jwks-file or --secret-file/),
      exitCode: 2,
    });
    const missing = join(folder, 'missing');
    for (const option of ['--secret-file', '--jwks-file']) {
      const message = `${missing} cannot be read (ENOENT).`;
      expect(await refusal(option, missing)).toMatchObject({ message, exitCode: 2 });
    }
  });

  it("mints tokens of the workspace's own development issuer, which it makes when it is not there", async () => {
    const admin = await aWorkspaceNamed('tokens');
    const args = ['tokens', 'mint', '-w', 'tokens', '--sub', 'alice', '--expires-in', '15m'];
    const [one, two] = await Promise.all([
      within(service, [...args, '--campaign', 'summer', '--session', 's1']),
      within(service, args),
    ]);
    const claims = decodeJwt(one.out);
    expect(claims).toMatchObject({ sub: 'alice', aud: 'tokens', campaign_id: 'summer', sid: 's1' });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(15 * 60);
    expect(decodeJwt(two.out)).not.toHaveProperty('campaign_id');
    expect((await admin.get('/v1/jwt-issuers')).body.items).toHaveLength(1);
    const read = (token: string, query = ''): Promise<Answer> =>
      new Client(service.url, token).get(`/v1/runtime/state${query}`);
    expect((await read(one.out)).status).toBe(200);
    expect((await read(two.out, '?campaign_id=any')).status).toBe(200);
  });

  it('says when the tokens of an issuer need the name of the workspace, and why', async () => {
    const [squatter, admin] = [await aWorkspaceNamed('squatter'), await aWorkspaceNamed('late')];
    const mint = (): Promise<{ out: string; said: string }> =>
      within(service, ['tokens', 'mint', '-w', 'late', '--sub', 'alice']);
    const pair = { issuer: 'urn:campaign-data-service:development', audience: 'late' };
    const { body } = await squatter.post('/v1/jwt-issuers', { ...pair, secret: 'a secret of the one that was first' });
    const minted = await mint();
    expect(minted.said).toMatch(/registered this issuer and audience first.*"X-Workspace: late"/);
    const read = (headers: Readonly<Record<string, string>>): Promise<Answer> =>
      new Client(service.url, minted.out).send('/v1/runtime/state?campaign_id=any', undefined, {
        method: 'GET',
        headers,
      });
    expect([(await read({})).status, (await read({ 'x-workspace': 'late' })).status]).toEqual([401, 200]);
    expect((await admin.get('/v1/jwt-issuers')).body.items).toHaveLength(1);
    const again = await within(service, ['issuers', 'create', '-w', 'late', '--development']);
    expect(again.said).toMatch(/"X-Workspace: late"/);

    await squatter.send(`/v1/jwt-issuers/${body.id}`, undefined, { method: 'DELETE' });
    expect((await mint()).said).toBe('');
  });

  it('knows no workspace that nobody has made', async () => {
    const args = ['keys', 'create', '-w', 'nowhere', '--name', 'x', '--scope', 'admin'];
    await expect(within(service, args)).rejects.toThrow(/no workspace "nowhere"/);
  });

  it('cannot make secrets without SECRETS_KEY, and says what to do', async () => {
    const { databaseUrl } = service;
    await aWorkspaceNamed('no-secrets');
    const ran = await runCds({ DATABASE_URL: databaseUrl }, ['tokens', 'mint', '-w', 'no-secrets', '--sub', 'alice']);
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect(ran.said).toMatch(/SECRETS_KEY/);
  });

  it('looks at no database with an older schema when it is to change nothing, and migrates none', async () => {
    const url = await freshDatabaseUrl('unmigrated', 'template1');
    for (const args of [
      ['export', '-w', 'default'],
      ['keys', 'list'],
      ['workspaces', 'list'],
    ]) {
      const ran = await runCds({ DATABASE_URL: url }, args);
      expect([ran.code, ran.out]).toEqual([1, '']);
      expect(ran.said).toMatch(/migrations of this version are pending.*npm run migrate/);
    }
    expect(await rowsOf(url, `SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`)).toEqual([]);
  });

  it('called with nonsense ends with 2', async () => {
    const ran = await runCds({ DATABASE_URL: service.databaseUrl }, ['nonsense']);
    expect([ran.code, ran.out]).toEqual([2, '']);
    expect(ran.said).toMatch(/unknown command/);
  });
});

describe('cds, on the embedded database', () => {
  let dataDir: string;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'cds-cli-'));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  it('looks at no folder without data when it is to change nothing, and makes none', async () => {
    const nowhere = join(dataDir, 'nowhere');
    for (const args of [
      ['workspaces', 'list'],
      ['keys', 'list'],
      ['export'],
      ['secrets', 'accept-key'],
      ['db', 'distribute', '--check'],
    ]) {
      const ran = await runCds({ DATA_DIR: nowhere }, args);
      expect([args, ran.code, ran.out, ran.said]).toEqual([
        args,
        1,
        '',
        `DATA_DIR (${nowhere}) holds no data. Set DATA_DIR or DATABASE_URL as for the service.\n`,
      ]);
    }
    expect(await readdir(dataDir)).toEqual([]);
  });

  it('works beside other commands on the same data', async () => {
    const names = ['one', 'two', 'three', 'four'];
    const ran = await Promise.all(
      names.map((name) => runCds({ DATA_DIR: join(dataDir, 'parallel') }, ['workspaces', 'create', name])),
    );
    expect(ran.map(({ code, said }) => (code === 0 ? code : said))).toEqual([0, 0, 0, 0]);
  });

  it('works alone and then beside a running service, on the same data', async () => {
    const environment = { DATA_DIR: dataDir };
    const first = await runCds(environment, ['workspaces', 'create', 'alone']);
    expect(first.code).toBe(0);
    expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).toBe(0o600);
    const service = await startServiceProcess(environment);
    try {
      expect((await new Client(service.url, first.out).get('/v1/events')).status).toBe(200);
      const second = await runCds(environment, ['workspaces', 'create', 'beside']);
      expect((await new Client(service.url, second.out).get('/v1/events')).status).toBe(200);
      const token = await runCds(environment, ['tokens', 'mint', '-w', 'beside', '--sub', 'alice']);
      expect(token.code).toBe(0);
    } finally {
      await service.stop();
    }
  });
});
