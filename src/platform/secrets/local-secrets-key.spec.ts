import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localSecretsKey } from './local-secrets-key';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cds-secrets-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('the key beside an embedded database', () => {
  it('is made once, by however many who ask for it at a time, and nothing else is left in the folder', async () => {
    const dataDir = join(folder, 'new', 'data');
    const keys = await Promise.all(Array.from({ length: 20 }, () => localSecretsKey(dataDir)));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[\w-]{43}$/);
    expect(await localSecretsKey(dataDir)).toBe(keys[0]);
    expect(await readdir(dataDir)).toEqual(['secrets.key']);
  });

  it('is for its owner only', async () => {
    await localSecretsKey(folder);
    const { mode } = await stat(join(folder, 'secrets.key'));
    expect(mode & 0o777).toBe(0o600);
  });

  it('is not the same in two folders, and is the text in the file', async () => {
    const key = await localSecretsKey(folder);
    expect(await localSecretsKey(join(folder, 'other'))).not.toBe(key);
    expect((await readFile(join(folder, 'secrets.key'), 'utf8')).trim()).toBe(key);
  });
});
