import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProgram } from '../stage/program.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Installs parse-server where it is not yet, and starts it on a database of our server. */
export async function startParseServer(databaseUrl) {
  if (!existsSync(join(HERE, 'node_modules', 'parse-server'))) {
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: HERE });
  }
  const { username, pathname, searchParams } = new URL(databaseUrl.replace('@/', '@localhost/'));
  const environment = {
    NODE_ENV: 'production',
    PARSE_USER: username,
    PARSE_DATABASE: pathname.slice(1),
    PARSE_SOCKET_FOLDER: searchParams.get('host'),
  };
  // It writes logs into its working directory, whatever its settings.
  const { pid, stop, listeningUrl } = startProgram([join(HERE, 'server.mjs')], environment, { cwd: tmpdir() });
  return { url: await listeningUrl(), pid, headers: { 'X-Parse-Application-Id': 'bench' }, stop };
}
