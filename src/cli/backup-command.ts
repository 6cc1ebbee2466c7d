import { randomUUID } from 'node:crypto';
import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, rename, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Command } from 'commander';
import type { Settings } from '../platform/config/settings';
import { syncPath } from '../platform/files/sync-path';
import type { CopyEnd } from '../platform/postgres/copy/copy-format';
import type { Console } from './console';
import { diskFailure, writeFailure } from './file-failures';

const WORDS = `Writes a backup of the whole database to a file, also while the service runs: one moment of it, compressed, with a
checksum. It can be restored by this version of the service or a newer one, on any version of PostgreSQL.

The file holds everything in plain text, also what views mask: keep it as safe as the database. With the embedded database it
holds the key in DATA_DIR too, without which secrets could not be read and erased persons not be recognised; a SECRETS_KEY that
you have set yourself is not in it.`;

/** Half the time of the usual level, for a file that is a tenth larger. */
const COMPRESSION_LEVEL = 4;

interface BackupOptions {
  readonly withoutSecretsKey?: true;
}

export function backupCommand(console: Console): Command {
  return new Command('backup')
    .summary('Writes a backup of the database to a file')
    .description(WORDS)
    .argument('<file>', 'the file to make; it appears when it is complete')
    .option('--without-secrets-key', 'leave out the key in DATA_DIR; back it up apart')
    .action((file: string, options: BackupOptions) => backup(console, resolve(file), options));
}

async function backup({ onDatabase, say }: Console, file: string, options: BackupOptions): Promise<void> {
  if (await exists(file)) throw new Error(`${file} exists already. Name another file, or remove it.`);
  await access(dirname(file), constants.W_OK).catch((error: unknown) => {
    throw writeFailure(file, error);
  });
  const { end, hasKey } = await onDatabase(async ({ url }, settings) => {
    const secretsKey = options.withoutSecretsKey === true ? undefined : await localKey(settings);
    return { end: await writeWhole(file, url, secretsKey), hasKey: secretsKey !== undefined };
  });
  const rows = Object.values(end.rows).reduce((sum, count) => sum + count, 0);
  const { size } = await stat(file);
  say(`${file}: ${rows} rows of ${Object.keys(end.rows).length} tables, ${size} bytes.`);
  say(
    hasKey
      ? 'It holds the key of this installation (secrets.key): keep it as safe as a password.'
      : 'It holds no key: without the SECRETS_KEY or secrets.key of this installation its secrets cannot be read.',
  );
}

/** The file has its name only when it is complete, on disk and was read again. A run that is killed leaves a `.part` at most. */
async function writeWhole(file: string, url: string, secretsKey: string | undefined): Promise<CopyEnd> {
  const { Clock } = await import('../platform/values/clock.js');
  const { writeCopy } = await import('../platform/postgres/copy/write-copy.js');
  const { verifyCopy } = await import('../platform/postgres/copy/verify-copy.js');
  const part = `${file}.${randomUUID()}.part`;
  try {
    const copy = writeCopy(url, { createdAt: new Clock().now(), secretsKey });
    await pipeline(
      copy,
      createGzip({ level: COMPRESSION_LEVEL }),
      createWriteStream(part, { flags: 'wx', mode: 0o600 }),
    );
    await syncPath(part);
    const end = await verifyCopy(createReadStream(part).pipe(createGunzip()));
    if (!Object.hasOwn(end.rows, 'public.migrations'))
      throw new Error('The database holds no tables of the service: is DATABASE_URL right?');
    await rename(part, file);
    await syncPath(dirname(file));
    return end;
  } catch (error) {
    await rm(part, { force: true });
    throw diskFailure(file, error);
  }
}

async function localKey({ databaseUrl, secretsKey, dataDir }: Settings): Promise<string | undefined> {
  if (databaseUrl !== undefined || secretsKey !== undefined) return undefined;
  const { readLocalSecretsKey } = await import('../platform/secrets/local-secrets-key.js');
  return readLocalSecretsKey(resolve(dataDir));
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}
