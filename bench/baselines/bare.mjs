import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { listeningUrl } from '../stage/listening-url.mjs';

/** Starts `bare-server.mjs`, which stores what pgbench stores, in the same table. */
export async function startBareServer({ server, database }) {
  const child = spawn(process.execPath, [fileURLToPath(new URL('bare-server.mjs', import.meta.url))], {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: server.urlOf(database) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await listeningUrl(child);
  const stop = async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  return { url, pid: child.pid, authorization: {}, stop };
}
