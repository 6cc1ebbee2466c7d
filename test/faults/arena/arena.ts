import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../../../src/platform/postgres/embedded/embedded-postgres';
import { startServiceProcess, type ServiceProcess } from '../../support/service-process';
import { openLine, type Fate, type Line } from './line';
import type { Random } from './random';

/** Two service processes on one PostgreSQL, all of which may be killed, behind lines that may be cut. */
export interface Arena {
  readonly adminKey: string;
  readonly nodes: readonly Node[];
  readonly postgres: Postgres;
  /** Between the nodes and PostgreSQL. */
  readonly databaseLine: Line;
  /** How likely it is for a request, and for a COMMIT, to lose its connection on the way. */
  readonly odds: { request: number; commit: number };
  close(): Promise<void>;
}

export interface Node {
  /** Stays the same through restarts. */
  readonly line: Line;
  /** Undefined while it does not run. */
  pid(): number | undefined;
  /** kill -9; the line leads nowhere until `start`. */
  kill(): Promise<void>;
  /** Resolves when it serves; tries again while the database is not there. */
  start(): Promise<void>;
  stop(): Promise<number | null>;
  /** Whether its process runs. */
  state(): string;
  output(): string;
}

export interface Postgres {
  readonly dataDir: string;
  url(): string;
  /** kill -9 of the postmaster; resolves when it is gone. */
  kill(): Promise<void>;
  /** Starts it on what it left behind; tries again until `patienceMs` is over. */
  start(patienceMs?: number): Promise<void>;
  log(): Promise<string>;
}

/** So low that foreign sessions fill it easily: both nodes take some 35 at most. */
export const CONNECTIONS_MAX = 60;
const SERVER_SETTINGS = {
  max_connections: String(CONNECTIONS_MAX),
  shared_buffers: '64MB',
  max_wal_size: '128MB',
  // Before lock_timeout of any of our connections, so that a deadlock is seen as one and written down.
  deadlock_timeout: '50ms',
  log_min_messages: 'error',
};
const START_MS_MAX = 60_000;
const ADMIN_KEY = 'arena-admin-key-arena-admin-key-arena-admin';

export async function openArena(
  random: Random,
  folder?: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Arena> {
  const dataDir = folder ?? (await mkdtemp(join(tmpdir(), 'cds-arena-')));
  const postgres = await postgresIn(dataDir);
  const odds = { request: 0, commit: 0 };
  const databaseLine = await openLine({
    target: () => ({ path: join(hostOf(postgres.url()), '.s.PGSQL.5432') }),
    fate: (bytes) => (bytes.includes('COMMIT\0') ? fateBy(random, odds.commit) : 'pass'),
  });
  const environment = {
    DATABASE_URL: `postgresql://cds@127.0.0.1:${databaseLine.port}/cds`,
    BOOTSTRAP_ADMIN_KEY: ADMIN_KEY,
    SECRETS_KEY: 'a-secrets-key-for-tests-of-40-characters',
    LOG_LEVEL: 'warn',
    ...settings,
  };
  const fate = (): Fate => fateBy(random, odds.request);
  const nodes = await Promise.all([nodeWith(environment, fate), nodeWith(environment, fate)]);
  return {
    adminKey: ADMIN_KEY,
    nodes,
    postgres,
    databaseLine,
    odds,
    close: async () => {
      await Promise.all(nodes.map((node) => node.stop()));
      await Promise.all([databaseLine, ...nodes.map(({ line }) => line)].map((line) => line.close()));
      await postgres.stop();
      if (folder === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Runs `work` with a connection of its own, past all lines. */
export async function withSession<T>({ postgres }: Arena, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: postgres.url() });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function fateBy(random: Random, odds: number): Fate {
  return random.chance(odds) ? random.oneOf(['cut before', 'cut after', 'cut within'] as const) : 'pass';
}

function hostOf(url: string): string {
  return new URL(url.replace('@/', '@localhost/')).searchParams.get('host') ?? '';
}

async function nodeWith(environment: Record<string, string>, fate: () => Fate): Promise<Node> {
  let service: ServiceProcess | undefined;
  const former: string[] = [];
  const line = await openLine({
    target: () => (service === undefined ? undefined : { host: '127.0.0.1', port: Number(new URL(service.url).port) }),
    fate,
  });
  const start = async (): Promise<void> => {
    for (const until = performance.now() + START_MS_MAX; ;) {
      try {
        service = await startServiceProcess(environment);
        return;
      } catch (error) {
        if (performance.now() > until) throw error;
      }
    }
  };
  await start();
  return {
    state: () =>
      service === undefined
        ? 'killed'
        : `${service.child.pid} exit ${service.child.exitCode} ${service.child.signalCode}`,
    line,
    start,
    pid: () => (service?.child.exitCode === null ? service.child.pid : undefined),
    output: () => [...former, service?.output() ?? ''].join(''),
    kill: async () => {
      const victim = service;
      service = undefined;
      await victim?.kill();
      former.push(victim?.output() ?? '');
    },
    stop: async () => {
      const stopping = service;
      const exitCode = (await stopping?.stop()) ?? null;
      service = undefined;
      return exitCode;
    },
  };
}

async function postgresIn(dataDir: string): Promise<Postgres & { stop(): Promise<void> }> {
  const launch = (): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ dataDir, log: () => undefined, settings: SERVER_SETTINGS });
  let server = await launch();
  return {
    dataDir,
    url: () => server.url,
    kill: async () => {
      process.kill(server.pid, 'SIGKILL');
      await server.stop();
    },
    start: async (patienceMs = 0) => {
      await server.stop();
      for (const until = performance.now() + patienceMs; ;) {
        try {
          server = await launch();
          return;
        } catch (error) {
          if (performance.now() > until) throw error;
          await wait(100);
        }
      }
    },
    log: () => readFile(join(dataDir, 'postgres', 'server.log'), 'utf8'),
    stop: () => server.stop(),
  };
}
