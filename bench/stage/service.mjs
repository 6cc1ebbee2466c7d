import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { listeningUrl } from './listening-url.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ADMIN_KEY = 'bench-admin-key-bench-admin-key-bench-admin-key';
const SECRETS_KEY = 'bench-secrets-key-bench-secrets-key';

/** Starts the service as its users do, on a database of its own, and waits until it serves. `main`: the build. */
export async function startService(server, database, environment = {}, main = join(ROOT, 'dist', 'main.js')) {
  return spawnService(server, database, environment, main, listeningUrl);
}

/** The same without waiting: on a port that is free now, so that its address is known before it says so. */
export async function spawnService(
  server,
  database,
  environment = {},
  main = join(ROOT, 'dist', 'main.js'),
  urlOf = undefined,
) {
  const port = urlOf === undefined ? await freePort() : 0;
  const child = spawn(process.execPath, [...serviceFlags(), main], {
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      LOG_LEVEL: 'warn',
      BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
      SECRETS_KEY,
      DATABASE_URL: server.urlOf(database),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = (await urlOf?.(child)) ?? `http://127.0.0.1:${port}`;
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
  const databaseUrl = server.urlOf(database);
  const authorization = { Authorization: `Bearer ${ADMIN_KEY}` };
  return { url, pid: child.pid, database, databaseUrl, call, authorization, stop };
}

/** Adds workspaces to the database of a service, two at a time. Answers the admin key of each. */
export async function addWorkspaces({ databaseUrl }, count) {
  const env = { PATH: process.env.PATH, SECRETS_KEY, DATABASE_URL: databaseUrl };
  const keys = [];
  let next = 0;
  const addSome = async () => {
    while (next < count) {
      const number = next;
      next += 1;
      const command = [join(ROOT, 'dist', 'cds.js'), 'workspaces', 'create', `bench-${number}`];
      keys[number] = (await promisify(execFile)(process.execPath, command, { env })).stdout.trim();
    }
  };
  await Promise.all([addSome(), addSome()]);
  return keys;
}

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}

/** For trials: flags for Node.js. */
function serviceFlags() {
  return (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter((flag) => flag !== '');
}
