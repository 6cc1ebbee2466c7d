// npm run test:container
//
// Runs what the Dockerfile runs, in its order, in clean folders, where no container engine is at hand: copies, commands and
// the program itself, from what is committed or staged here. Then asks the service for its health and stops it. Its
// database is DATABASE_URL, or an embedded one of this clone (which must be built). As root, the program runs as another user.
/* global fetch */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const START_MS_MAX = 60_000;
const STOP_MS_MAX = 10_000;
const NOBODY = 65_534;

const work = mkdtempSync(join(tmpdir(), 'cds-container-'));
chmodSync(work, 0o755);
const context = join(work, 'context');
let database;
try {
  run('git', ['-C', ROOT, 'checkout-index', '--all', `--prefix=${context}/`]);
  const stages = readStages(readFileSync(join(context, 'Dockerfile'), 'utf8'));
  for (const stage of stages) build(stage);
  database = await openDatabase();
  await tryOut(stages.at(-1), database);
  say('The container would build, start, be healthy and stop.');
} finally {
  await database?.stop();
  rmSync(work, { recursive: true, force: true });
}

/** Instructions with their words, stage by stage; a stage has a folder that stands for its root. */
function readStages(dockerfile) {
  const stages = [];
  for (const line of dockerfile.split('\n')) {
    const [, instruction, rest] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (instruction === undefined) continue;
    if (instruction === 'FROM') {
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? `stage-${stages.length}`;
      stages.push({ name, root: join(work, name), env: {}, workdir: '/', steps: [] });
    } else stages.at(-1).steps.push({ instruction, rest });
  }
  return stages;
}

function build(stage) {
  const inRoot = (path) => join(stage.root, path);
  for (const { instruction, rest } of stage.steps) {
    say(`${stage.name}: ${instruction} ${rest}`);
    if (instruction === 'ARG' || instruction === 'ENV') {
      for (const [, name, value] of rest.matchAll(/(\w+)=(\S+)/g)) stage.env[name] = value;
    }
    if (instruction === 'WORKDIR') {
      stage.workdir = rest;
      mkdirSync(inRoot(rest), { recursive: true });
    }
    if (instruction === 'COPY') copy(stage, rest);
    if (instruction === 'RUN') run('sh', ['-c', rest], { cwd: inRoot(stage.workdir), env: environment(stage) });
    if (instruction === 'USER') stage.user = rest;
    if (instruction === 'HEALTHCHECK') stage.health = JSON.parse(rest.slice(rest.indexOf('[')));
    if (instruction === 'CMD') stage.command = JSON.parse(rest);
  }
}

function copy(stage, rest) {
  const words = rest.split(' ');
  const paths = words.filter((word) => !word.startsWith('--'));
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const owned = words.some((word) => word.startsWith('--chown='));
  const source = from === undefined ? context : join(work, from);
  const target = paths.pop();
  for (const path of paths) {
    const to = posix.join(stage.workdir, target, target.endsWith('/') ? basename(path) : '');
    const destination = join(stage.root, to);
    mkdirSync(dirname(destination), { recursive: true });
    cpSync(join(source, path), destination, { recursive: true, verbatimSymlinks: true });
    if (owned && isRoot()) chownSync(destination, NOBODY, NOBODY);
  }
}

/** As a container has it: nothing of ours but the way to the programs, and npm's cache and registry. */
function environment(stage) {
  const npm = Object.entries(process.env).filter(([name]) => /^npm_config_(?!local_prefix)/i.test(name));
  return { PATH: process.env.PATH, HOME: process.env.HOME, ...Object.fromEntries(npm), ...stage.env };
}

async function tryOut(stage, { url: databaseUrl, account: ofDatabase }) {
  const port = await freePort();
  const account = isRoot() && stage.user !== undefined ? (ofDatabase ?? { uid: NOBODY, gid: NOBODY }) : {};
  const env = { ...environment(stage), HOME: '/nonexistent', PORT: String(port), DATABASE_URL: databaseUrl };
  const options = { cwd: join(stage.root, stage.workdir), env, ...account };
  const [program, ...args] = stage.command;
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  const [check, ...checkArgs] = stage.health;
  const isHealthy = () => spawnSync(check, checkArgs, options).status === 0;
  for (const until = performance.now() + START_MS_MAX; !isHealthy();) {
    if (child.exitCode !== null || performance.now() > until) throw new Error('The service did not become healthy.');
    await wait(200);
  }
  const ready = await fetch(`http://127.0.0.1:${port}/health/ready`);
  if (ready.status !== 200) throw new Error(`/health/ready was answered ${ready.status}.`);
  const devTools = ['typescript', 'jest', 'eslint'].filter((name) => exists(join(options.cwd, 'node_modules', name)));
  if (devTools.length > 0) throw new Error(`Development tools were left in the image: ${devTools.join(', ')}.`);
  const askedAt = performance.now();
  child.kill('SIGTERM');
  const [exitCode] = await ended;
  const stopMs = performance.now() - askedAt;
  if (exitCode !== 0 || stopMs > STOP_MS_MAX) throw new Error(`It stopped with ${exitCode} after ${stopMs} ms.`);
  if (isHealthy()) throw new Error('The health check finds a service that has stopped.');
}

async function openDatabase() {
  if (process.env.DATABASE_URL) return { url: process.env.DATABASE_URL, stop: () => Promise.resolve() };
  const built = join(ROOT, 'dist', 'src', 'platform', 'postgres', 'embedded', 'embedded-postgres.js');
  const { startEmbeddedPostgres } = await import(pathToFileURL(built).href);
  const dataDir = join(work, 'data');
  mkdirSync(dataDir);
  const { url, stop } = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  // Only its owner, who is not root either, reaches its socket.
  const { uid, gid } = statSync(join(dataDir, 'postgres', 'data'));
  return { url, stop: () => stop(), account: { uid, gid } };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function run(command, args, options = {}) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}.`);
}

function exists(path) {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isRoot() {
  return process.getuid?.() === 0;
}

function say(line) {
  process.stderr.write(`${line}\n`);
}
