// node scripts/run.mjs start|test|test-system|test-fast|test-citus|demo|cds|migrate|faults|fuzz|bench [arguments]
//
// Makes a fresh clone ready (installs, builds) and runs one command of it. Nothing is imported from packages here,
// because node_modules may not be there yet. Its own messages go to stderr; stdout is the command's.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SINGLE_SERVER_SPECS } from '../test/support/jest/single-server-specs.mjs';
import { oneAtATime } from './one-at-a-time.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NODE_AT_LEAST = [20, 19];
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const PARENT_CHECK_MS = 500;
const INSTALL_STAMP = at('node_modules', '.install-stamp');
const BUILD_STAMP = at('dist', '.build-stamp');
/** The typed client, which `cds` and the demo use. */
const CLIENT_SOURCES = join('clients', 'typescript', 'src');
/** What a build is made from; `src/metadata.ts` is made by the build itself. */
const BUILD_INPUTS = [
  ...['src', CLIENT_SOURCES, 'nest-cli.json', 'ormconfig.ts', 'package.json', 'package-lock.json'],
  ...['src', 'index.html', 'tsconfig.json', 'vite.config.mjs'].map((name) => join('console', name)),
];
const BUILD_STEPS = [
  'generate-metadata.mjs',
  'api-document.mjs',
  'write-body-schemas.mjs',
  'bundle.mjs',
  'inferred-names.mjs',
  'load-bundle.cjs',
  'compress-console.mjs',
].map((name) => join('scripts', name));
const GENERATED = join('src', 'metadata.ts');

/** How much the long rounds try, as `--service-kills=200` and so on. */
const FAULT_ROUNDS = {
  SERVICE_KILLS: '200',
  POSTGRES_KILLS: '20',
  TIMES: '8',
  FULL_DISKS: '5',
  WORKER_KILLS: '20',
  WEBHOOK_KILLS: '3',
  WEBHOOK_POSTGRES_KILLS: '3',
  BACKFILL_PURCHASES: '6919',
  BACKFILL_KILLS: '5',
  KEY_ROUNDS: '5',
  RETENTION_EVENTS: '5000000',
  SEED: undefined,
};
const FUZZ_ROUNDS = { REQUESTS: '100000', SEED: undefined };

const COMMANDS = {
  start: (args) => runHere(at('dist', 'main.js'), args),
  demo: (args) => runHere(at('dist', 'demo.js'), args),
  cds: (args) => runHere(at('dist', 'cds.js'), args),
  migrate: (args) => runHere(at('dist', 'main.js'), ['migrate', ...args]),
  bench: (args) => runHere(at('bench', 'run.mjs'), args),
  test: (args) => runTests(args, namesFiles(args) ? {} : { SYSTEM_TESTS: 'apart' }),
  'test-system': (args) => runTests(args, { SYSTEM_TESTS: 'alone' }),
  'test-fast': (args) => runTests(['--config', at('jest.fast.config.mjs'), ...args]),
  'test-citus': runOnCitus,
  faults: (args) => runLong('test/faults', FAULT_ROUNDS, args),
  fuzz: (args) => runLong('test/fuzz', FUZZ_ROUNDS, args),
};

/** Below `test/rounds` what clients see; the others there are about one server. */
const ON_CITUS = ['citus', 'e2e', 'faults', 'processes', 'rounds/(backfills|unread|variables|webhook)'].map(
  (path) => `test/${path}`,
);

/** For Jest's workers, which take it over: with more room for young objects V8 collects garbage less often. */
const YOUNG_OBJECTS = '--max-semi-space-size=64';

/** They run the sources as they are. */
const WITHOUT_BUILD = new Set(['test-fast']);

/** A program that did not do its work; its exit code becomes ours. */
class Failure extends Error {
  constructor(message, exitCode) {
    super(message);
    this.exitCode = exitCode;
  }
}

await main(process.argv.slice(2)).catch((error) => {
  if (!(error instanceof Failure)) {
    throw error;
  }
  say(error.message);
  process.exit(error.exitCode);
});

