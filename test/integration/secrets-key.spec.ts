import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSettings } from '../../src/platform/config/env';
import type { Settings } from '../../src/platform/config/settings';
import { messageOf } from '../../src/platform/errors/error-summary';
import { localSecretsKey } from '../../src/platform/secrets/local-secrets-key';
import { SecretBox } from '../../src/platform/secrets/secret-box';
import { withSecretsKey } from '../../src/server/secrets-key';
import { freshDatabaseUrl, rowsOf } from '../support/database';

const ONE = 'the-first-secrets-key-of-40-characters-xx';
const OTHER = 'another-secrets-key-of-40-characters-xxxx';
const REFUSED = /is not the key that this database was used with/;

let url: string;
let dataDir: string;

beforeEach(async () => {
  url = await freshDatabaseUrl('key');
  dataDir = await mkdtemp(join(tmpdir(), 'cds-key-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

/** A start with an external database and this key. */
const start = (key?: string): Promise<Settings> =>
  withSecretsKey(readSettings({ DATABASE_URL: url, ...(key === undefined ? {} : { SECRETS_KEY: key }) }), { url });

/** A start with an embedded database, which is the same one here. */
const startEmbedded = (key?: string): Promise<Settings> =>
  withSecretsKey(readSettings({ DATA_DIR: dataDir, ...(key === undefined ? {} : { SECRETS_KEY: key }) }), { url });

async function sealWith(secretsKey: string): Promise<void> {
  const [tenantId, id] = [randomUUID(), randomUUID()];
  const sealed = new SecretBox({ secretsKey }).seal('secret', tenantId, id);
  await rowsOf(
    url,
    `INSERT INTO jwt_issuers (tenant_id, id, issuer, audience, algorithms, secret, campaign_claim, app_claim,
       clock_tolerance_seconds, origin, created_at, created_by)
     VALUES ($1, $2, $4, 'a', '{HS256}', $3, 'c', 'a', 5, 'api', now(), 'test')`,
    [tenantId, id, sealed, `https://${id}.example.com`],
  );
}

const eraseSomebody = (): Promise<unknown> =>
  rowsOf(url, `INSERT INTO erased_identifiers VALUES ($1, '\\x00', $1, now())`, [randomUUID()]);

describe('a database remembers which key it is used with', () => {
  it('of nodes that start at once with two keys, those with one of them may go on', async () => {
    const keys = Array.from({ length: 8 }, (_unused, index) => (index % 2 === 0 ? ONE : OTHER));
    const started = await Promise.allSettled(keys.map((key) => start(key)));
    const winners = keys.filter((_key, index) => started[index]?.status === 'fulfilled');
    expect(winners).toHaveLength(4);
    expect(new Set(winners).size).toBe(1);
  });

  it('and says so, in one line that holds no key', async () => {
    await start(ONE);
    const refusal = await start(OTHER).catch(messageOf);
    expect(refusal).toMatch(REFUSED);
    expect(refusal).toMatch(/Set it as it was\. .* npm run cds -- secrets accept-key$/);
    expect(refusal).not.toMatch(new RegExp(`${ONE}|${OTHER}|\\n`));
    expect((await start(ONE)).secretsKey).toBe(ONE);
  });

  it('by a value that is not the key, nor the hash of it', async () => {
    await start(ONE);
    const [row] = await rowsOf<{ check_value: Buffer }>(url, 'SELECT check_value FROM secrets_key_checks');
    expect(row?.check_value).toHaveLength(32);
    const box = new SecretBox({ secretsKey: ONE });
    expect(row?.check_value).toEqual(box.checkValue);
    expect(row?.check_value).not.toEqual(new SecretBox({ secretsKey: OTHER }).checkValue);
  });
});

describe('an external database without SECRETS_KEY', () => {
  it('is served as long as nothing was ever written under a key', async () => {
    expect((await start()).secretsKey).toBeUndefined();
  });

  it.each([
    ['a start', () => start(ONE)],
    ['a shared secret', () => sealWith(ONE)],
    ['an erased person', () => eraseSomebody()],
  ])('is refused once it was used with a key: %s', async (_what, use) => {
    await use();
    await expect(start()).rejects.toThrow(/^SECRETS_KEY is not set, and this database was used with one\./);
  });
});

describe('an embedded database', () => {
  it('gets a key once, and is refused when the file is missing, without making another', async () => {
    const { secretsKey } = await startEmbedded();
    expect((await startEmbedded()).secretsKey).toBe(secretsKey);
    await rm(join(dataDir, 'secrets.key'));
    await expect(startEmbedded()).rejects.toThrow(`${join(dataDir, 'secrets.key')} is missing`);
    expect(existsSync(join(dataDir, 'secrets.key'))).toBe(false);
  });

  it('is refused when the file holds another key', async () => {
    await startEmbedded();
    await writeFile(join(dataDir, 'secrets.key'), OTHER);
    await expect(startEmbedded()).rejects.toThrow(/^The key in \S+ is not the one .* Put the former file back\./);
  });

  it('is refused with a SECRETS_KEY beside it, and says that the one in the folder is right', async () => {
    await startEmbedded();
    await expect(startEmbedded(OTHER)).rejects.toThrow(
      /^SECRETS_KEY is not .* The one in \S+ is: unset SECRETS_KEY\.$/,
    );
  });
});

describe('an installation that is older than the check', () => {
  it('takes the key that opens one of its secrets, and no other', async () => {
    await sealWith(ONE);
    await expect(start(OTHER)).rejects.toThrow(REFUSED);
    expect((await start(ONE)).secretsKey).toBe(ONE);
    await expect(start(OTHER)).rejects.toThrow(REFUSED);
  });

  it('whose key was changed before takes one that opens some of them', async () => {
    await sealWith(ONE);
    await sealWith(OTHER);
    expect((await start(OTHER)).secretsKey).toBe(OTHER);
  });

  it('that has nothing but hashes takes the key that is there, since none can be tried', async () => {
    await eraseSomebody();
    await localSecretsKey(dataDir);
    await startEmbedded();
    await expect(startEmbedded(OTHER)).rejects.toThrow(REFUSED);
  });

  it('that has nothing but hashes, and whose file is missing, gets no new key', async () => {
    await eraseSomebody();
    await expect(startEmbedded()).rejects.toThrow(/secrets\.key is missing/);
  });
});
