import { join, resolve } from 'node:path';
import { ERASED_HASHES } from '../identity/erased-identifiers';
import { SEALED_ISSUERS } from '../jwt-issuers/jwt-issuer.repository';
import type { Settings } from '../platform/config/settings';
import type { ConnectionSettings } from '../platform/postgres/connection-settings';
import { SteadyClient } from '../platform/postgres/steady-client';
import { type KeyedRecords, SecretsKeyCheck } from '../platform/secrets/secrets-key-check';
import { localSecretsKey, readLocalSecretsKey, SECRETS_KEY_FILE } from '../platform/secrets/local-secrets-key';
import { SecretBox } from '../platform/secrets/secret-box';
import { SEALED_CREDENTIALS } from '../service-credentials/service-credential.repository';
import { SEALED_WEBHOOKS } from '../webhooks/webhook.repository';

/** All records that need the key they were written with. A feature that writes such records adds them here. */
const KEYED_RECORDS: readonly KeyedRecords[] = [SEALED_ISSUERS, SEALED_CREDENTIALS, SEALED_WEBHOOKS, ERASED_HASHES];

const CONSEQUENCE = 'Without it secrets cannot be read, and events for erased persons would be accepted again.';
const LAST_RESORT = 'If it is lost for good: npm run cds -- secrets accept-key';

/**
 * Adds the secrets key to the settings: SECRETS_KEY, or with an embedded database the key in DATA_DIR, which is created at the
 * first start. Throws when it is not the key that the database was used with, or when that key is missing.
 */
export async function withSecretsKey(settings: Settings, database: ConnectionSettings): Promise<Settings> {
  return checking(database, async (check) => {
    const secretsKey = await presentKey(settings);
    if (secretsKey === undefined && (await check.needsKey())) throw new Error(missingKeyMessage(settings));
    const key = secretsKey ?? (await createdKey(settings));
    // An external database without a key: records that need one cannot be created.
    if (key === undefined) return settings;
    if ((await check.check(new SecretBox({ secretsKey: key }))) === 'other') {
      throw new Error(await otherKeyMessage(settings, check));
    }
    return { ...settings, secretsKey: key };
  });
}

/** The same as `presentKey`. With an embedded database it is created if it is missing. */
export async function keyInForce(settings: Settings): Promise<string | undefined> {
  return (await presentKey(settings)) ?? createdKey(settings);
}

/** The key of a backup, and where to print what the operator has to do. */
interface RestoredKey {
  readonly file: string;
  readonly secretsKey: string | undefined;
  readonly say: (words: string) => void;
}

/**
 * The key to store in DATA_DIR with a restored database; undefined: keep the present one. Prints what is left to do when the
 * service would not start with the present key.
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

/** Runs `work` with a check of a migrated database's key. */
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

/** The key of the settings or of DATA_DIR, unchecked; undefined where there is none. */
export async function presentKey({ secretsKey, databaseUrl, dataDir }: Settings): Promise<string | undefined> {
  if (secretsKey !== undefined || databaseUrl !== undefined) return secretsKey;
  return readLocalSecretsKey(resolve(dataDir));
}

/** Creates the key beside an embedded database. Undefined for an external one. */
async function createdKey({ databaseUrl, dataDir }: Settings): Promise<string | undefined> {
  return databaseUrl === undefined ? localSecretsKey(resolve(dataDir)) : undefined;
}

function missingKeyMessage(settings: Settings): string {
  if (settings.databaseUrl !== undefined) {
    return `SECRETS_KEY is not set, and this database was used with one. ${CONSEQUENCE} Set it as it was. ${LAST_RESORT}`;
  }
  return `${pathOf(settings)} is missing, and this database was used with the key in it. ${CONSEQUENCE} Put the file back from a backup. ${LAST_RESORT}`;
}

async function otherKeyMessage(settings: Settings, check: SecretsKeyCheck): Promise<string> {
  if (settings.secretsKey === undefined) {
    return `The key in ${pathOf(settings)} is not the one that this database was used with. ${CONSEQUENCE} Put the former file back. ${LAST_RESORT}`;
  }
  const words = `SECRETS_KEY is not the key that this database was used with. ${CONSEQUENCE}`;
  const local = settings.databaseUrl === undefined ? await readLocalSecretsKey(resolve(settings.dataDir)) : undefined;
  if (local !== undefined && (await check.fits(new SecretBox({ secretsKey: local })))) {
    return `${words} The one in ${pathOf(settings)} is: unset SECRETS_KEY.`;
  }
  return `${words} Set it as it was. ${LAST_RESORT}`;
}

function pathOf({ dataDir }: Settings): string {
  return join(resolve(dataDir), SECRETS_KEY_FILE);
}
