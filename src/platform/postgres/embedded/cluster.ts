import { join } from 'node:path';
import { giveTo } from './postgres-account';
import type { Binaries } from './postgres-binaries';
import { type Account, runProgram } from './processes';

/** A PostgreSQL data folder and the programs for it. */
export interface Cluster {
  readonly folder: string;
  /** The data folder for PostgreSQL's command line, relative to `folder`. */
  readonly address: string;
  readonly binaries: string;
  readonly as: Account | undefined;
}

/** The role the service connects as. */
export const SUPERUSER = 'cds';

export function clusterIn(folder: string, { folder: binaries }: Binaries, as: Account | undefined): Cluster {
  return { folder, address: addressOf(folder, as), binaries, as };
}

/**
 * The account that runs PostgreSQL instead of root may not be able to reach the data by their path, for example below a 0700
 * folder. A process that root starts inside the folder does not need the path. So on Linux the data folder is the current
 * folder, and the data stay in DATA_DIR.
 */
function addressOf(folder: string, as: Account | undefined): string {
  return as !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : folder;
}

/** Creates an empty database in an existing, empty folder. */
export async function initialise(cluster: Cluster): Promise<void> {
  if (cluster.as !== undefined) {
    await giveTo(cluster.as, cluster.folder);
  }
  // Trust, since only an account that may enter the folder reaches the socket. C.UTF-8 of PostgreSQL itself sorts alike everywhere.
  await initdb(cluster, [
    `--username=${SUPERUSER}`,
    '--auth=trust',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-instructions',
  ]);
}

/** Flushes every file of a stopped database to disk. */
export async function syncToDisk(cluster: Cluster): Promise<void> {
  await initdb(cluster, ['--sync-only']);
}

async function initdb(cluster: Cluster, args: readonly string[]): Promise<void> {
  const { exitCode, output } = await runProgram(
    join(cluster.binaries, 'bin', 'initdb'),
    [`--pgdata=${cluster.address}`, ...args],
    { cwd: cluster.folder, as: cluster.as },
  );
  if (exitCode !== 0) {
    throw new Error(`The embedded PostgreSQL could not create its database (or set DATABASE_URL): ${output.trim()}`);
  }
}
