import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const DEBIAN = '/usr/lib/postgresql';

/** Where a program of PostgreSQL is: on the PATH, or where Debian puts it. The embedded server brings neither. */
export function programPath(name) {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).map((version) => join(DEBIAN, version, 'bin')) : [];
  const folders = [...(process.env.PATH ?? '').split(':'), ...versions];
  const found = folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) {
    throw new Error(`${name} was not found: install PostgreSQL's client programs (Debian: postgresql-contrib).`);
  }
  return found;
}

/** Runs a program of PostgreSQL and answers what it wrote. */
export async function runProgram(name, args, options = {}) {
  const { stdout } = await run(programPath(name), args, { maxBuffer: 64 * 1024 * 1024, ...options });
  return stdout;
}

export async function versionOf(name) {
  return (await runProgram(name, ['--version'])).trim();
}
