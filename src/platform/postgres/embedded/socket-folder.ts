import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from './cluster';
import { giveTo } from './postgres-account';
import { runProgram } from './processes';
import { SERVICE_PORT } from './server-settings';

export interface SocketFolder {
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
export async function socketFolder(cluster: Cluster): Promise<SocketFolder> {
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
