import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listeningUrl } from '../stage/listening-url.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Installs parse-server where it is not yet, and starts it on a database of our server. */
export async function startParseServer(databaseUrl) {
  if (!existsSync(join(HERE, 'node_modules', 'parse-server'))) {
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: HERE });
  }
  const { username, pathname, searchParams } = new URL(databaseUrl.replace('@/', '@localhost/'));
  const child = spawn(process.execPath, [join(HERE, 'server.mjs')], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PARSE_USER: username,
      PARSE_DATABASE: pathname.slice(1),
      PARSE_SOCKET_FOLDER: searchParams.get('host'),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // It writes logs into its working directory, whatever its settings.
    cwd: tmpdir(),
  });
  const url = await listeningUrl(child);
  const stop = async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  return { url, pid: child.pid, headers: { 'X-Parse-Application-Id': 'bench' }, stop };
}
