import { mkdir, stat, truncate } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Cluster, SUPERUSER, prepareCluster } from './embedded/cluster';
import { ClaimedElsewhereError, type FolderClaim, claimFolder } from './embedded/folder-claim';
import { ForeignPostmasterError, clearFormerPostmaster } from './embedded/former-postmaster';
import { type Postmaster, launchPostmaster } from './embedded/postmaster';
import { isErrno } from '../errors/errno';
import { type EmbeddedConnection, ServerNotReadyError, untilReady } from './embedded/readiness';
import { runningServer } from './embedded/running-server';
import { SERVER_SETTINGS, SETTINGS_THAT_NEED_MEMORY, type ServerSettings } from './embedded/server-settings';
import { socketFolder } from './embedded/socket-folder';

export interface EmbeddedPostgresOptions {
  readonly dataDir: string;
  readonly log: (message: string) => void;
  /** On top of, or instead of, the server settings of the service. */
  readonly settings?: ServerSettings;
}

export interface EmbeddedPostgres {
  readonly connection: EmbeddedConnection;
  /** The same as one address, for `pg` as well as for libpq (psql, pgbench). */
  readonly url: string;
  /** Of the postmaster. */
  readonly pid: number;
  /** Shuts the server down and waits until it is gone. May be called any number of times. */
  stop(): Promise<void>;
}

const DATABASE = 'cds';
const PORT = 5432;
const LOG_BYTES_MAX = 10 * 1024 * 1024;
/** Backends of a killed server notice within moments that it is gone. */
const LEFTOVERS_MS_MAX = 10_000;
const LOOK_AGAIN_MS = 100;

/**
 * Starts the PostgreSQL that comes with the service, on the data in `dataDir`; makes them at the first start. It ends
 * with this process, however that ends, and then the next start finds all that was committed. Throws when another
 * process uses `dataDir`, or the system cannot run it, with a message for the operator.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  if (process.platform === 'win32') {
    // Its sockets and signals work differently, and nobody has tried it there.
    throw new Error('There is no embedded PostgreSQL on Windows: set DATABASE_URL to a PostgreSQL server.');
  }
  const dataDir = resolve(options.dataDir);
  const home = join(dataDir, 'postgres');
  let claim: FolderClaim | undefined;
  try {
    await mkdir(home, { recursive: true, mode: 0o711 });
    claim = await claimFolder(join(home, 'claims'));
    return await startClaimed(home, claim, options);
  } catch (error) {
    await claim?.release();
    throw inWordsForTheOperator(error, dataDir);
  }
}

/**
 * The address of the server that a running service has started on the data in `dataDir`; undefined when there is none. For
 * tools beside a service, which go away before it.
 */
export async function runningEmbeddedPostgres(dataDir: string): Promise<string | undefined> {
  const folder = join(resolve(dataDir), 'postgres', 'data');
  const connection = await runningServer(folder, { port: PORT, user: SUPERUSER, database: DATABASE, ssl: false });
  return connection === undefined ? undefined : addressOf(connection);
}

async function startClaimed(
  home: string,
  claim: FolderClaim,
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { postmaster, connection } = await startServer(home, options);
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await postmaster.stop();
    await claim.release();
  };
  void postmaster.ended.then(async () => {
    if (stopped === undefined) {
      options.log(`The embedded PostgreSQL has ended by itself. Its log ends with:\n${await postmaster.logTail()}`);
    }
  });
  return { connection, url: addressOf(connection), pid: postmaster.pid, stop: () => (stopped ??= stop()) };
}

async function startServer(
  home: string,
  { log, settings }: EmbeddedPostgresOptions,
): Promise<{ postmaster: Postmaster; connection: EmbeddedConnection }> {
  const began = performance.now();
  const cluster = await prepareCluster(home, log);
  const logFile = join(home, 'server.log');
  await boundLog(logFile);
  let wanted: ServerSettings = { ...SERVER_SETTINGS, ...settings };
  for (;;) {
    try {
      const started = await attempt(cluster, wanted, logFile);
      log(`The embedded PostgreSQL is ready after ${String(Math.round(performance.now() - began))} ms.`);
      return started;
    } catch (error) {
      const obstacle = error instanceof ServerNotReadyError ? obstacleIn(error.logTail) : undefined;
      if (obstacle === 'leftovers' && performance.now() - began < LEFTOVERS_MS_MAX) {
        await delay(LOOK_AGAIN_MS);
      } else if (obstacle === 'memory' && SETTINGS_THAT_NEED_MEMORY.some((name) => name in wanted)) {
        log('The embedded PostgreSQL starts with less memory: the system grants it no more.');
        wanted = without(wanted, SETTINGS_THAT_NEED_MEMORY);
      } else {
        throw error;
      }
    }
  }
}

async function attempt(
  cluster: Cluster,
  settings: ServerSettings,
  logFile: string,
): Promise<{ postmaster: Postmaster; connection: EmbeddedConnection }> {
  await clearFormerPostmaster(cluster);
  const socket = await socketFolder(cluster);
  const postmaster = await launchPostmaster(cluster, {
    settings: { ...settings, unix_socket_directories: socket.forServer },
    logFile,
    temporaryFolder: socket.temporary,
  });
  const connection = { host: socket.forClients, port: PORT, user: SUPERUSER, database: DATABASE, ssl: false } as const;
  try {
    await untilReady(postmaster, connection);
    return { postmaster, connection };
  } catch (error) {
    await postmaster.stop();
    throw error;
  }
}

/** Why a server gave up, where another attempt helps: parts of a former one still there, or too little memory. */
function obstacleIn(logTail: string): 'leftovers' | 'memory' | undefined {
  if (/pre-existing shared memory block|lock file ".*" already exists/.test(logTail)) {
    return 'leftovers';
  }
  return /shared memory|semaphores/.test(logTail) ? 'memory' : undefined;
}

function without(settings: ServerSettings, names: readonly string[]): ServerSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)));
}

async function boundLog(logFile: string): Promise<void> {
  const found = await stat(logFile).catch(() => undefined);
  if (found !== undefined && found.size > LOG_BYTES_MAX) {
    await truncate(logFile);
  }
}

function addressOf({ host, port, user, database }: EmbeddedConnection): string {
  return `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}&port=${String(port)}&sslmode=disable`;
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
