import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runCds, startCds } from '../support/cds';
import { freshDatabaseUrl, rowsOf } from '../support/database';
import { startServiceProcess } from '../support/service-process';
import { until } from '../support/until';
import { fillInstallation, type WholeInstallation } from '../support/whole-installation';

const ADMIN_KEY = 'backup-admin-key-backup-admin-key-backup';
const OTHER_KEY = 'another-secrets-key-of-more-than-32-characters';
const REGION = { DEFAULT_PHONE_REGION: 'DE', BOOTSTRAP_ADMIN_KEY: ADMIN_KEY };

let folder: string;
let installation: WholeInstallation;
/** Made beside the running service. */
let backup: string;
/** The same without the key. */
let keyless: string;
let secretsKey: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cds-backup-'));
  const dataDir = join(folder, 'first');
  const service = await startServiceProcess({ ...REGION, DATA_DIR: dataDir, ROLE: 'api' });
  installation = await fillInstallation(service);
  backup = join(folder, 'one.backup');
  const ran = await runCds({ DATA_DIR: dataDir }, ['backup', backup]);
  expect([ran.code, ran.out]).toEqual([0, '']);
  keyless = join(folder, 'keyless.backup');
  const other = await runCds({ DATA_DIR: dataDir }, ['backup', '--without-secrets-key', keyless]);
  expect([other.code, other.said]).toEqual([0, expect.stringContaining('It holds no key')]);
  const refused = await runCds({ DATA_DIR: dataDir }, ['restore', '--force', backup]);
  expect([refused.code, refused.said]).toEqual([1, expect.stringContaining('is in use by another service process')]);
  expect(await service.stop()).toBe(0);
  secretsKey = (await readFile(join(dataDir, 'secrets.key'), 'utf8')).trim();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const restore = (dataDir: string, file: string, ...options: string[]) =>
  runCds({ DATA_DIR: dataDir }, ['restore', ...options, file]);

async function servesAll(environment: Readonly<Record<string, string>>): Promise<void> {
  const service = await startServiceProcess({ ...REGION, ...environment });
  try {
    await installation.verify(service.url);
  } finally {
    expect(await service.stop()).toBe(0);
  }
}

/** Whether there is a workspace of this name, as a command finds that has asked for the key. */
async function hasWorkspace(dataDir: string, name: string): Promise<boolean> {
  const { code, said } = await runCds({ DATA_DIR: dataDir }, ['workspaces', 'create', name]);
  if (code !== 0 && !said.includes('exists')) throw new Error(said);
  return code !== 0;
}

describe('cds backup', () => {
  it('writes a file for its owner only, and nothing else', async () => {
    expect((await stat(backup)).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).sort()).toEqual(['first', 'keyless.backup', 'one.backup']);
  });

  it('holds the key of an embedded database, unless it is to be left out', async () => {
    expect(gunzipSync(await readFile(backup)).includes(secretsKey)).toBe(true);
    expect(gunzipSync(await readFile(keyless)).includes(secretsKey)).toBe(false);
  });

  it('never takes the place of a file, nor leaves one behind when it cannot go on', async () => {
    const before = await readFile(backup);
    const ran = await runCds({ DATA_DIR: join(folder, 'first') }, ['backup', backup]);
    expect([ran.code, ran.said]).toEqual([1, `${backup} exists already. Name another file, or remove it.\n`]);
    expect(await readFile(backup)).toEqual(before);
    const away = await runCds({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }, ['backup', join(folder, 'x')]);
    expect(away.code).toBe(1);
    const nowhere = await runCds({ DATA_DIR: join(folder, 'nowhere') }, ['backup', join(folder, 'x')]);
    expect([nowhere.code, nowhere.said]).toEqual([1, expect.stringContaining('holds no data')]);
    const url = await freshDatabaseUrl('nothing', 'template1');
    const nothing = await runCds({ DATABASE_URL: url }, ['backup', join(folder, 'x')]);
    expect([nothing.code, nothing.said]).toEqual([1, expect.stringContaining('is DATABASE_URL right?')]);
    expect((await readdir(folder)).filter((name) => /^(?:x|nowhere)/.test(name))).toEqual([]);
  });
});

describe('cds restore', () => {
  it('brings everything back in another folder, and work that was left is done', async () => {
    const dataDir = join(folder, 'second');
    const ran = await restore(dataDir, backup);
    expect([ran.code, ran.said]).toEqual([0, expect.stringMatching(/^Restored: \d+ rows of \d+ tables/)]);
    expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).toBe(0o600);
    await servesAll({ DATA_DIR: dataDir });
  });

  it('brings everything back in a PostgreSQL of yours, and says where the key is', async () => {
    const url = await freshDatabaseUrl('restore', 'template1');
    const ran = await runCds({ DATABASE_URL: url }, ['restore', backup]);
    expect([ran.code, ran.said]).toEqual([0, expect.stringContaining('Set SECRETS_KEY to the key of the backup')]);
    await servesAll({ DATABASE_URL: url, SECRETS_KEY: secretsKey });
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
    const start = startServiceProcess({ ...REGION, DATA_DIR: dataDir });
    await expect(start).rejects.toThrow(/secrets\.key is missing, and this database was used with the key in it/);
    expect(existsSync(file)).toBe(false);
    const other = { DATA_DIR: dataDir, SECRETS_KEY: OTHER_KEY };
    await expect(startServiceProcess({ ...REGION, ...other })).rejects.toThrow(/SECRETS_KEY is not the key/);
    await writeFile(file, secretsKey, { mode: 0o600 });
    expect(await hasWorkspace(dataDir, 'default')).toBe(true);
  });

  it('of a file that is damaged, cut short or something else leaves nothing', async () => {
    const damaged = join(folder, 'damaged.backup');
    const dataDir = join(folder, 'fifth');
    await copyFile(backup, damaged);
    await truncate(damaged, (await stat(damaged)).size - 40);
    const cut = await restore(dataDir, damaged);
    expect([cut.code, cut.said]).toEqual([1, expect.stringContaining(`${damaged} is damaged, cut short or no backup`)]);
    await writeFile(damaged, 'no backup');
    const none = await restore(dataDir, damaged);
    expect([none.code, none.said]).toEqual([1, expect.stringContaining(`${damaged} is damaged, cut short or no`)]);
    const left = await readdir(join(dataDir, 'postgres'));
    expect(left.filter((name) => !['claims', 'server.log'].includes(name))).toEqual([]);
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
