import { copyFile, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { aBackedUpInstallation, expectServesAll, restore, type BackedUpInstallation } from '../support/backup';
import { runCds, runScript } from '../support/cds';
import { freshDatabaseUrl, rowsOf } from '../support/database';

let backedUp: BackedUpInstallation;
let folder: string;
let backup: string;

beforeAll(async () => {
  backedUp = await aBackedUpInstallation();
  ({ folder, backup } = backedUp);
});
afterAll(() => backedUp.remove());

describe('cds backup', () => {
  it('writes a file for its owner only, and nothing else', async () => {
    expect((await stat(backup)).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).sort()).toEqual(['first', 'keyless.backup', 'one.backup']);
  });

  it('holds the key of an embedded database, unless it is to be left out', async () => {
    expect(gunzipSync(await readFile(backup)).includes(backedUp.secretsKey)).toBe(true);
    expect(gunzipSync(await readFile(backedUp.keyless)).includes(backedUp.secretsKey)).toBe(false);
  });

  it('never takes the place of a file, nor leaves one behind when it cannot go on', async () => {
    const before = await readFile(backup);
    const ran = await runCds({ DATA_DIR: join(folder, 'first') }, ['backup', backup]);
    expect([ran.code, ran.said]).toEqual([1, `${backup} exists already. Name another file, or remove it.\n`]);
    expect(await readFile(backup)).toEqual(before);
    const astray = await runCds({ DATA_DIR: join(folder, 'first') }, ['backup', join(folder, 'no', 'x')]);
    expect([astray.code, astray.said]).toEqual([1, `${join(folder, 'no', 'x')} cannot be written (ENOENT).\n`]);
    const away = await runCds({ DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none' }, ['backup', join(folder, 'x')]);
    expect(away.code).toBe(1);
    const nowhere = await runCds({ DATA_DIR: join(folder, 'nowhere') }, ['backup', join(folder, 'x')]);
    expect([nowhere.code, nowhere.said]).toEqual([1, expect.stringContaining('holds no data')]);
    const url = await freshDatabaseUrl('nothing', 'template1');
    const nothing = await runCds({ DATABASE_URL: url }, ['backup', join(folder, 'x')]);
    expect([nothing.code, nothing.said]).toEqual([1, expect.stringContaining('is DATABASE_URL right?')]);
    await rowsOf(url, 'CREATE TABLE foreign_table AS SELECT 1 AS x');
    const foreign = await runCds({ DATABASE_URL: url }, ['backup', join(folder, 'x')]);
    expect([foreign.code, foreign.said]).toEqual([1, expect.stringContaining('is DATABASE_URL right?')]);
    expect((await readdir(folder)).filter((name) => /^(?:x|nowhere)/.test(name))).toEqual([]);
  });

  it('names its file where the disk is full, and leaves nothing of it', async () => {
    const file = join(folder, 'full');
    // A file may not have more than 1 KiB: the system refuses to write on, as it does on a full disk.
    const script = `trap '' XFSZ; ulimit -f 1; $CDS backup ${file}`;
    const { code, said } = await runScript({ DATABASE_URL: await freshDatabaseUrl('full') }, script);
    expect([code, said]).toEqual([1, `${file} cannot be written (EFBIG).\n`]);
    expect((await readdir(folder)).filter((name) => name.startsWith('full'))).toEqual([]);
  });
});

describe('cds restore', () => {
  it('brings everything back in another folder, and work that was left is done', async () => {
    const dataDir = join(folder, 'second');
    const ran = await restore(dataDir, backup);
    expect([ran.code, ran.said]).toEqual([0, expect.stringMatching(/^Restored: \d+ rows of \d+ tables/)]);
    expect(ran.said).toMatch(/Keys that were revoked since are valid again/);
    expect((await stat(join(dataDir, 'secrets.key'))).mode & 0o777).toBe(0o600);
    await expectServesAll(backedUp.installation, { DATA_DIR: dataDir });
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
});
