import { readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster } from './cluster';
import { pidIsTaken, processCommand, processIdentity } from './processes';
import { CLUSTER_NAME, COPY_PORT, SERVICE_PORT } from './server-settings';

const FAST_SHUTDOWN_MS = 5_000;
const PATIENCE_MS = 15_000;
const LOOK_AGAIN_MS = 50;

/** A server that no service has started uses the data. */
export class ForeignPostmasterError extends Error {
  constructor(readonly pid: number) {
    super(`process ${String(pid)} serves this data folder`);
    this.name = 'ForeignPostmasterError';
  }
}

/**
 * Ends a server of an earlier run. Only for the process that has claimed the data: a server that still runs then has lost its
 * service, and is usually being shut down already. `isUnfinished`: the folder was being filled, which only the service does. The
 * servers that `initdb` starts there do not name it.
 */
export async function clearFormerPostmaster(
  cluster: Pick<Cluster, 'folder'>,
  { isUnfinished = false } = {},
): Promise<void> {
  const pidFile = join(cluster.folder, 'postmaster.pid');
  const pid = await writtenPid(pidFile);
  const former = pid === undefined ? undefined : await postmasterOf(pid, cluster);
  if (former !== undefined) {
    if (!isUnfinished && !former.command.includes(`cluster_name=${CLUSTER_NAME}`)) {
      throw new ForeignPostmasterError(former.pid);
    }
    await stopServer(former.pid, former.identity);
  } else if (pid !== undefined && pidIsTaken(pid)) {
    // The pid went to another process, or is a zombie's: PostgreSQL would take either for a living server. A pid that
    // is free is left to PostgreSQL, which then also looks whether backends of that server are still at work.
    await rm(pidFile, { force: true });
  }
  for (const port of [SERVICE_PORT, COPY_PORT]) {
    await rm(join(cluster.folder, `.s.PGSQL.${String(port)}`), { force: true });
    await rm(join(cluster.folder, `.s.PGSQL.${String(port)}.lock`), { force: true });
  }
}

/** Tries a fast shutdown, then an immediate one, until the process has ended. */
export async function stopServer(pid: number, identity: string | undefined): Promise<void> {
  const began = performance.now();
  while (identity !== undefined && processIdentity(pid) === identity) {
    const waited = performance.now() - began;
    if (waited > PATIENCE_MS) {
      throw new ForeignPostmasterError(pid);
    }
    signal(pid, waited < FAST_SHUTDOWN_MS ? 'SIGINT' : 'SIGQUIT');
    await delay(LOOK_AGAIN_MS);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended, or belongs to another account; the caller finds out which.
  }
}

async function writtenPid(pidFile: string): Promise<number | undefined> {
  const [line = ''] = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n');
  // Negative: a single-user server.
  const pid = Math.abs(Number(line));
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

interface Postmaster {
  readonly pid: number;
  readonly identity: string;
  readonly command: string;
}

/**
 * A postmaster's current folder is its data folder, which its command line names. Everything is read once: a server that
 * ends meanwhile has no command line any more.
 */
async function postmasterOf(pid: number, cluster: Pick<Cluster, 'folder'>): Promise<Postmaster | undefined> {
  const identity = processIdentity(pid);
  const command = processCommand(pid);
  if (identity === undefined || !command.includes('postgres')) {
    return undefined;
  }
  const workingFolder = await readlink(`/proc/${String(pid)}/cwd`).catch(() => undefined);
  const isItsOwn =
    workingFolder === undefined ? command.includes(cluster.folder) : workingFolder === (await realpath(cluster.folder));
  return isItsOwn ? { pid, identity, command } : undefined;
}
