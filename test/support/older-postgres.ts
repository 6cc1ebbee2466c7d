import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterIn } from '../../src/platform/postgres/embedded/cluster';
import { postgresAccount } from '../../src/platform/postgres/embedded/postgres-account';
import { packagedBinaries, usableBinaries } from '../../src/platform/postgres/embedded/postgres-binaries';
import { makeData } from '../../src/platform/postgres/embedded/replace-data';
import { startServer } from '../../src/platform/postgres/embedded/start-server';
import { PREVIOUS_PACKAGE } from '../../src/platform/postgres/embedded/upgrade-data';

export interface OlderPostgres {
  readonly url: string;
  readonly major: number;
  stop(): Promise<void>;
}

/** The embedded database as the major version before has made it in this folder; it runs until it is stopped. */
export async function startOlderPostgres(dataDir: string): Promise<OlderPostgres> {
  const home = join(dataDir, 'postgres');
  await mkdir(home, { recursive: true, mode: 0o711 });
  const log = (): void => undefined;
  const as = await postgresAccount(join(home, 'data'));
  const installed = await packagedBinaries(PREVIOUS_PACKAGE);
  if (installed === undefined) throw new Error(`${PREVIOUS_PACKAGE} is not installed`);
  const binaries = await usableBinaries(installed, home, as);
  await makeData({ home, binaries, as, log });
  const server = await startServer(clusterIn(join(home, 'data'), binaries, as), {
    ...{ log, logFile: join(home, 'server.log') },
  });
  return { url: server.url, major: binaries.major, stop: () => server.postmaster.stop() };
}
