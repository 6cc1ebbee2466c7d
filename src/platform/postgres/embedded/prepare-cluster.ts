import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterIn, type Cluster } from './cluster';
import { postgresAccount } from './postgres-account';
import { installedBinaries } from './postgres-binaries';
import { finishReplacement, majorOfData, makeData, removeUnfinished, type NewData } from './replace-data';

/** Finds or makes the database in `home`; to be called by the process that has claimed it. */
export async function prepareCluster(home: string, log: (message: string) => void): Promise<Cluster> {
  const wanted = await prepareHome(home, log);
  const folder = join(home, 'data');
  const major = await majorOfData(folder);
  if (!(await isThere(folder))) {
    log('Creating the embedded PostgreSQL database (once) …');
    await makeData(wanted);
  } else if (major !== undefined && major !== wanted.binaries.major) {
    // It knows the whole schema, which nobody needs who only starts a server.
    const { upgradeData } = await import('./upgrade-data.js');
    await upgradeData(wanted, folder, major);
  }
  return clusterIn(folder, wanted.binaries, wanted.as);
}

/** Puts what an earlier process has left unfinished in order, and finds out what databases in `home` are made with. */
export async function prepareHome(home: string, log: (message: string) => void): Promise<NewData> {
  const kept = await finishReplacement(home);
  if (kept !== undefined) {
    log(`New data were complete and are used now. The former data are kept in ${kept}.`);
  }
  await removeUnfinished(home);
  const as = await postgresAccount(join(home, 'data'));
  return { home, binaries: await installedBinaries(home, as), as, log };
}

async function isThere(folder: string): Promise<boolean> {
  return (await stat(folder).catch(() => undefined)) !== undefined;
}
