import { mkdtemp, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { giveTo, postgresAccount } from './postgres-account';
import { usableBinaries } from './postgres-binaries';
import { type Account, runProgram } from './processes';
import { isErrno } from '../../errors/errno';

/** One PostgreSQL data folder and what runs it. */
export interface Cluster {
  readonly folder: string;
  /** What PostgreSQL is told as its data folder, when started in `folder`. */
  readonly address: string;
  readonly binaries: string;
  readonly as: Account | undefined;
}

/** The role the service connects as. */
export const SUPERUSER = 'cds';

const UNFINISHED = 'initialising-';

/** Finds or makes the database in `home`; to be called by the process that has claimed it. */
export async function prepareCluster(home: string, log: (message: string) => void): Promise<Cluster> {
  const folder = join(home, 'data');
  const as = await postgresAccount(folder);
  const binaries = await usableBinaries(home, as);
  const cluster = { folder, address: addressOf(folder, as), binaries, as };
  await removeUnfinished(home);
  if (!(await exists(folder))) {
    log('Creating the embedded PostgreSQL database (once) …');
    await initialise(cluster, home);
  }
  return cluster;
}

/**
 * An account that stands in for root may not be able to walk to the data: it can lie below a 0700 folder. A process
 * that root started *inside* it need not walk. So on Linux the data folder is "where I am", and the data stay in
 * DATA_DIR, to be moved, backed up and removed with it.
 */
function addressOf(folder: string, as: Account | undefined): string {
  return as !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : folder;
}

/** The folder gets its name only when it is complete and on disk; a start that was killed before leaves none. */
async function initialise(cluster: Cluster, home: string): Promise<void> {
  const unfinished = await mkdtemp(join(home, UNFINISHED));
  if (cluster.as !== undefined) {
    await giveTo(cluster.as, unfinished);
  }
  // Trust, since only whoever may enter the folder finds the socket. C.UTF-8 of PostgreSQL itself sorts alike everywhere.
  const { exitCode, output } = await runProgram(
    join(cluster.binaries, 'bin', 'initdb'),
    [
      `--pgdata=${addressOf(unfinished, cluster.as)}`,
      `--username=${SUPERUSER}`,
      '--auth=trust',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
    ],
    { cwd: unfinished, as: cluster.as },
  );
  if (exitCode !== 0) {
    await rm(unfinished, { recursive: true, force: true });
    throw new Error(`The embedded PostgreSQL could not create its database (or set DATABASE_URL): ${output.trim()}`);
  }
  await rename(unfinished, cluster.folder);
  await syncFolder(home);
}

async function removeUnfinished(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (name.startsWith(UNFINISHED)) {
      // An initdb whose service was killed may still be writing there for a moment; the next start removes the rest.
      await rm(join(home, name), { recursive: true, force: true }).catch((error: unknown) => {
        if (!isErrno(error, 'ENOTEMPTY', 'EBUSY')) {
          throw error;
        }
      });
    }
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync();
  await handle.close();
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
