// npm run test:node-versions [-- 20 26]
//
// Runs the tests that depend on the version of Node.js on its majors: by default on all that are supported. The programs
// come from packages of the registry, into node_modules/.cache.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** The oldest version that is supported, and of each later major the one that this was tried with. */
const VERSIONS = { 20: '20.19.0', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' };
/** HTTP, ingest and start. */
const TESTS = [
  'src/platform/http',
  'test/e2e/health',
  'test/e2e/external-events',
  'test/integration/ingest.spec',
  'test/faults/migrate-apart',
];

const majors = process.argv.slice(2).length > 0 ? process.argv.slice(2) : Object.keys(VERSIONS);
const failed = majors.filter((major) => !passesOn(major));
if (failed.length > 0) fail(`Tests failed on Node.js ${failed.join(', ')}.`);

function passesOn(major) {
  const version = VERSIONS[major];
  if (version === undefined) fail(`"${major}" is none of ${Object.keys(VERSIONS).join(', ')}`, 2);
  const bin = dirname(installed(version));
  const env = { ...process.env, NODE_ENV: 'test', PATH: `${bin}${delimiter}${process.env.PATH}` };
  say(`Node.js ${version}`);
  return run(join(bin, 'node'), [join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js'), ...TESTS], env) === 0;
}

/** The path of a node of this version, which is installed once. */
function installed(version) {
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(ROOT, 'node_modules', '.cache', 'node-versions', version);
  const path = join(folder, 'node_modules', name, 'bin', 'node');
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  const options = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder];
  if (npm(['install', ...options, `${name}@${version}`]) !== 0 || !existsSync(path)) {
    fail(
      `There is no package ${name}@${version}: run this on Linux (x64 or arm64), or the tests on that Node.js by hand.`,
    );
  }
  return path;
}

function npm(args) {
  const cli = process.env.npm_execpath ?? '';
  return basename(cli) === 'npm-cli.js' ? run(process.execPath, [cli, ...args]) : run('npm', args);
}

function run(command, args, env = process.env) {
  return spawnSync(command, args, { cwd: ROOT, stdio: 'inherit', env }).status ?? 1;
}

function say(line) {
  process.stderr.write(`${line}\n`);
}

function fail(line, exitCode = 1) {
  say(line);
  process.exit(exitCode);
}
