import { stat, truncate, mkdtemp } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SUPERUSER, type Cluster } from './cluster';
import { clearFormerPostmaster } from './former-postmaster';
import { type Postmaster, launchPostmaster } from './postmaster';
import { type EmbeddedConnection, ServerNotReadyError, untilReady } from './readiness';
import { SERVER_SETTINGS, SERVICE_PORT, SETTINGS_THAT_NEED_MEMORY, type ServerSettings } from './server-settings';
import { giveTo } from './postgres-account';
import { runProgram } from './processes';

interface StartedServer {
  readonly postmaster: Postmaster;
  readonly connection: EmbeddedConnection;
  /** The same as one address, for `pg` as well as for libpq (psql, pgbench). */
  readonly url: string;
}

interface StartServerOptions {
  readonly log: (message: string) => void;
  readonly logFile: string;
  /** On top of, or instead of, the server settings of the service. */
  readonly settings?: ServerSettings | undefined;
}

/** The name of the service's database. */
export const SERVICE_DATABASE = { port: SERVICE_PORT, user: SUPERUSER, database: 'cds', ssl: false } as const;

const LOG_BYTES_MAX = 10 * 1024 * 1024;
/** Backends of a killed server notice within moments that it is gone. */
const LEFTOVERS_MS_MAX = 10_000;
const LOOK_AGAIN_MS = 100;

/** Starts the server of a cluster and waits until it takes connections. What stands in its way from before is cleared first. */
export async function startServer(
  cluster: Cluster,
  { log, logFile, settings }: StartServerOptions,
): Promise<StartedServer> {
  const began = performance.now();
  await boundLog(logFile);
  let wanted: ServerSettings = { ...SERVER_SETTINGS, ...settings };
  for (;;) {
    try {
      return await attempt(cluster, wanted, logFile);
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

export function addressOf({ host, port, user, database }: EmbeddedConnection): string {
  return `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}&port=${String(port)}&sslmode=disable`;
}

async function attempt(cluster: Cluster, settings: ServerSettings, logFile: string): Promise<StartedServer> {
  await clearFormerPostmaster(cluster);
  const socket = await socketFolder(cluster);
  const postmaster = await launchPostmaster(cluster, {
    settings: { ...settings, unix_socket_directories: socket.forServer },
    logFile,
    temporaryFolder: socket.temporary,
  });
  const port = Number(settings['port']);
  const connection: EmbeddedConnection = { ...SERVICE_DATABASE, host: socket.forClients, port };
  try {
    await untilReady(postmaster, connection);
    return { postmaster, connection, url: addressOf(connection) };
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

interface SocketFolder {
  /** `unix_socket_directories` */
  readonly forServer: string;
  readonly forClients: string;
  /** Set when the folder exists for this run only. */
  readonly temporary: string | undefined;
}

/** What the kernels take, Linux (107) and macOS (103). */
const SOCKET_PATH_BYTES_MAX = 103;
/** Of whatever port: they all have four digits. */
const SOCKET_NAME = `.s.PGSQL.${String(SERVICE_PORT)}`;

/** Where the socket of a server goes: into the data folder, mode 0700, or into such a folder with a shorter path. */
async function socketFolder(cluster: Cluster): Promise<SocketFolder> {
  if (fits(cluster.folder)) {
    return { forServer: '.', forClients: cluster.folder, temporary: undefined };
  }
  for (const place of new Set([tmpdir(), '/tmp', '/var/tmp'])) {
    // mkdtemp makes it with mode 0700 and a name nobody could take before; six random characters follow the prefix.
    const prefix = join(place, 'cds-');
    const entered = await runProgram('/bin/sh', ['-c', 'cd "$1"', 'sh', place], { as: cluster.as });
    if (fits(`${prefix}XXXXXX`) && entered.exitCode === 0) {
      const folder = await mkdtemp(prefix);
      if (cluster.as !== undefined) {
        await giveTo(cluster.as, folder);
      }
      return { forServer: folder, forClients: folder, temporary: folder };
    }
  }
  throw new Error(`No place for the socket of the embedded PostgreSQL, ${cluster.folder} is too long: set DATA_DIR.`);
}

function fits(folder: string): boolean {
  return Buffer.byteLength(join(folder, SOCKET_NAME)) <= SOCKET_PATH_BYTES_MAX;
}
