import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { logFile } from './log-watch';

const MAIN = join(__dirname, '..', '..', 'dist', 'main.js');
const START_MS_MAX = 180_000;

/** The service as its users run it: a process of its own, built. */
export interface ServiceProcess {
  readonly url: string;
  readonly adminKey: string;
  readonly child: ChildProcess;
  /** Everything that it has written so far. */
  output(): string;
  /** Asks it to stop, waits for its end and answers the exit code. */
  stop(): Promise<number | null>;
  /** kill -9. */
  kill(): Promise<void>;
}

let nextKey = 0;

/** Starts a service with the settings of `environment`; without DATABASE_URL it brings its own database. */
export async function startServiceProcess(environment: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  nextKey += 1;
  const adminKey = environment['BOOTSTRAP_ADMIN_KEY'] ?? `test-admin-key-${process.pid}-${nextKey}-`.padEnd(40, 'x');
  // Unless a test says otherwise, no client uses its connections any more when the service is stopped.
  const defaults = { PORT: '0', LOG_LEVEL: 'trace', BOOTSTRAP_ADMIN_KEY: adminKey, SHUTDOWN_DELAY_SECONDS: '0' };
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env['PATH'], ...defaults, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => {
    written.push(chunk.toString());
    const log = logFile();
    if (log !== undefined) appendFileSync(log, chunk);
  });
  const ended = once(child, 'exit');
  const url = await Promise.race([
    listeningUrl(child, written),
    ended.then(() => Promise.reject(new Error(`The service ended at start: ${written.join('')}`))),
  ]);
  return {
    url,
    adminKey,
    child,
    output: () => written.join(''),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      return child.exitCode;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function listeningUrl(child: ChildProcess, written: string[]): Promise<string> {
  const timeout = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX);
  return new Promise((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      written.push(chunk.toString());
      const url = /listening on (http:\S+)/.exec(written.join(''))?.[1];
      if (url === undefined) return;
      clearTimeout(timeout);
      resolve(url);
    });
  });
}
