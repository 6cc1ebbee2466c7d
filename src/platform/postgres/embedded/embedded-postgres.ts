import { mkdir, stat, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import { ClaimedElsewhereError, type FolderClaim, claimFolder } from './folder-claim';
import { ForeignPostmasterError } from './former-postmaster';
import { isErrno } from '../../errors/error-summary';
import type { EmbeddedConnection } from './readiness';
import {
  type FilledData,
  replaceData,
  finishReplacement,
  majorOfData,
  makeData,
  removeUnfinished,
  type NewData,
} from './replace-data';
import { CLUSTER_NAME, COMMAND_SETTINGS, type ServerSettings } from './server-settings';
import { SERVICE_DATABASE, addressOf, startServer } from './start-server';
import { clusterIn, type Cluster } from './cluster';
import { postgresAccount } from './postgres-account';
import { installedBinaries } from './postgres-binaries';

interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly log: (message: string) => void;
  /** Settings that add to the service's server settings or replace them. */
  readonly settings?: ServerSettings;
}

export interface EmbeddedPostgres {
  readonly connection: EmbeddedConnection;
  /** The same as one address, for `pg` as well as for libpq (psql, pgbench). */
  readonly url: string;
  /** Process id of the postmaster. */
  readonly pid: number;
  /** Shuts the server down and waits for its end. May be called repeatedly. */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL that comes with the service on the data in `dataDir`, which are created at the first start. The
 * server ends with this process, however that ends, and the next start finds all committed data. Throws with a message for
 * the operator when another process uses `dataDir`, or the system cannot run PostgreSQL.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  return withClaim(options.dataDir, (home, claim) => startClaimed(home, claim, options));
}

/** How long a command waits for other commands on the same data. */
const COMMAND_PATIENCE_MS = 60_000;

/**
 * The server that a running service has started on `dataDir`, else one of its own, for a command that ends before the service. The
 * server of another command is waited for, because it ends with that one. Throws as `startEmbeddedPostgres` does.
 */
export async function joinOrStartEmbeddedPostgres(
  options: Omit<EmbeddedPostgresOptions, 'settings'>,
): Promise<Pick<EmbeddedPostgres, 'url' | 'stop'>> {
  const began = performance.now();
  const folder = join(resolve(options.dataDir), 'postgres', 'data');
  for (;;) {
    const running = await runningServer(folder, SERVICE_DATABASE);
    if (running !== undefined) return { url: addressOf(running), stop: () => Promise.resolve() };
    try {
      return await startEmbeddedPostgres({ ...options, settings: COMMAND_SETTINGS });
    } catch (error) {
      const isClaimed = error instanceof Error && error.cause instanceof ClaimedElsewhereError;
      if (!isClaimed || performance.now() - began > COMMAND_PATIENCE_MS) throw error;
    }
  }
}

/** Fills a new database. */
type Fill = (url: string) => Promise<FilledData>;

/**
 * Replaces the data in `dataDir` by new ones. The old data stay in a folder beside; returns that folder, or undefined when
 * there were none. `dataDir` must not be in use. When this is interrupted, the old data stay in place.
 */
export async function replaceEmbeddedData(
  options: Omit<EmbeddedPostgresOptions, 'settings'>,
  fill: Fill,
): Promise<string | undefined> {
  return withClaim(options.dataDir, async (home, claim) => {
    try {
      return await replaceData(await prepareHome(home, options.log), fill);
    } finally {
      await claim.release();
    }
  });
}

/** Whether there is a database in `dataDir`. */
export async function hasEmbeddedData(dataDir: string): Promise<boolean> {
  const postgres = join(resolve(dataDir), 'postgres');
  const found = await Promise.all(['data', 'next'].map((name) => stat(join(postgres, name)).catch(() => undefined)));
  return found.some((each) => each !== undefined);
}

async function startClaimed(
  home: string,
  claim: FolderClaim,
  { log, settings }: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const cluster = await prepareCluster(home, log);
  const began = performance.now();
  const { postmaster, connection, url } = await startServer(cluster, {
    log,
    logFile: join(home, 'server.log'),
    settings,
  });
  log(`The embedded PostgreSQL is ready after ${String(Math.round(performance.now() - began))} ms.`);
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await postmaster.stop();
    await claim.release();
  };
  void postmaster.ended.then(async () => {
    if (stopped === undefined) {
      log(`The embedded PostgreSQL has ended by itself. Its log ends with:\n${await postmaster.logTail()}`);
    }
  });
  return { connection, url, pid: postmaster.pid, stop: () => (stopped ??= stop()) };
}

