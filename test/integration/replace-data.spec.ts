import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finishReplacement, removeUnfinished } from '../../src/platform/postgres/embedded/replace-data';

const FORMER = 'former-data-postgres-17';

let dataDir: string;
let home: string;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'cds-replace-'));
  home = join(dataDir, 'postgres');
  await mkdir(home);
});
afterEach(() => rm(dataDir, { recursive: true }));

async function aFolder(path: string, version: number): Promise<void> {
  await mkdir(join(home, path), { recursive: true });
  await writeFile(join(home, path, 'PG_VERSION'), `${version}\n`);
}

const versionIn = async (path: string): Promise<number> =>
  Number(await readFile(join(home, path, 'PG_VERSION'), 'utf8'));
const key = (path: string): Promise<string> => readFile(join(dataDir, path), 'utf8');

describe('a replacement that was cut short once its folder was complete', () => {
  it('before the first rename: goes on, keeps the former data, and their key beside them', async () => {
    await aFolder('data', 17);
    await aFolder('next/data', 18);
    await writeFile(join(home, 'next', 'secrets.key'), 'new\n');
    await writeFile(join(dataDir, 'secrets.key'), 'old\n');
    expect(await finishReplacement(home)).toBe(join(home, FORMER));
    expect((await readdir(home)).sort()).toEqual(['data', FORMER, `${FORMER}.secrets.key`]);
    expect([await versionIn('data'), await versionIn(FORMER)]).toEqual([18, 17]);
    expect([await key('secrets.key'), await key(`postgres/${FORMER}.secrets.key`)]).toEqual(['new\n', 'old\n']);
  });

  it('between the renames: the complete folder becomes the data', async () => {
    await aFolder(FORMER, 17);
    await aFolder('next/data', 18);
    await finishReplacement(home);
    expect((await readdir(home)).sort()).toEqual(['data', FORMER]);
    expect(await versionIn('data')).toBe(18);
  });

  it('after them: only the empty folder goes', async () => {
    await aFolder('data', 18);
    await mkdir(join(home, 'next'));
    expect(await finishReplacement(home)).toBeUndefined();
    expect(await readdir(home)).toEqual(['data']);
  });

  it('beside former data of the same version: they get a name of their own', async () => {
    await aFolder('data', 17);
    await aFolder(FORMER, 17);
    await aFolder(`${FORMER}-2`, 17);
    await aFolder('next/data', 18);
    expect(await finishReplacement(home)).toBe(join(home, `${FORMER}-3`));
    expect((await readdir(home)).sort()).toEqual(['data', FORMER, `${FORMER}-2`, `${FORMER}-3`]);
  });

  it('any number of times', async () => {
    await aFolder('data', 17);
    await aFolder('next/data', 18);
    await finishReplacement(home);
    expect(await finishReplacement(home)).toBeUndefined();
    expect([await versionIn('data'), await versionIn(FORMER)]).toEqual([18, 17]);
  });
});

it('a folder that is not complete goes, and nothing else does', async () => {
  await aFolder('data', 17);
  await aFolder('initialising-abc/data', 18);
  await removeUnfinished(home);
  expect(await finishReplacement(home)).toBeUndefined();
  expect(await readdir(home)).toEqual(['data']);
});

it('a folder goes with the server that initdb has left in it, whose service was killed', async () => {
  await aFolder('initialising-abc/data', 18);
  const folder = join(home, 'initialising-abc', 'data');
  const server = spawn('sleep', ['600'], { argv0: 'postgres --single', cwd: folder });
  await once(server, 'spawn');
  // Negative: of a single-user server.
  await writeFile(join(folder, 'postmaster.pid'), `-${server.pid}\n`);
  const ended = once(server, 'exit');
  await removeUnfinished(home);
  await ended;
  expect(await readdir(home)).toEqual([]);
});
