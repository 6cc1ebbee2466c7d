import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOlderPostgres } from './older-postgres';
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
