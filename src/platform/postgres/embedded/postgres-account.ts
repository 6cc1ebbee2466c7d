import { readFile, stat } from 'node:fs/promises';
import { type Account, runProgram } from './processes';

/** In this order: the account made for it, else the one that owns nothing. */
const ACCOUNT_NAMES = ['postgres', 'nobody'] as const;

/**
 * The account PostgreSQL runs as; undefined: that of this process. Only root needs another one, because PostgreSQL
 * refuses to run as root. Data that is there already decides: PostgreSQL wants to be its owner, and the account
 * `postgres` may appear on a machine later.
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

/** Gives a folder and all below it to the account. Links are changed themselves, not what they point to. */
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
