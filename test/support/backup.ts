import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCds } from './cds';
import { startServiceProcess } from './service-process';
import { fillInstallation, type WholeInstallation } from './whole-installation';

const ADMIN_KEY = 'backup-admin-key-backup-admin-key-backup';
/** How every service of a backup is started. */
export const RESTORED_SERVICE = { DEFAULT_PHONE_REGION: 'DE', BOOTSTRAP_ADMIN_KEY: ADMIN_KEY };

/** An embedded database with data of every kind, and what was made of it beside its running service. */
export interface BackedUpInstallation {
  /** Holds the data in `first`, and the backups. */
  readonly folder: string;
  readonly backup: string;
  /** The same without the key. */
  readonly keyless: string;
  readonly secretsKey: string;
  readonly installation: WholeInstallation;
  remove(): Promise<void>;
}

export async function aBackedUpInstallation(): Promise<BackedUpInstallation> {
  const folder = await mkdtemp(join(tmpdir(), 'cds-backup-'));
  const dataDir = join(folder, 'first');
  const service = await startServiceProcess({ ...RESTORED_SERVICE, DATA_DIR: dataDir, ROLE: 'api' });
  const installation = await fillInstallation(service);
  const backup = join(folder, 'one.backup');
  const ran = await runCds({ DATA_DIR: dataDir }, ['backup', backup]);
  expect([ran.code, ran.out]).toEqual([0, '']);
  const keyless = join(folder, 'keyless.backup');
  const other = await runCds({ DATA_DIR: dataDir }, ['backup', '--without-secrets-key', keyless]);
  expect([other.code, other.said]).toEqual([0, expect.stringContaining('It holds no key')]);
  const refused = await runCds({ DATA_DIR: dataDir }, ['restore', '--force', backup]);
  expect([refused.code, refused.said]).toEqual([1, expect.stringContaining('is in use by another service process')]);
  expect(await service.stop()).toBe(0);
  const secretsKey = (await readFile(join(dataDir, 'secrets.key'), 'utf8')).trim();
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return { folder, backup, keyless, secretsKey, installation, remove };
}

export function restore(dataDir: string, file: string, ...options: string[]): ReturnType<typeof runCds> {
  return runCds({ DATA_DIR: dataDir }, ['restore', ...options, file]);
}

/** Fails unless a service over a copy of the data finds everything. */
export async function expectServesAll(
  installation: WholeInstallation,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const service = await startServiceProcess({ ...RESTORED_SERVICE, ...environment });
  try {
    await installation.verify(service.url);
  } finally {
    expect(await service.stop()).toBe(0);
  }
}

/** Whether there is a workspace of this name, as a command finds that has asked for the key. */
export async function hasWorkspace(dataDir: string, name: string): Promise<boolean> {
  const { code, said } = await runCds({ DATA_DIR: dataDir }, ['workspaces', 'create', name]);
  if (code !== 0 && !said.includes('exists')) throw new Error(said);
  return code !== 0;
}
