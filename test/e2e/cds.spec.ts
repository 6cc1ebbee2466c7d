import { spawn } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { decodeJwt, generateKeyPair, exportJWK } from 'jose';
import { startApp, type TestApp } from '../support/app';
import { Client } from '../support/client';
import { freshDatabaseUrl, withClient } from '../support/database';
import { startServiceProcess } from '../support/service-process';

const CDS = join(__dirname, '..', '..', 'dist', 'src', 'cli', 'main.js');
const SECRETS_KEY = 'a-secrets-key-for-tests-of-40-characters';

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly said: string;
}

/** The command as it is built, with nothing in its environment but this. */
async function cds(environment: Readonly<Record<string, string>>, args: readonly string[], input = ''): Promise<Ran> {
  const child = spawn(process.execPath, [CDS, ...args], { env: { PATH: process.env['PATH'], ...environment } });
  child.stdin.end(input);
  const exited = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [code, out, said] = await Promise.all([exited, text(child.stdout), text(child.stderr)]);
  return { code, out: out.trim(), said };
}

describe('cds, on a PostgreSQL server', () => {
  let environment: Readonly<Record<string, string>>;
  let service: TestApp;

  beforeAll(async () => {
    const url = await freshDatabaseUrl('cds');
    environment = { DATABASE_URL: url, SECRETS_KEY };
    service = await startApp({}, url);
  });
  afterAll(() => service.stop());

  it('makes a workspace once, and writes nothing but its admin key to standard output', async () => {
    const made = await cds(environment, ['workspaces', 'create', 'once']);
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^cds_[0-9A-Za-z]{38}$/) });
    expect(made.said).not.toContain(made.out);
    const { status } = await new Client(service.url, made.out).get('/v1/api-keys');
    expect(status).toBe(200);
    const again = await cds(environment, ['workspaces', 'create', 'once']);
    expect([again.code, again.out]).toEqual([1, '']);
    expect(again.said).toMatch(/exists/);
  });

  it('makes keys with the scopes, sources and days that it is told, by the command line', async () => {
    const admin = (await cds(environment, ['workspaces', 'create', 'keys'])).out;
    const wanted = ['--scope', 'events:read', 'cdp-events:write', '--source', 'shop', 'till', '--expires-in-days', '3'];
    const made = await cds(environment, ['keys', 'create', '-w', 'keys', '--name', 'web shop', ...wanted]);
    expect(made.code).toBe(0);
    expect((await new Client(service.url, made.out).get('/v1/events')).status).toBe(200);
    const { items } = (await new Client(service.url, admin).get('/v1/api-keys')).body;
    expect(items[0]).toMatchObject({
      name: 'web shop',
      scopes: ['events:read', 'cdp-events:write'],
      sources: ['shop', 'till'],
      createdBy: 'command line',
    });
    expect(Date.parse(items[0].expiresAt) - Date.parse(items[0].createdAt)).toBe(3 * 24 * 60 * 60 * 1000);
  });

  it('registers an issuer with keys from standard input, and refuses what the service refuses', async () => {
    const admin = (await cds(environment, ['workspaces', 'create', 'issuers'])).out;
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: '1' }] });
    const args = ['issuers', 'create', '-w', 'issuers', '--issuer', 'https://login.example.com/', '--audience', 'a'];
    const made = await cds(environment, [...args, '--jwks-file', '-', '--default-campaign', 'summer'], jwks);
    const { items } = (await new Client(service.url, admin).get('/v1/jwt-issuers')).body;
    expect(items).toEqual([JSON.parse(made.out)]);
    expect(items[0]).toMatchObject({ keySource: 'jwks', defaultCampaignId: 'summer' });
    const again = await cds(environment, [...args, '--jwks-file', '-'], jwks);
    expect([again.code, again.out]).toEqual([1, '']);
    expect(again.said).toMatch(/registered already/);
    const none = await cds(environment, [...args, '--jwks-file', '-'], 'no JSON');
    expect([none.code, none.said]).toEqual([1, 'The file of --jwks-file holds no JSON.\n']);
  });

  it("mints tokens of the workspace's own development issuer, which it makes when it is not there", async () => {
    await cds(environment, ['workspaces', 'create', 'tokens']);
    const args = ['tokens', 'mint', '-w', 'tokens', '--sub', 'alice', '--expires-in', '15m'];
    const [one, two] = await Promise.all([
      cds(environment, [...args, '--campaign', 'summer', '--session', 's1']),
      cds(environment, args),
    ]);
    expect([one.code, two.code]).toEqual([0, 0]);
    const claims = decodeJwt(one.out);
    expect(claims).toMatchObject({ sub: 'alice', aud: 'tokens', campaign_id: 'summer', sid: 's1' });
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(15 * 60);
    expect(decodeJwt(two.out)).not.toHaveProperty('campaign_id');
    const stored = await withClient(environment['DATABASE_URL'] ?? '', (client) =>
      client.query(
        "SELECT count(*)::int AS count FROM jwt_issuers WHERE origin = 'development' AND audience = 'tokens'",
      ),
    );
    expect(stored.rows).toEqual([{ count: 1 }]);
  });

  it.each([
    [['keys', 'create', '-w', 'nowhere', '--name', 'x', '--scope', 'admin'], 1, /no workspace "nowhere"/],
    [['nonsense'], 2, /unknown command/],
  ])('called as %j ends with %d and says what is wrong', async (args, code, words) => {
    const ran = await cds(environment, args);
    expect([ran.code, ran.out]).toEqual([code, '']);
    expect(ran.said).toMatch(words);
  });

  it('cannot make secrets without SECRETS_KEY, and says what to do', async () => {
    await cds(environment, ['workspaces', 'create', 'no-secrets']);
    const { DATABASE_URL } = environment as { DATABASE_URL: string };
    const ran = await cds({ DATABASE_URL }, ['tokens', 'mint', '-w', 'no-secrets', '--sub', 'alice']);
    expect([ran.code, ran.out]).toEqual([1, '']);
    expect(ran.said).toMatch(/SECRETS_KEY/);
  });
});

describe('cds, on the embedded database', () => {
  let dataDir: string;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'cds-cli-'));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  it('works alone and then beside a running service, on the same data', async () => {
    const environment = { DATA_DIR: dataDir };
    const first = await cds(environment, ['workspaces', 'create', 'alone']);
    expect(first.code).toBe(0);
    expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).toBe(0o600);
    const service = await startServiceProcess(environment);
    try {
      expect((await new Client(service.url, first.out).get('/v1/events')).status).toBe(200);
      const second = await cds(environment, ['workspaces', 'create', 'beside']);
      expect((await new Client(service.url, second.out).get('/v1/events')).status).toBe(200);
      const token = await cds(environment, ['tokens', 'mint', '-w', 'beside', '--sub', 'alice']);
      expect(token.code).toBe(0);
    } finally {
      await service.stop();
    }
  });
});
