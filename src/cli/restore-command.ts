import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createGunzip } from 'node:zlib';
import { Command } from 'commander';
import { processEnvironment, readSettings } from '../platform/config/env';
import type { Settings } from '../platform/config/settings';
import { CopyError } from '../platform/postgres/copy/copy-format';
import type { LoadedCopy } from '../platform/postgres/copy/load-copy';
import type { Console } from './console';

const WORDS = `Restores a backup that "cds backup" has written. Stop the service first. The backup is checked as it is loaded, and
brought to the schema of this version; until that has worked, what is there stays in place.

With the embedded database: into an empty DATA_DIR, or with --force in the place of the data that are there, which are kept beside
the new ones. With DATABASE_URL: into an empty database.`;

const ZLIB_FAULTS: ReadonlySet<unknown> = new Set(['Z_DATA_ERROR', 'Z_BUF_ERROR']);

interface RestoreOptions {
  readonly force?: true;
}

export function restoreCommand(console: Console): Command {
  return new Command('restore')
    .summary('Restores a backup')
    .description(WORDS)
    .argument('<file>', 'the backup')
    .option('--force', 'put the data that are in DATA_DIR aside')
    .action((file: string, options: RestoreOptions) => restore(console, resolve(file), options));
}

async function restore({ say }: Console, file: string, { force }: RestoreOptions): Promise<void> {
  const settings = readSettings(processEnvironment());
  const plan = settings.databaseUrl === undefined ? intoDataDir : intoDatabase;
  try {
    const { header, rows, unknownTables } = await plan(settings, file, say, force === true);
    const count = Object.values(rows).reduce((sum, each) => sum + each, 0);
    say(`Restored: ${count} rows of ${Object.keys(rows).length} tables, as they were at ${header.createdAt}.`);
    if (unknownTables.length > 0) say(`Left out, because the service did not make them: ${unknownTables.join(', ')}.`);
    say('Erasures that were done after that time have to be done again. Keys that were revoked since are valid again.');
  } catch (error) {
    throw inWordsOfTheFile(error, file);
  }
}

async function intoDataDir(settings: Settings, file: string, say: Console['say'], force: boolean): Promise<LoadedCopy> {
  const { hasEmbeddedData, replaceEmbeddedData } = await import('../platform/postgres/embedded/embedded-postgres.js');
  const { loadCopy } = await import('../platform/postgres/copy/load-copy.js');
  const { keyToRestore } = await import('../server/secrets-key.js');
  const dataDir = resolve(settings.dataDir);
  if (await hasEmbeddedData(dataDir)) {
    if (!force) {
      throw new Error(
        `DATA_DIR (${dataDir}) holds data already. Set another DATA_DIR, or put them aside with --force: they are kept beside the restored ones.`,
      );
    }
    say(`The data in DATA_DIR (${dataDir}) are replaced. They are kept beside the restored ones.`);
  }
  const log = (message: string): void => say(message);
  let loaded: LoadedCopy | undefined;
  const former = await replaceEmbeddedData({ dataDir, log }, async (url) => {
    loaded = await loadCopy(url, contentOf(file));
    return { secretsKey: await keyToRestore(settings, { url }, { file, secretsKey: loaded.header.secretsKey, say }) };
  });
  if (former !== undefined)
    say(`The former data are kept in ${former}. Once you no longer want them: rm -r '${former}'`);
  if (loaded === undefined) throw new Error('Nothing was restored.');
  return loaded;
}

async function intoDatabase(
  settings: Settings,
  file: string,
  say: Console['say'],
  force: boolean,
): Promise<LoadedCopy> {
  if (force) {
    throw new Error(
      '--force is for the embedded database. With DATABASE_URL make an empty database, and name that one.',
    );
  }
  const { loadCopy } = await import('../platform/postgres/copy/load-copy.js');
  const { keyToRestore } = await import('../server/secrets-key.js');
  const url = settings.databaseUrl ?? '';
  const loaded = await loadCopy(url, contentOf(file));
  await keyToRestore(settings, { url }, { file, secretsKey: loaded.header.secretsKey, say });
  return loaded;
}

function contentOf(file: string): AsyncIterable<Buffer> {
  const source = createReadStream(file);
  const content = createGunzip({ chunkSize: 256 * 1024 });
  source.on('error', (error) => content.destroy(error));
  return source.pipe(content);
}

/** Says which file is meant; what zlib says of a damaged one means nothing to people. */
function inWordsOfTheFile(error: unknown, file: string): unknown {
  if (error instanceof CopyError) return new Error(`${file}: ${error.message}`, { cause: error });
  const isDamaged = error instanceof Error && 'code' in error && ZLIB_FAULTS.has(error.code);
  return isDamaged
    ? new Error(`${file} is damaged, cut short or no backup: ${error.message}.`, { cause: error })
    : error;
}
