import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterIn } from '../../src/platform/postgres/embedded/cluster';
import { postgresAccount } from '../../src/platform/postgres/embedded/postgres-account';
import { packagedBinaries, usableBinaries } from '../../src/platform/postgres/embedded/postgres-binaries';
import { makeData } from '../../src/platform/postgres/embedded/replace-data';
import { startServer } from '../../src/platform/postgres/embedded/start-server';
import { PREVIOUS_PACKAGE } from '../../src/platform/postgres/embedded/upgrade-data';
import { startServiceProcess } from './service-process';
import { fillInstallation, type WholeInstallation } from './whole-installation';

const SECRETS_KEY = 'the-secrets-key-of-the-older-installation';
/** How every service of the older data is started. */
export const UPGRADED_SERVICE = {
  DEFAULT_PHONE_REGION: 'DE',
  BOOTSTRAP_ADMIN_KEY: 'upgrade-admin-key-upgrade-admin-key-upgrade',
};

/** Data of the major version of PostgreSQL before, as a service has left them that was stopped. */
export interface OlderInstallation {
  readonly folder: string;
  readonly major: number;
  readonly installation: WholeInstallation;
  /** A copy of the data; answers its `DATA_DIR`. */
  aCopy(name: string): Promise<string>;
  remove(): Promise<void>;
}

export async function anOlderInstallation(): Promise<OlderInstallation> {
  const folder = await mkdtemp(join(tmpdir(), 'cds-upgrade-'));
  const older = join(folder, 'older');
  const postgres = await startOlderPostgres(older);
  const environment = { ...UPGRADED_SERVICE, DATABASE_URL: postgres.url, SECRETS_KEY, ROLE: 'api' };
  const service = await startServiceProcess(environment);
  const installation = await fillInstallation(service);
  await service.stop();
  await postgres.stop();
  await writeFile(join(older, 'secrets.key'), SECRETS_KEY, { mode: 0o600 });
  return {
    folder,
    major: postgres.major,
    installation,
    aCopy: async (name) => {
      const dataDir = join(folder, name);
      await cp(older, dataDir, { recursive: true });
      return dataDir;
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 }),
  };
}

export async function majorIn(data: string): Promise<number> {
  return Number(await readFile(join(data, 'PG_VERSION'), 'utf8'));
}

/** Names below `postgres`, without what is always there. */
export async function leftIn(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'postgres'));
  return names.filter((name) => !['claims', 'server.log'].includes(name)).sort();
}

interface OlderPostgres {
  readonly url: string;
  readonly major: number;
  stop(): Promise<void>;
}

/** The embedded database as the major version before has made it in this folder; it runs until it is stopped. */
async function startOlderPostgres(dataDir: string): Promise<OlderPostgres> {
  const home = join(dataDir, 'postgres');
  await mkdir(home, { recursive: true, mode: 0o711 });
  const log = (): void => undefined;
  const as = await postgresAccount(join(home, 'data'));
  const installed = await packagedBinaries(PREVIOUS_PACKAGE);
  if (installed === undefined) throw new Error(`${PREVIOUS_PACKAGE} is not installed`);
  const binaries = await usableBinaries(installed, home, as);
  await makeData({ home, binaries, as, log });
  const server = await startServer(clusterIn(join(home, 'data'), binaries, as), {
    log,
    logFile: join(home, 'server.log'),
  });
  return { url: server.url, major: binaries.major, stop: () => server.postmaster.stop() };
}