/** Claims the folder of the database. `work` releases the claim; when `work` fails, it is released here. */
async function withClaim<Result>(
  dataDir: string,
  work: (home: string, claim: FolderClaim) => Promise<Result>,
): Promise<Result> {
  if (process.platform === 'win32') {
    // Sockets and signals differ there, and it was never tested.
    throw new Error('There is no embedded PostgreSQL on Windows: set DATABASE_URL to a PostgreSQL server.');
  }
  const home = join(resolve(dataDir), 'postgres');
  let claim: FolderClaim | undefined;
  try {
    await mkdir(home, { recursive: true, mode: 0o711 });
    claim = await claimFolder(join(home, 'claims'));
    return await work(home, claim);
  } catch (error) {
    await claim?.release();
    throw inWordsForTheOperator(error, resolve(dataDir));
  }
}

function inWordsForTheOperator(error: unknown, dataDir: string): unknown {
  const elseDo = 'set another DATA_DIR, or set DATABASE_URL.';
  if (error instanceof ClaimedElsewhereError || error instanceof ForeignPostmasterError) {
    const user = error instanceof ClaimedElsewhereError ? 'another service process' : 'another PostgreSQL server';
    return new Error(`DATA_DIR (${dataDir}) is in use by ${user} (pid ${String(error.pid)}). Stop it, ${elseDo}`, {
      cause: error,
    });
  }
  if (isErrno(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'ENOSPC')) {
    return new Error(`DATA_DIR (${dataDir}) cannot be used: ${String(error)}. Mend that, ${elseDo}`, { cause: error });
  }
  return error;
}

/** Finds or creates the database in `home`. Only for the process that holds the claim. */
async function prepareCluster(home: string, log: (message: string) => void): Promise<Cluster> {
  const wanted = await prepareHome(home, log);
  const folder = join(home, 'data');
  const major = await majorOfData(folder);
  if (!(await isThere(folder))) {
    log('Creating the embedded PostgreSQL database (once) …');
    await makeData(wanted);
  } else if (major !== undefined && major !== wanted.binaries.major) {
    // Imported on demand: it loads the whole schema.
    const { upgradeData } = await import('./upgrade-data.js');
    await upgradeData(wanted, folder, major);
  }
  return clusterIn(folder, wanted.binaries, wanted.as);
}

/** Completes or reverts what an earlier process has left unfinished, and finds the programs for databases in `home`. */
async function prepareHome(home: string, log: (message: string) => void): Promise<NewData> {
  const kept = await finishReplacement(home);
  if (kept !== undefined) {
    log(`New data were complete and are used now. The former data are kept in ${kept}.`);
  }
  await removeUnfinished(home);
  const as = await postgresAccount(join(home, 'data'));
  return { home, binaries: await installedBinaries(home, as), as, log };
}

async function isThere(folder: string): Promise<boolean> {
  return (await stat(folder).catch(() => undefined)) !== undefined;
}

/** Lines of `postmaster.pid`, from 0: the folder of the socket, and `ready` when the server accepts connections. */
const SOCKET_FOLDER_LINE = 4;
const STATUS_LINE = 7;
const CONNECT_TIMEOUT_MS = 2_000;

/** The connection of the server that a service runs on this data folder; undefined when none answers. */
async function runningServer(
  dataFolder: string,
  target: Omit<EmbeddedConnection, 'host'>,
): Promise<EmbeddedConnection | undefined> {
  const lines = (await readFile(join(dataFolder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const socketFolder = lines[SOCKET_FOLDER_LINE]?.trim() ?? '';
  if (socketFolder === '' || lines[STATUS_LINE]?.trim() !== 'ready') return undefined;
  const connection = { ...target, host: resolve(dataFolder, socketFolder) };
  return (await isOfService(connection)) ? connection : undefined;
}

async function isOfService(connection: EmbeddedConnection): Promise<boolean> {
  const client = new Client({ ...connection, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ cluster_name: string }>('SHOW cluster_name');
    return rows[0]?.cluster_name === CLUSTER_NAME;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