async function main([name, ...args]) {
  refuseOldNode();
  endWithNpm();
  if (!Object.hasOwn(COMMANDS, name ?? '')) {
    throw new Failure(`Usage: node scripts/run.mjs ${Object.keys(COMMANDS).join('|')} [arguments]`, 2);
  }
  const needsBuild = !WITHOUT_BUILD.has(name) && !isBuilt();
  if (!isInstalled() || needsBuild) {
    const prepare = async (claimFor) => {
      await ensureInstalled(claimFor);
      if (needsBuild) await ensureBuilt(claimFor);
    };
    await oneAtATime(prepare, (pid) => say(`Waiting for another command that installs or builds here (pid ${pid}) …`));
  }
  await COMMANDS[name](args);
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [leastMajor, leastMinor] = NODE_AT_LEAST;
  if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
    throw new Failure(`Node.js ${NODE_AT_LEAST.join('.')} or newer is needed; this is ${process.versions.node}.`, 1);
  }
}

/** A killed npm sends no signal; the service, its port and its database must not stay behind. */
function endWithNpm() {
  const npmOrItsShell = process.ppid;
  if (process.env.npm_lifecycle_event !== undefined) {
    const timer = setInterval(() => {
      if (process.ppid !== npmOrItsShell) {
        clearInterval(timer);
        process.kill(process.pid, 'SIGTERM');
      }
    }, PARENT_CHECK_MS).unref();
  }
}

// ---------------------------------------------------------------------------------------------------- install, build

