import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runCds } from '../../support/cds';
import {
  anOlderInstallation,
  leftIn,
  majorIn,
  UPGRADED_SERVICE,
  type OlderInstallation,
} from '../../support/older-installation';
import { startServiceProcess } from '../../support/service-process';
import { until } from '../../support/until';

const MAIN = join(__dirname, '..', '..', '..', 'dist', 'main.js');

/** A busy machine takes a minute to copy the data. */
const COPIED_SECONDS = 180;
const LIMIT_MS = 3 * COPIED_SECONDS * 1_000;

let older: OlderInstallation;

beforeAll(async () => {
  older = await anOlderInstallation();
});
afterAll(() => older.remove());

/** Starts the service and kills it once `isTime`. */
async function killWhen(
  dataDir: string,
  isTime: () => boolean | Promise<boolean>,
  before: (child: ChildProcess) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const env = { PATH: process.env['PATH'], PORT: '0', ...UPGRADED_SERVICE, DATA_DIR: dataDir };
  const child = spawn(process.execPath, [MAIN], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  try {
    await until(isTime, COPIED_SECONDS);
    await before(child);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

describe('data of the major version of PostgreSQL before', () => {
  it(
    'are there after kills in the middle of copying, and the next start begins anew',
    async () => {
      const dataDir = await older.aCopy('killed');
      const postgres = join(dataDir, 'postgres');
      const unfinished = async (): Promise<string | undefined> =>
        (await readdir(postgres)).find((name) => name.startsWith('initialising-'));
      await killWhen(dataDir, async () => (await unfinished()) !== undefined);
      expect(await majorIn(join(postgres, 'data'))).toBe(older.major);
      await killWhen(dataDir, async () => {
        const name = await unfinished();
        return name !== undefined && existsSync(join(postgres, name, 'data', 'postmaster.pid'));
      });
      expect(await majorIn(join(postgres, 'data'))).toBe(older.major);
      // The kill may also come when the new folder is complete: either way everything is there.
      await killWhen(
        dataDir,
        () => existsSync(join(postgres, 'next')) || (existsSync(join(postgres, 'data')) && isNewer()),
      );
      const service = await startServiceProcess({ ...UPGRADED_SERVICE, DATA_DIR: dataDir });
      try {
        await older.installation.verify(service.url);
      } finally {
        expect(await service.stop()).toBe(0);
      }
      expect(await leftIn(dataDir)).toEqual(['data', expect.stringMatching(/^former-data-/)]);

      function isNewer(): Promise<boolean> {
        return majorIn(join(postgres, 'data')).then(
          (found) => found > older.major,
          () => false,
        );
      }
    },
    LIMIT_MS,
  );

  it(
    'are not touched by a command while a service copies them, and copied by one when nobody does',
    async () => {
      const dataDir = await older.aCopy('command');
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
      expect(await majorIn(join(postgres, 'data'))).toBe(older.major + 1);
    },
    LIMIT_MS,
  );
});
