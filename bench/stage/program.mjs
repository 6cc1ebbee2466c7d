import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Starts a program of Node.js with this environment and no other. `options`: further ones of `spawn`. */
export function startProgram(args, environment, options = {}) {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  };
  return { pid: child.pid, stop, listeningUrl: () => listeningUrl(child) };
}

/** The address that a program says it is listening on; whatever else it writes to standard output is passed over. */
async function listeningUrl({ stdout }) {
  let written = '';
  stdout.setEncoding('utf8');
  return new Promise((resolve, reject) => {
    stdout.on('data', (chunk) => {
      written += chunk;
      const url = /listening on (http:\S+)\s/.exec(written)?.[1];
      if (url !== undefined) resolve(url);
    });
    stdout.once('end', () => reject(new Error(`It did not start: ${written}`)));
  });
}