async function ensureInstalled(claimFor) {
  if (isInstalled()) {
    return;
  }
  if (!holdsLockedPackages()) {
    say('Installing dependencies (once) …');
    // The build needs the development tools, whatever NODE_ENV or npm's settings say.
    await npm(['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], claimFor);
  }
  writeFileSync(INSTALL_STAMP, installStamp());
}

async function ensureBuilt(claimFor) {
  if (isBuilt()) {
    return;
  }
  say('Building (once, and after changes) …');
  // Taken before: what changes while the build runs makes the next one build again.
  const stamp = buildStamp();
  rmSync(at('dist'), { recursive: true, force: true });
  await npm(['run', 'build'], claimFor);
  writeFileSync(BUILD_STAMP, stamp);
}

function isInstalled() {
  return read(INSTALL_STAMP) === installStamp();
}

function isBuilt() {
  return read(BUILD_STAMP) === buildStamp();
}

function installStamp() {
  const [nodeMajor] = process.versions.node.split('.');
  return digest([
    ['system', `${process.platform} ${process.arch} ${nodeMajor}`],
    ...['package.json', 'package-lock.json', 'console/package.json'].map((path) => [path, read(at(path))]),
  ]);
}

/** Whether exactly these packages are installed already: npm's own record agrees with the lock file. */
function holdsLockedPackages() {
  const installed = JSON.parse(read(at('node_modules', '.package-lock.json')) || '{}').packages ?? {};
  const locked = JSON.parse(read(at('package-lock.json')) || '{}').packages ?? {};
  return Object.entries(locked)
    .filter(([path, entry]) => path !== '' && isNeededHere(entry))
    .every(([path, entry]) => installed[path]?.version === entry.version && existsSync(at(path)));
}

/** Which C library this is, is npm's to find out; such packages are left out of the comparison. */
function isNeededHere({ optional, os, cpu, libc }) {
  const fits = os?.includes(process.platform) && cpu?.includes(process.arch) && libc === undefined;
  return fits || (!optional && os === undefined && cpu === undefined);
}

function buildStamp() {
  const settings = readdirSync(ROOT).filter((name) => /^tsconfig.*\.json$/.test(name));
  const paths = [...BUILD_INPUTS, ...BUILD_STEPS, ...settings].flatMap(filesAt).filter((path) => path !== GENERATED);
  return digest(paths.sort().map((path) => [path, read(at(path))]));
}

function filesAt(path) {
  if (!existsSync(at(path))) {
    return [];
  }
  if (!statSync(at(path)).isDirectory()) {
    return [path];
  }
  const entries = readdirSync(at(path), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function digest(parts) {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

async function npm(args, claimFor) {
  // npm says where it is when it started us; the npm of the PATH may be another one, or none.
  const cli = process.env.npm_execpath ?? '';
  const [command, before] = basename(cli) === 'npm-cli.js' ? [process.execPath, [cli]] : ['npm', []];
  const shell = command === 'npm' && process.platform === 'win32';
  const options = { cwd: ROOT, stdio: ['ignore', process.stderr, process.stderr], shell };
  const exitCode = await runProgram(command, [...before, ...args], options, claimFor);
  if (exitCode !== 0) {
    throw new Failure(`"npm ${args.join(' ')}" failed (exit code ${exitCode}).`, exitCode);
  }
}

// --------------------------------------------------------------------------------------------------------------- run

/** In this very process, so that signals reach the service and nothing stands between. */
async function runHere(path, args) {
  process.argv.splice(1, Infinity, path, ...args);
  await import(pathToFileURL(path).href);
}

/** Specs for long: their settings come by the environment, where a name begins with that of their kind. */
async function runLong(path, rounds, args) {
  const kind = rounds === FAULT_ROUNDS ? 'FAULT' : 'FUZZ';
  const settings = new Map(Object.entries(rounds));
  for (const arg of args) {
    const [, name, value] = /^--([a-z-]+)=(\d+)$/.exec(arg) ?? [];
    const setting = name?.toUpperCase().replaceAll('-', '_');
    if (!settings.has(setting)) {
      const options = [...settings.keys()].map((each) => `--${each.toLowerCase().replaceAll('_', '-')}=<number>`);
      throw new Failure(`"${arg}" is none of ${options.join(', ')}`, 2);
    }
    settings.set(setting, value);
  }
  for (const [setting, value] of settings) {
    if (value !== undefined) {
      process.env[`${kind}_${setting}`] = value;
    }
  }
  process.env.LONG_ROUNDS = 'true';
  // One of the fuzz rounds measures what other clients wait: nothing may run beside it.
  await runTests(kind === 'FUZZ' ? ['--runInBand', path] : [path]);
}

/** What clients and operators see, faults and two nodes, on distributed databases of the cluster at TEST_CITUS_URL. */
async function runOnCitus(args) {
  if (!/^postgres(ql)?:\/\/\S+$/.test(process.env.TEST_CITUS_URL ?? '')) {
    throw new Failure(
      'Set TEST_CITUS_URL to a database on the coordinator of a Citus cluster (13.2 or newer) in which citus_add_node and ' +
        'citus_set_coordinator_host have named the nodes, such as postgresql://postgres@127.0.0.1:5432/postgres. The tests ' +
        'make and drop databases named cds_… on every node of it, which needs max_worker_processes = 64 there.',
      2,
    );
  }
  for (const [spec, reason] of Object.entries(SINGLE_SERVER_SPECS)) {
    process.stderr.write(`Left out: ${spec} (${reason}).\n`);
  }
  await runTests(args.length > 0 ? args : ON_CITUS);
}

function namesFiles(args) {
  return args.some((arg) => !arg.startsWith('-'));
}

async function runTests(args, settings = {}) {
  const env = { ...process.env, NODE_ENV: 'test', ...settings };
  const jest = at('node_modules', 'jest', 'bin', 'jest.js');
  process.exitCode = await runProgram(process.execPath, [YOUNG_OBJECTS, jest, ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env,
  });
}

/** Hands our signals on, waits for the end, and gives the exit code as a shell would. */
async function runProgram(command, args, options, claimFor = () => {}) {
  const child = spawn(command, args, options);
  let asked;
  const forward = (signal) => {
    asked = signal;
    child.kill(signal);
  };
  SIGNALS.forEach((signal) => process.on(signal, forward));
  try {
    const [exitCode, signal] = await new Promise((resolve, reject) => {
      child.once('error', reject).once('exit', (...how) => resolve(how));
      if (child.pid !== undefined) {
        claimFor(child.pid);
      }
    });
    return asked === undefined && exitCode !== null ? exitCode : 128 + constants.signals[asked ?? signal];
  } catch (error) {
    throw new Failure(`${command} could not be started: ${error.message}`, 1);
  } finally {
    SIGNALS.forEach((signal) => process.off(signal, forward));
  }
}

function at(...path) {
  return join(ROOT, ...path);
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function say(line) {
  process.stderr.write(`${line}\n`);
}
