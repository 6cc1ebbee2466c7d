import { type ChildProcess, spawn } from 'node:child_process';
import { type FileHandle, open } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Cluster } from './cluster';
import { stopServer } from './former-postmaster';
import { PROGRAM_ENVIRONMENT, processIdentity } from './processes';
import { type ServerSettings, settingsAsArguments } from './server-settings';

export interface Postmaster {
  readonly pid: number;
  /** Resolves when the server has ended, for any reason; never rejects. */
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  /** Ends the server and waits for its end. */
  stop(): Promise<void>;
  /** The last lines of the server's log. */
  logTail(): Promise<string>;
}

export interface PostmasterOptions {
  readonly settings: ServerSettings;
  readonly logFile: string;
  /** An empty folder to remove when the server has ended. */
  readonly temporaryFolder: string | undefined;
}

const LOG_TAIL_BYTES = 4_096;

/**
 * The parent of the server, in a process group of its own: a Ctrl-C reaches the service only, which drains before it
 * stops its database. Its standard input is a pipe from the service. Nobody writes to it; it closes when the service
 * closes it or dies, by whatever signal, and then the server is shut down: fast, after five seconds immediately.
 *
 * The server itself inherits neither end of a pipe. SIGINT is sent again and again because a shell starts background
 * processes with SIGINT ignored, which lasts until PostgreSQL has put up its own handlers. At the end the shell ends its
 * process group: itself, the watcher and its `sleep`.
 */
const GUARD = `
trap '' HUP INT TERM
temporary_folder=$1
shift
exec 3<&0 </dev/null
"$@" >&2 3<&- &
server=$!
(
  while read -r line; do :; done
  for signal in INT INT INT INT INT QUIT QUIT QUIT QUIT QUIT QUIT QUIT KILL; do
    kill -"$signal" "$server" || break
    sleep 1
  done
) <&3 >/dev/null 2>&1 &
exec 3<&-
echo "$server"
wait "$server"
if [ -n "$temporary_folder" ]; then rmdir "$temporary_folder"; fi
kill -KILL 0
`;

/** Starts the server; it is not ready yet. */
export async function launchPostmaster(cluster: Cluster, options: PostmasterOptions): Promise<Postmaster> {
  const log = await open(options.logFile, 'a', 0o600);
  const { size: logStart } = await log.stat();
  const child = spawnGuard(cluster, options, log.fd);
  // Read from the first moment on: what a process has said before it ended is dropped when nobody reads by then.
  const said = child.stdout === null ? NaN : firstNumber(child.stdout);
  let over = false;
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      over = true;
      resolve();
    };
    child.once('exit', end).once('error', end);
  });
  await log.close();
  // The database alone does not keep the service alive.
  child.unref();
  const lifeline = child.stdin;
  lifeline?.on('error', () => undefined);
  if (lifeline instanceof Socket) {
    lifeline.unref();
  }

  const pid = await said;
  const identity = processIdentity(pid);
  const stop = async (): Promise<void> => {
    child.ref();
    lifeline?.destroy();
    await ended;
    // Without effect, unless somebody killed the shell and left the server.
    await stopServer(pid, identity);
  };
  return { pid, ended, hasEnded: () => over, stop, logTail: () => tailOf(options.logFile, logStart) };
}

function spawnGuard(cluster: Cluster, { settings, temporaryFolder }: PostmasterOptions, log: number): ChildProcess {
  const server = [join(cluster.binaries, 'bin', 'postgres'), '-D', cluster.address, ...settingsAsArguments(settings)];
  return spawn('/bin/sh', ['-c', GUARD, 'guard', temporaryFolder ?? '', ...server], {
    cwd: cluster.folder,
    env: PROGRAM_ENVIRONMENT,
    detached: true,
    stdio: ['pipe', 'pipe', log],
    ...cluster.as,
  });
}

/** NaN when the stream ends before. */
async function firstNumber(stream: Readable): Promise<number> {
  for await (const line of createInterface({ input: stream })) {
    stream.destroy();
    return Number(line);
  }
  return NaN;
}

async function tailOf(file: string, from: number): Promise<string> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, 'r');
    const { size } = await handle.stat();
    const start = Math.max(from, size - LOG_TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(LOG_TAIL_BYTES), 0, LOG_TAIL_BYTES, start);
    return buffer.toString('utf8', 0, bytesRead).trim();
  } catch {
    return '';
  } finally {
    await handle?.close();
  }
}
