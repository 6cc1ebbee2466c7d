import { readFile, stat } from 'node:fs/promises';
import { type Account, runProgram } from './processes';

/** In order of preference: the account for PostgreSQL, then the account without files of its own. */
const ACCOUNT_NAMES = ['postgres', 'nobody'] as const;

/**
 * The account that runs PostgreSQL; undefined: that of this process. Only root needs another one, because PostgreSQL refuses
 * to run as root. Existing data keep their owner, which PostgreSQL requires: the account `postgres` may be added to a machine
 * later.
 */
export async function postgresAccount(dataFolder: string): Promise<Account | undefined> {
  if (process.geteuid?.() !== 0) {
    return undefined;
  }
  const owner = await ownerOf(dataFolder);
  if (owner !== undefined && owner.uid !== 0) {
    return owner;
  }
  const account = await accountOfTheSystem();
  if (owner !== undefined) {
    await giveTo(account, dataFolder);
  }
  return account;
}

/** Changes the owner of a folder and of all below it. Links are changed themselves, not their targets. */
export async function giveTo(account: Account, folder: string): Promise<void> {
  const { exitCode, output } = await runProgram('chown', [
    '-R',
    `${String(account.uid)}:${String(account.gid)}`,
    folder,
  ]);
  if (exitCode !== 0) {
    throw new Error(
      `PostgreSQL cannot run as root, and ${folder} could not be given to another account: ${output.trim()}. ` +
        'Set DATA_DIR to a place where root may change owners, or set DATABASE_URL.',
    );
  }
}

async function ownerOf(folder: string): Promise<Account | undefined> {
  try {
    const { uid, gid } = await stat(folder);
    return { uid, gid };
  } catch {
    return undefined;
  }
}

async function accountOfTheSystem(): Promise<Account> {
  const entries = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  for (const wanted of ACCOUNT_NAMES) {
    const [, , uid, gid] = entries.find(([name]) => name === wanted) ?? [];
    if (uid !== undefined && gid !== undefined && Number(uid) !== 0) {
      return { uid: Number(uid), gid: Number(gid) };
    }
  }
  throw new Error(
    `PostgreSQL cannot run as root, and this system has no account ${ACCOUNT_NAMES.join(' or ')}. ` +
      'Start the service as an ordinary user, or set DATABASE_URL.',
  );
}
