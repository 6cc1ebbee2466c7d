import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isErrno } from '../../errors/error-summary';
import { syncPath } from '../../files/sync-path';
import { SECRETS_KEY_FILE, writeSecretsKey } from '../../secrets/local-secrets-key';
import { clusterIn, initialise, syncToDisk } from './cluster';
import { clearFormerPostmaster } from './former-postmaster';
import type { Binaries } from './postgres-binaries';
import type { Account } from './processes';
import { FILL_SETTINGS } from './server-settings';
import { startServer } from './start-server';

/*
 * How a data folder takes the place of another one. All of it happens below `DATA_DIR/postgres`, in this order:
 *
 *   initialising-XXXXXX/   is being filled; whatever ends that, the next start throws it away
 *   next/                  the same, complete and on disk: from here on every start goes on
 *   former-data-…/         what was in `data`, for people to remove
 *   data/                  what was in `next`
 *
 * Each step is one rename. At any moment there is a whole folder that the next start uses.
 */

const UNFINISHED = 'initialising-';
const NEXT = 'next';
const DATA = 'data';
const FORMER = 'former-data';

export interface NewData {
  readonly home: string;
  readonly binaries: Binaries;
  readonly as: Account | undefined;
  readonly log: (message: string) => void;
}

/** What comes with the data. */
export interface FilledData {
  /** Takes the place of the key beside the database. */
  readonly secretsKey?: string | undefined;
}

/** Makes an empty database in `data`, which is not there. */
export async function makeData({ home, binaries, as }: NewData): Promise<void> {
  const unfinished = await mkdtemp(join(home, UNFINISHED));
  try {
    await initialise(clusterIn(unfinished, binaries, as));
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
  // The folder gets its name only when it is complete and on disk; a start that was killed before leaves none.
  await rename(unfinished, join(home, DATA));
  await syncPath(home);
}

/**
 * Makes a database of these binaries, has `fill` load it, and puts it in the place of the present one, which is kept. Answers
 * the folder that the present one is in then. Where this ends before, also by `kill -9`, the present one stays as it is.
 */
export async function replaceData(
  wanted: NewData,
  fill: (url: string) => Promise<FilledData>,
): Promise<string | undefined> {
  const { home, binaries, as, log } = wanted;
  const unfinished = await mkdtemp(join(home, UNFINISHED));
  try {
    const folder = join(unfinished, DATA);
    await mkdir(folder, { mode: 0o700 });
    const cluster = clusterIn(folder, binaries, as);
    await initialise(cluster);
    const server = await startServer(cluster, { log, logFile: join(home, 'server.log'), settings: FILL_SETTINGS });
    let filled: FilledData;
    try {
      filled = await fill(server.url);
    } finally {
      await server.postmaster.stop();
    }
    await syncToDisk(cluster);
    if (filled.secretsKey !== undefined) {
      await writeSecretsKey(join(unfinished, SECRETS_KEY_FILE), filled.secretsKey);
    }
    await syncPath(unfinished);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
  await rename(unfinished, join(home, NEXT));
  await syncPath(home);
  return finishReplacement(home);
}

/** Goes on where a replacement was cut short after its folder was complete. Answers the folder with the former data. */
export async function finishReplacement(home: string): Promise<string | undefined> {
  const next = join(home, NEXT);
  if (!(await exists(next))) {
    return undefined;
  }
  const data = join(home, DATA);
  // A server that a killed process has left may be about to end there.
  await clearFormerPostmaster({ folder: data });
  const former = await formerFolder(home);
  await putKey(join(next, SECRETS_KEY_FILE), join(dirname(home), SECRETS_KEY_FILE), `${former}.${SECRETS_KEY_FILE}`);
  let kept: string | undefined;
  if (await exists(join(next, DATA))) {
    kept = (await exists(data)) ? former : undefined;
    if (kept !== undefined) {
      await rename(data, kept);
    }
    await rename(join(next, DATA), data);
    await syncPath(home);
  }
  await rm(next, { recursive: true, force: true });
  await syncPath(home);
  return kept;
}

/** What a killed start has left, with the server that may still run in it. */
export async function removeUnfinished(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (name.startsWith(UNFINISHED)) {
      await clearFormerPostmaster({ folder: join(home, name, DATA) }, { isUnfinished: true });
      // An initdb whose service was killed may still be writing there for a moment; the next start removes the rest.
      await rm(join(home, name), { recursive: true, force: true }).catch((error: unknown) => {
        if (!isErrno(error, 'ENOTEMPTY', 'EBUSY')) {
          throw error;
        }
      });
    }
  }
}

/** The major version that wrote the data in this folder; undefined where there are none. */
export async function majorOfData(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, 'PG_VERSION'), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : Number.parseInt(text, 10);
}

/** A key that is replaced is kept beside the data that it belongs to. */
async function putKey(from: string, to: string, former: string): Promise<void> {
  const key = await readFile(from, 'utf8').catch(() => undefined);
  if (key === undefined) {
    return;
  }
  const present = await readFile(to, 'utf8').catch(() => undefined);
  if (present !== undefined && present.trim() !== key.trim()) {
    await rename(to, former);
  }
  await rename(from, to);
  await syncPath(dirname(to));
}

/** As `former-data-postgres-17`, with a number behind it when there is one of that name; the same one until it is there. */
async function formerFolder(home: string): Promise<string> {
  const major = await majorOfData(join(home, DATA));
  const name = join(home, major === undefined ? FORMER : `${FORMER}-postgres-${String(major)}`);
  for (let number = 2, folder = name; ; folder = `${name}-${String(number)}`, number += 1) {
    if (!(await exists(folder))) return folder;
  }
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
