import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A worker of the built service in a process of its own. */
export interface WorkerChild {
  /** Resolves once it has stopped in the middle of the given event. */
  readonly stuck: Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
}

/** See `worker-child.cjs`. */
export async function aWorkerChild(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<WorkerChild> {
  const child = spawn(process.execPath, [join(__dirname, 'worker-child.cjs')], {
    env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let written = '';
  const said = (word: string) =>
    new Promise<void>((resolve) => {
      child.stdout.on('data', () => {
        if (written.includes(word)) resolve();
      });
    });
  child.stdout.on('data', (chunk: Buffer) => (written += chunk.toString()));
  const stuck = said('stuck');
  await said('working');
  return {
    stuck,
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
