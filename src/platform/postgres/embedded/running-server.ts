import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Client } from 'pg';
import type { EmbeddedConnection } from './readiness';

/** Lines of `postmaster.pid`, counted from 0: the folder of the socket, and `ready` once the server takes connections. */
const SOCKET_FOLDER_LINE = 4;
const STATUS_LINE = 7;
const CONNECT_TIMEOUT_MS = 2_000;

/** How to reach the server that another process runs on this data folder; undefined when none answers. */
export async function runningServer(
  dataFolder: string,
  target: Omit<EmbeddedConnection, 'host'>,
): Promise<EmbeddedConnection | undefined> {
  const lines = (await readFile(join(dataFolder, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const socketFolder = lines[SOCKET_FOLDER_LINE]?.trim() ?? '';
  if (socketFolder === '' || lines[STATUS_LINE]?.trim() !== 'ready') return undefined;
  const connection = { ...target, host: resolve(dataFolder, socketFolder) };
  return (await answers(connection)) ? connection : undefined;
}

async function answers(connection: EmbeddedConnection): Promise<boolean> {
  const client = new Client({ ...connection, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
