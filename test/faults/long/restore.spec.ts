import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  aBackedUpInstallation,
  expectServesAll,
  hasWorkspace,
  restore,
  RESTORED_SERVICE,
  type BackedUpInstallation,
} from '../../support/backup';
import { runCds, startCds } from '../../support/cds';
import { freshDatabaseUrl, rowsOf } from '../../support/database';
import { startServiceProcess } from '../../support/service-process';
import { until } from '../../support/until';
import type { WholeInstallation } from '../../support/whole-installation';

const OTHER_KEY = 'another-secrets-key-of-more-than-32-characters';

let backedUp: BackedUpInstallation;
let folder: string;
let backup: string;
let keyless: string;
let secretsKey: string;
let installation: WholeInstallation;

beforeAll(async () => {
  backedUp = await aBackedUpInstallation();
  ({ folder, backup, keyless, secretsKey, installation } = backedUp);
});
afterAll(() => backedUp.remove());

describe('cds restore', () => {
  it('brings everything back in a PostgreSQL of yours, and says where the key is', async () => {
    const url = await freshDatabaseUrl('restore', 'template1');
    const ran = await runCds({ DATABASE_URL: url }, ['restore', backup]);
    expect([ran.code, ran.said]).toEqual([0, expect.stringContaining('Set SECRETS_KEY to the key of the backup')]);
    await expectServesAll(installation, { DATABASE_URL: url, SECRETS_KEY: secretsKey });
    const full = await runCds({ DATABASE_URL: url, SECRETS_KEY: secretsKey }, ['restore', backup]);
    expect([full.code, full.said]).toEqual([1, expect.stringMatching(/The database is not empty: \S+ has rows/)]);
    const forced = await runCds({ DATABASE_URL: url, SECRETS_KEY: secretsKey }, ['restore', '--force', backup]);
    expect([forced.code, forced.said]).toEqual([1, expect.stringContaining('--force is for the embedded database')]);
  });

  it('leaves data that are there alone; with --force it keeps them and their key beside the restored ones', async () => {
    const dataDir = join(folder, 'third');
    expect((await runCds({ DATA_DIR: dataDir }, ['workspaces', 'create', 'mine'])).code).toBe(0);
    const mine = await readFile(join(dataDir, 'secrets.key'), 'utf8');
    const refused = await restore(dataDir, backup);
    expect([refused.code, refused.said]).toEqual([1, expect.stringContaining(`DATA_DIR (${dataDir}) holds data`)]);
    expect(await hasWorkspace(dataDir, 'mine')).toBe(true);
    const ran = await restore(dataDir, backup, '--force');
    expect([ran.code, ran.said]).toEqual([0, expect.stringMatching(/are replaced[^]*kept in (\S+former-data-\S+)\./)]);
    const former = /kept in (\S+)\. Once/.exec(ran.said)?.[1] ?? '';
    expect(existsSync(join(former, 'PG_VERSION'))).toBe(true);
    expect(await readFile(`${former}.secrets.key`, 'utf8')).toBe(mine);
    expect(await hasWorkspace(dataDir, 'default')).toBe(true);
  });

  it('of a backup without the key says what to do, and the service starts once that is done', async () => {
    const dataDir = join(folder, 'fourth');
    const ran = await restore(dataDir, keyless);
    const file = join(dataDir, 'secrets.key');
    expect([ran.code, ran.said]).toEqual([0, expect.stringContaining(`Put the key of its installation into ${file}`)]);
    const start = startServiceProcess({ ...RESTORED_SERVICE, DATA_DIR: dataDir });
    await expect(start).rejects.toThrow(/secrets\.key is missing, and this database was used with the key in it/);
    expect(existsSync(file)).toBe(false);
    const other = { DATA_DIR: dataDir, SECRETS_KEY: OTHER_KEY };
    await expect(startServiceProcess({ ...RESTORED_SERVICE, ...other })).rejects.toThrow(/SECRETS_KEY is not the key/);
    await writeFile(file, secretsKey, { mode: 0o600 });
    expect(await hasWorkspace(dataDir, 'default')).toBe(true);
  });

  it('killed at any moment leaves the data that were there, or the restored ones', async () => {
    const dataDir = join(folder, 'sixth');
    const postgres = join(dataDir, 'postgres');
    expect((await runCds({ DATA_DIR: dataDir }, ['workspaces', 'create', 'mine'])).code).toBe(0);
    const isFilling = async (): Promise<boolean> => {
      const unfinished = (await readdir(postgres)).find((name) => name.startsWith('initialising-'));
      return unfinished !== undefined && existsSync(join(postgres, unfinished, 'data', 'postmaster.pid'));
    };
    const { child, ended } = startCds({ DATA_DIR: dataDir }, ['restore', '--force', backup]);
    await until(isFilling, 60);
    child.kill('SIGKILL');
    await ended;
    expect(await hasWorkspace(dataDir, 'mine')).toBe(true);
    expect((await readdir(postgres)).sort()).toEqual(['claims', 'data', 'server.log']);
    expect((await restore(dataDir, backup, '--force')).code).toBe(0);
    expect(await hasWorkspace(dataDir, 'default')).toBe(true);
  });
});

it('with DATABASE_URL a backup holds no key, and its rows come back the same', async () => {
  const url = await freshDatabaseUrl('backed');
  await rowsOf(
    url,
    `INSERT INTO workspaces SELECT gen_random_uuid(), E'w\\t\\n\\\\. ' || i, now() FROM generate_series(1, 500) i`,
  );
  const file = join(folder, 'external.backup');
  const ran = await runCds({ DATABASE_URL: url, SECRETS_KEY: OTHER_KEY }, ['backup', file]);
  expect([ran.code, ran.said]).toEqual([0, expect.stringContaining('It holds no key')]);
  const copy = await freshDatabaseUrl('copy', 'template1');
  expect((await runCds({ DATABASE_URL: copy }, ['restore', file])).code).toBe(0);
  const sum = `SELECT count(*)::int AS rows, md5(string_agg(w::text, ',' ORDER BY name)) FROM workspaces w`;
  expect(await rowsOf(copy, sum)).toEqual(await rowsOf(url, sum));
});
