import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isErrno } from '../errors/error-summary';
import { syncPath } from '../files/sync-path';

/** Beside an embedded database. */
export const SECRETS_KEY_FILE = 'secrets.key';
const KEY_BYTES = 32;
/** As for a SECRETS_KEY that an operator chose. */
const KEY_CHARACTERS_MIN = 32;

/**
 * The secrets key of a service with an embedded database: created in the data folder at the first start (mode 0600), and never
 * changed. A copy of the database without this file does not reveal the secrets.
 */
export async function localSecretsKey(dataDir: string): Promise<string> {
  const path = join(dataDir, SECRETS_KEY_FILE);
  const found = await readLocalSecretsKey(dataDir);
  if (found !== undefined) return found;
  await mkdir(dataDir, { recursive: true });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeSecretsKey(draft, randomBytes(KEY_BYTES).toString('base64url'));
  try {
    // Unlike a rename, a link never replaces a key that another process has created meanwhile.
    await link(draft, path);
  } catch (error) {
    if (!isErrno(error, 'EEXIST')) throw error;
  } finally {
    await unlink(draft);
  }
  // Before anything is encrypted under it: after a power failure the data would be there without the key.
  await syncPath(dataDir);
  const made = await readLocalSecretsKey(dataDir);
  if (made === undefined) throw new Error(`${path} was made and is not there.`);
  return made;
}

/** The same where it is there already. */
export async function readLocalSecretsKey(dataDir: string): Promise<string | undefined> {
  const path = join(dataDir, SECRETS_KEY_FILE);
  try {
    const key = (await readFile(path, 'utf8')).trim();
    if (key.length < KEY_CHARACTERS_MIN)
      throw new Error(`${path} holds no key. Put the backup of the file in its place.`);
    return key;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Writes a key to a file that is not there yet, for its owner only. */
export async function writeSecretsKey(path: string, key: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(`${key}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
}
