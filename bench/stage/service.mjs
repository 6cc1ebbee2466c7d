import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProgram } from './program.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ADMIN_KEY = 'bench-admin-key-bench-admin-key-bench-admin-key';
const SECRETS_KEY = 'bench-secrets-key-bench-secrets-key';

const MAIN = join(ROOT, 'dist', 'main.js');

/** Starts the service as its users do, on a database of its own, and waits until it serves. `main`: the build. */
export async function startService(server, database, environment = {}, main = MAIN) {
  const program = startOnPort(0, server, database, environment, main);
  return serviceOf(program, await program.listeningUrl(), server, database);
}

/** The same without waiting: on a port that is free now, so that its address is known before it says so. */
export async function spawnService(server, database, environment = {}) {
  const port = await freePort();
  const program = startOnPort(port, server, database, environment, MAIN);
  return serviceOf(program, `http://127.0.0.1:${port}`, server, database);
}

function startOnPort(port, server, database, environment, main) {
  return startProgram([...serviceFlags(), main], {
    PORT: String(port),
    LOG_LEVEL: 'warn',
    BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    SECRETS_KEY,
    DATABASE_URL: server.urlOf(database),
    ...environment,
  });
}

function serviceOf({ pid, stop }, url, server, database) {
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
  const databaseUrl = server.urlOf(database);
  const authorization = { Authorization: `Bearer ${ADMIN_KEY}` };
  return { url, pid, database, databaseUrl, call, authorization, stop };
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
