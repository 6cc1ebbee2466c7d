import { join, resolve } from 'node:path';
import { ERASED_HASHES } from '../identity/erased-hashes';
import { SEALED_ISSUERS } from '../jwt-issuers/jwt-issuer.repository';
import type { Settings } from '../platform/config/settings';
import type { ConnectionSettings } from '../platform/postgres/connection-settings';
import { SteadyClient } from '../platform/postgres/steady-client';
import { type KeyedRecords, SecretsKeyCheck } from '../platform/secrets/secrets-key-check';
import { localSecretsKey, readLocalSecretsKey, SECRETS_KEY_FILE } from '../platform/secrets/local-secrets-key';
import { SecretBox } from '../platform/secrets/secret-box';
import { SEALED_CREDENTIALS } from '../service-credentials/service-credential.repository';

/** All that is of no use without the key it was written under. A feature that writes such records adds them here. */
const KEYED_RECORDS: readonly KeyedRecords[] = [SEALED_ISSUERS, SEALED_CREDENTIALS, ERASED_HASHES];

const WHAT_IF = 'Without it secrets cannot be read, and events for erased persons would be accepted again.';
const HOW_ON = 'If it is lost for good: npm run cds -- secrets accept-key';

/**
 * The settings with the key that the database is used with: SECRETS_KEY, else with an embedded database the one in DATA_DIR, which
 * is made at the first start. Throws when it is another key than before, or missing although the database was used with one.
 */
export async function withSecretsKey(settings: Settings, database: ConnectionSettings): Promise<Settings> {
  return checking(database, async (check) => {
    const secretsKey = await presentKey(settings);
    if (secretsKey === undefined && (await check.needsKey())) throw new Error(wordsForMissing(settings));
    const key = secretsKey ?? (await madeKey(settings));
    // An external database without a key: nothing that needs one can be made.
    if (key === undefined) return settings;
    if ((await check.standingOf(new SecretBox({ secretsKey: key }))) === 'other') {
      throw new Error(await wordsForOther(settings, check));
    }
    return { ...settings, secretsKey: key };
  });
}

/** The key in force, whatever the database was used with; with an embedded database one is made where there is none. */
export async function keyInForce(settings: Settings): Promise<string | undefined> {
  return (await presentKey(settings)) ?? madeKey(settings);
}

/** What a backup says of its key, and who hears what is to be done about it. */
interface RestoredKey {
  readonly file: string;
  readonly secretsKey: string | undefined;
  readonly say: (words: string) => void;
}

/**
 * The key that belongs into DATA_DIR along with a restored database; undefined: the present one may stay. Says what is left to
 * do where the service would not start with the key in force.
 */
export async function keyToRestore(
  settings: Settings,
  database: ConnectionSettings,
  { file, secretsKey, say }: RestoredKey,
): Promise<string | undefined> {
  const present = await presentKey(settings);
  const isKnown = (key: string): Promise<boolean> =>
    checking(database, (check) => check.fits(new SecretBox({ secretsKey: key })));
  const fits =
    present === undefined ? !(await checking(database, (check) => check.needsKey())) : await isKnown(present);
  if (settings.databaseUrl !== undefined) {
    const where =
      secretsKey === undefined ? '' : ` It is in the first line of the backup: gunzip -c '${file}' | head -n 1`;
    if (!fits) say(`Set SECRETS_KEY to the key of the backup before you start the service.${where}`);
    return undefined;
  }
  if (settings.secretsKey !== undefined && !fits) {
    const rest = secretsKey === undefined ? 'Set it as it was' : 'Unset it: the key of the backup is in DATA_DIR now';
    say(`SECRETS_KEY is not the key of the backup. ${rest}, before you start the service.`);
  } else if (secretsKey === undefined && !fits) {
    say(
      `The backup holds no key. Put the key of its installation into ${pathOf(settings)} before you start the service.`,
    );
  }
  return secretsKey;
}

/** Runs work that asks a migrated database about its key. */
export async function checking<Result>(
  { url }: ConnectionSettings,
  work: (check: SecretsKeyCheck) => Promise<Result>,
): Promise<Result> {
  const client = new SteadyClient({ connectionString: url, application_name: 'cds-secrets-key' });
  await client.connect();
  try {
    return await work(new SecretsKeyCheck(client, KEYED_RECORDS));
  } finally {
    await client.end();
  }
}

async function presentKey({ secretsKey, databaseUrl, dataDir }: Settings): Promise<string | undefined> {
  if (secretsKey !== undefined || databaseUrl !== undefined) return secretsKey;
  return readLocalSecretsKey(resolve(dataDir));
}

/** An embedded database lives in a folder of ours, and a key can be made and kept beside it. */
async function madeKey({ databaseUrl, dataDir }: Settings): Promise<string | undefined> {
  return databaseUrl === undefined ? localSecretsKey(resolve(dataDir)) : undefined;
}

function wordsForMissing(settings: Settings): string {
  if (settings.databaseUrl !== undefined) {
    return `SECRETS_KEY is not set, and this database was used with one. ${WHAT_IF} Set it as it was. ${HOW_ON}`;
  }
  return `${pathOf(settings)} is missing, and this database was used with the key in it. ${WHAT_IF} Put the file back from a backup. ${HOW_ON}`;
}

async function wordsForOther(settings: Settings, check: SecretsKeyCheck): Promise<string> {
  if (settings.secretsKey === undefined) {
    return `The key in ${pathOf(settings)} is not the one that this database was used with. ${WHAT_IF} Put the former file back. ${HOW_ON}`;
  }
  const words = `SECRETS_KEY is not the key that this database was used with. ${WHAT_IF}`;
  const local = settings.databaseUrl === undefined ? await readLocalSecretsKey(resolve(settings.dataDir)) : undefined;
  if (local !== undefined && (await check.fits(new SecretBox({ secretsKey: local })))) {
    return `${words} The one in ${pathOf(settings)} is: unset SECRETS_KEY.`;
  }
  return `${words} Set it as it was. ${HOW_ON}`;
}

function pathOf({ dataDir }: Settings): string {
  return join(resolve(dataDir), SECRETS_KEY_FILE);
}
