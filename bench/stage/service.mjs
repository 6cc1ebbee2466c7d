import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listeningUrl } from './listening-url.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ADMIN_KEY = 'bench-admin-key-bench-admin-key-bench-admin-key';

/** Starts the service as its users do, on a database of its own. `main`: the build. */
export async function startService(server, database, environment = {}, main = join(ROOT, 'dist', 'main.js')) {
  const child = spawn(process.execPath, [...serviceFlags(), main], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      LOG_LEVEL: 'warn',
      BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
      SECRETS_KEY: 'bench-secrets-key-bench-secrets-key',
      DATABASE_URL: server.urlOf(database),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await listeningUrl(child);
  const call = async (path, body, key = ADMIN_KEY) => {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (response.status >= 300) throw new Error(`${path} was answered ${response.status}: ${JSON.stringify(answer)}`);
    return answer;
  };
  const stop = async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  return { url, pid: child.pid, database, call, authorization: { Authorization: `Bearer ${ADMIN_KEY}` }, stop };
}

/** For trials: flags for Node.js. */
function serviceFlags() {
  return (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter((flag) => flag !== '');
}
